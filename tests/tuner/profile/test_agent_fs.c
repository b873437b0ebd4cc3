/* Tests of tuner/profile/agent: marks and new beginnings that a program says itself
 * (bench/collector/profile.h), on their way to the manager. The program is this one again. */
#include "tests/tuner/profile/program_rig.h"

#define FAR_NUMBER 70000 /* of a descriptor */

GROUP_NEEDS(find_us);
GROUP(rig_enter, rig_leave);

/* ---- roles ---- */

static void act_reset(void)
{
    fst_profile_mark("before");
    read_at(500);
    fst_profile_reset();
    fst_profile_mark("after");
    read_at(70);
}

/* What has such a number cannot be followed, and is counted as lost. */
static void act_losses(void)
{
    char block[BLOCK];
    fst_profile_mark("warmup");
    for (int i = 0; i < 30; i++)
        need(pread(FAR_NUMBER, block, BLOCK, 0) < 0);
    usleep(100000);
    fst_profile_reset();
    for (int i = 0; i < 50; i++)
        need(pread(FAR_NUMBER, block, BLOCK, 0) < 0);
    usleep(100000);
    fst_profile_reset();
    fst_profile_mark("warmup");
    read_at(100);
}

static void act_names(void)
{
    fst_profile_mark("warmup");
    fst_profile_reset();
    fst_profile_mark("run");
    read_at(20);
}

/* As one that the agent began stopped: the queue takes neither of them. */
static void act_renews_at_once(void)
{
    fst_profile_reset();
    fst_profile_reset();
    fst_profile_start();
    read_at(30);
}

/* As one that the agent began stopped. */
static void act_renews(void)
{
    fst_profile_reset();
    usleep(300000); /* until the agent has seen it */
    fst_profile_start();
    read_at(30);
    fst_profile_stop();
}

static void act_starts(void)
{
    read_at(20);
    fst_profile_start();
    fst_profile_mark("here");
    read_at(30);
    fst_profile_stop();
    read_at(40);
}

static const struct rig_role roles[] = {{"reset", act_reset},   {"starts", act_starts},
                                        {"renews", act_renews}, {"at once", act_renews_at_once},
                                        {"losses", act_losses}, {"names", act_names}};

static void act(const char *role)
{
    rig_act(roles, sizeof roles / sizeof roles[0], role);
}

/* ---- what the manager has of them ---- */

static void record_events(const char *role, const char *option)
{
    struct rig_run run = {0};
    unlink("e.db");
    rig_write_blocks("blocks", (size_t)N_BLOCKS * BLOCK);
    setenv("PROFILE_TEST_ROLE", role, 1);
    rig_run(&run, NULL, "manager", "--quiet", "--save-events", "e.db", "--", agent, option, "--wait", "5s",
            "--", program, NULL);
    unsetenv("PROFILE_TEST_ROLE");
    if (run.code != 0)
        print_error("%s%s\n", run.out, run.err);
    assert_int_equal(run.code, 0);
    rig_free(&run);
}

TEST(the_agent_tells_of_marks_and_of_new_beginnings)
{
    record_events("reset", "--memory");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM runs WHERE seconds IS NOT NULL"), 2);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events WHERE run_id = 1 AND kind = 1 AND bytes = 512"), 500);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events WHERE run_id = 2 AND kind = 1 AND bytes = 512"), 70);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events NATURAL JOIN (SELECT run_id, id AS object_id, name FROM "
                       "objects) WHERE run_id = 2 AND kind = 9 AND name = 'after'"),
        1);
    json_decref(document);
    document = rig_document("analyse e.db --as profile");
    assert_int_equal(n_reads(mark("after")), 70);
}

TEST(a_program_starts_what_the_agent_began_stopped)
{
    setenv("PROFILE_TEST_ALONE", "1", 1);
    record_events("starts", "--stopped");
    unsetenv("PROFILE_TEST_ALONE");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM events WHERE kind = 1 AND bytes = 512"), 30);
    assert_int_equal(rig_ask_events("SELECT count(*) FROM events WHERE kind = 9"), 1);
}

TEST(a_reset_is_known_where_the_queue_takes_nothing)
{
    setenv("PROFILE_TEST_ALONE", "1", 1);
    record_events("renews", "--stopped");
    unsetenv("PROFILE_TEST_ALONE");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM runs WHERE seconds IS NOT NULL"), 2);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events WHERE run_id = 2 AND kind = 1 AND bytes = 512"), 30);
}

/* What began behind it is not of the recording before it. */
TEST(resets_that_the_queue_does_not_take_begin_one_recording)
{
    setenv("PROFILE_TEST_ALONE", "1", 1);
    record_events("at once", "--stopped");
    unsetenv("PROFILE_TEST_ALONE");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM runs"), 2);
    assert_int_equal(rig_ask_events("SELECT count(*) FROM events WHERE run_id = 1 AND kind = 1"), 0);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events WHERE run_id = 2 AND kind = 1 AND bytes = 512"), 30);
}

/* What is lost until the agent hears of the reset may be told of the recording before. */
TEST(what_is_lost_is_told_through_all_resets)
{
    record_events("losses", "--memory");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM runs WHERE seconds IS NOT NULL"), 3);
    assert_true(rig_ask_events("SELECT lost FROM runs WHERE id = 1") >= 30);
    assert_int_equal(rig_ask_events("SELECT sum(lost) FROM runs"), 80);
    assert_int_equal(rig_ask_events("SELECT lost FROM runs WHERE id = 3"), 0);
    assert_int_equal(
        rig_ask_events("SELECT count(*) FROM events WHERE run_id = 3 AND kind = 1 AND bytes = 512"), 100);
}

/* The agent asks for the name when the program has long begun anew. */
TEST(a_mark_has_its_name_on_both_sides_of_a_reset)
{
    record_events("names", "--memory");
    static const char *const names[] = {"warmup", "run"};
    for (int i = 0; i < 2; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM events NATURAL JOIN (SELECT run_id, id AS object_id, name FROM "
                 "objects) WHERE run_id = %d AND kind = 9 AND name = '%s'",
                 i + 1, names[i]);
        assert_int_equal(rig_ask_events(sql), 1);
    }
}

TEST(a_program_alone_does_the_same)
{
    rig_run_alone(roles, sizeof roles / sizeof roles[0]);
}
