/* Tests of the whole program with several targets: together, each alone, and what is refused. */
#include "tests/tuner/commands/cli_rig.h"

#include <signal.h>
#include <sys/stat.h>

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("one", 0755) != 0 || mkdir("two", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define BOTH    "--path one --path two --file-size 128m --no-lock --quiet "
#define SETTING "--pattern randread --request-size 64k --queue-depth 2 --direct 0 --api pool "

static double mean_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(json_object_get(object, key), "mean"));
}

/* The parts are the whole, in every figure that stands for both. */
static void check_members(const json_t *document, const json_t *throughput, size_t n_blocks)
{
    const json_t *list = json_object_get(document, "members"), *member;
    const json_t *all = json_object_get(document, "members_together");
    double together = 0, alone = 0;
    size_t i;
    assert_int_equal(json_array_size(list), 2);
    json_array_foreach(list, i, member)
    {
        cli_has_text(member, "place", i == 0 ? "one" : "two");
        together += mean_of(member, "together");
        alone += mean_of(member, "alone");
    }
    assert_true(together > 0 && alone > 0);
    assert_close(json_number_value(json_object_get(all, "mean")) / together, 1, 1e-6);
    assert_close(json_number_value(json_object_get(all, "sum_alone")) / alone, 1, 1e-6);
    if (throughput != NULL)
        assert_close(json_number_value(json_object_get(throughput, "mean")) / together, 1, 1e-6);
    assert_true((size_t)json_integer_value(json_object_get(all, "blocks")) >= n_blocks);
}

TEST(measure_tells_of_all_together_and_of_each_alone)
{
    json_t *document = cli_json(0, "measure --json --replays 3 --duration 100ms " SETTING BOTH);
    check_members(document, json_object_get(document, "throughput"), 3);
    assert_int_equal(rig_count_entries("one") + rig_count_entries("two"), 0);
}

TEST(existing_files_are_members_too)
{
    rig_write_blocks("one/a", 20U << 20);
    rig_write_blocks("two/b", 16U << 20);
    json_t *document = cli_json(0, "measure --json --replays 3 --duration 100ms --no-lock --quiet " SETTING
                                   "--existing one/a --existing two/b");
    const json_t *list = json_object_get(document, "members");
    cli_has_text(json_array_get(list, 1), "place", "two/b");
    assert_int_equal(rig_count_entries("one") + rig_count_entries("two"), 2);
    assert_int_equal(unlink("one/a") + unlink("two/b"), 0);
}

TEST(what_knows_one_target_only_is_refused)
{
    static const struct {
        const char *line, *part;
    } cases[] = {
        {"measure " SETTING "--path one --path two --verify", "--verify and more than one --path"},
        {"measure " SETTING "--path one --path two --rate 50%", "--rate and more than one --path"},
        {"recommend --pattern write --path one --path two --burst 1m", "--burst and more than one --path"},
        {"recommend --pattern write --path one --path two --beside read:4k", "--beside and more than one"},
        {"measure " SETTING "--path one --path two --existing one/a", "several of one of them"},
        {"measure " SETTING "--path one --path missing", "missing"},
        {"experiment --pattern read --path one --path two", "is given twice"},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        cli_fails(2, cases[i].part, cases[i].line);
    rig_write_blocks("one/a", 16U << 20);
    assert_int_equal(link("one/a", "two/same"), 0);
    cli_fails(2, "is the same as one/a",
              "measure --no-lock --quiet " SETTING "--existing one/a --existing two/same");
    assert_int_equal(unlink("one/a") + unlink("two/same"), 0);
}

TEST(nothing_is_left_on_any_member_by_a_kill)
{
    static const char *const searching[] = {"recommend", "--quiet",  "--no-lock", "--pattern", "randwrite",
                                            "--path",    "one",      "--path",    "two",       "--file-size",
                                            "128m",      "--budget", "20s",       NULL};
    rig_start(cli_next(), NULL, searching);
    sleep(3);
    assert_int_equal(kill(run.pid, SIGKILL), 0);
    rig_finish(&run);
    assert_int_equal(run.code, -SIGKILL);
    assert_int_equal(rig_count_entries("one") + rig_count_entries("two"), 0);
}

TEST(doctor_says_what_the_members_share)
{
    json_t *document = cli_json(-1, "doctor --json " BOTH);
    check_members(document, NULL, 3);
}

/* Runs of two seconds: a block of three is longer than what is kept of this budget for it. */
TEST(a_budget_too_short_for_the_runs_alone_is_told)
{
    json_t *document =
        cli_json(-1, "recommend --json --pattern read --cache warm --budget 8s --duration 2s " BOTH);
    const json_t *warning = json_find(json_object_get(document, "warnings"), "code", "members_cut");
    const char *text = warning != NULL ? json_string_value(json_object_get(warning, "text")) : "";
    if (json_is_null(json_object_get(document, "recommendation"))) {
        print_message("skipped: the disk is too busy for a search of 8 s to choose anything\n");
        skip();
    }
    assert_non_null(strstr(text, "give more --budget"));
}
