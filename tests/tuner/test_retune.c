/* Tests of tuner/retune, with a night whose verdict is made to order: what is applied, remembered, skipped
 * and told. */
#include "tests/check.h"
#include "tests/tuner/rig.h"
#include "tuner/report_retune.h"
#include "tuner/retune.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct point slow = {65536, 1, 0, API_PSYNC, 1, SYNC_END, 0};
static const struct point quick = {65536, 8, 1, API_IO_URING, 1, SYNC_END, 0};

/* What the next night says. */
static struct {
    int result;
    enum night_verdict verdict;
    unsigned behind;
    bool conclusive, remember;
    struct point advice;
} next;

/* What the night was asked. */
static struct {
    unsigned n;
    bool in_force_given;
    struct point in_force;
    size_t n_remembered;
    uint64_t first_budget_ns, night_budget_ns;
} asked;

static struct history history;
static struct retune_config config;
static struct retune_report report;
static struct busy_facts busy;
static atomic_int interrupted;
static struct err err;

static json_t *document_of(const struct point *point)
{
    json_t *document = json_pack(
        "{s:s, s:s, s:b, s:{s:s}, s:{s:I, s:i, s:i, s:s, s:i, s:s}, s:{s:s, s:f, s:f, s:f, s:f, s:i, s:f}, "
        "s:b}",
        "schema", "fstune/recommendation/1", "version", "0.1.0", "interrupted", 0, "pattern", "name",
        "randwrite", "recommendation", "request_size", (json_int_t)point->request_size_bytes, "queue_depth",
        (int)point->queue_depth, "direct", (int)point->direct, "api", api_names[point->api], "threads",
        (int)point->threads, "sync", sync_names[point->sync], "throughput", "unit", "bytes/s", "mean", 1e9,
        "ci_low", 9e8, "ci_high", 1.1e9, "std", 1e7, "replays", 7, "confidence", 0.95, "conclusive", 1);
    assert_non_null(document);
    return document;
}

static int remember(const struct night_request *request, struct err *night_err)
{
    json_t *documents = NULL;
    struct session *session = calloc(1, sizeof *session);
    assert_non_null(session);
    session->settings = request->settings;
    session->simulated = true;
    snprintf(session->surface.name, sizeof session->surface.name, "double");
    int result = request->recall(request->context, session, &documents, night_err);
    asked.n_remembered = result == 0 ? json_array_size(documents) : 0;
    json_decref(documents);
    free(session);
    return result;
}

static int night(const struct night_request *request, struct night_result *ret_result, struct err *night_err)
{
    asked.n++;
    asked.in_force_given = request->in_force_given;
    asked.in_force = request->in_force;
    asked.first_budget_ns = request->first_budget_ns;
    asked.night_budget_ns = request->night_budget_ns;
    if (next.remember && remember(request, night_err) < 0)
        return night_err->code;
    if (next.result < 0)
        return err_set(night_err, next.result, "the disk is on fire");
    *ret_result = (struct night_result){
        .verdict = next.verdict,
        .behind = next.behind,
        .has_in_force = request->in_force_given,
        .in_force = request->in_force,
        .has_advice = next.verdict != NIGHT_NOTHING,
        .advice =
            next.verdict == NIGHT_NO_CHANGE && request->in_force_given ? request->in_force : next.advice,
        .conclusive = next.conclusive,
        .throughput = {.mean = 1e9, .interval = {9e8, 1.1e9}, .n = 7},
        .expected = {.mean = NAN},
        .evidence = "because",
        .document = next.verdict != NIGHT_NOTHING ? document_of(&next.advice) : NULL,
        .bytes_written = 1000,
    };
    if (next.behind != 0 || next.verdict == NIGHT_NOTHING)
        snprintf(ret_result->reason, sizeof ret_result->reason, "20 %% down");
    return 0;
}

static void look(struct busy_facts *facts, int directory_fd)
{
    (void)directory_fd;
    *facts = busy;
}

static const char *folder(void)
{
    static char path[256];
    return getcwd(path, sizeof path);
}

static void configure(const char *more)
{
    retune_config_done(&config);
    rig_write(
        "n.conf",
        "targets = ( { name = \"vm1\"; pattern = \"randwrite\"; emit = \"shell\"; first_budget = \"7m\"; "
        "budget = \"1m\"; no_lock = true; snippet = \"%s/place/vm1.env\"; %s } );",
        folder(), more);
    if (retune_config_read(&config, "n.conf", &err) != 0)
        fail_msg("%s", err.text);
}

static int enter(void **state)
{
    (void)state;
    const struct history_place place = {.path = "h.db", .write = true};
    assert_int_equal(system("rm -rf h.db* place said; mkdir place"), 0);
    memset(&next, 0, sizeof next);
    memset(&asked, 0, sizeof asked);
    next.advice = quick;
    next.conclusive = true;
    busy = (struct busy_facts){.uptime_seconds = 1e6};
    atomic_store(&interrupted, 0);
    memset(&err, 0, sizeof err);
    configure("");
    return history_open(&history, &place, &err);
}

static int leave(void **state)
{
    (void)state;
    retune_report_done(&report);
    retune_config_done(&config);
    history_close(&history);
    return 0;
}

static struct retune_world world_of(void)
{
    return (struct retune_world){
        .history = &history, .db = "h.db", .measure = night, .look = look, .interrupted = &interrupted};
}

static int run(enum night_verdict verdict)
{
    const struct retune_world world = world_of();
    next.verdict = verdict;
    retune_report_done(&report);
    assert_int_equal(retune_run(&world, &config, "", &report, &err), 0);
    return report.exit_code;
}

static bool snippet_has(const char *name, const char *words)
{
    char command[512];
    snprintf(command, sizeof command, "grep -qF -- '%s' place/%s 2>/dev/null", words, name);
    return system(command) == 0;
}

static struct history_change newest(void)
{
    struct history_change *changes = NULL, change;
    size_t n = 0;
    assert_int_equal(history_list_changes(&history, "vm1", 0, 1, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
    change = changes[0];
    free(changes);
    return change;
}

static void the_first_advice_is_applied_and_in_force_next_night(void **state)
{
    (void)state;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_false(asked.in_force_given);
    assert_true(asked.first_budget_ns == 420000000000ULL && asked.night_budget_ns == 60000000000ULL);
    assert_int_equal(report.outcomes[0].action, RETUNE_APPLIED);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
    assert_int_equal(run(NIGHT_NO_CHANGE), 0);
    assert_true(asked.in_force_given);
    assert_true(factors_equal(&asked.in_force, &quick));
    assert_int_equal(report.outcomes[0].action, RETUNE_STAYS);
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    assert_string_equal(newest().text, "because");
}

static void a_change_is_applied_and_a_night_without_one_touches_nothing(void **state)
{
    (void)state;
    run(NIGHT_FIRST);
    next.advice = slow;
    assert_int_equal(run(NIGHT_PENDING), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(rig_count_entries("place"), 1);
    assert_int_equal(run(NIGHT_CHANGE), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=psync"));
    assert_true(snippet_has("vm1.env.previous", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_MADE);
    const struct history_change change = newest();
    assert_true(factors_equal(&change.from, &quick));
    assert_true(factors_equal(&change.to, &slow));
}

static void the_configured_setting_is_in_force_before_the_first_change(void **state)
{
    (void)state;
    configure("current = \"request_size=64k,queue_depth=8,direct=1,api=io_uring\";");
    run(NIGHT_NO_CHANGE);
    assert_true(asked.in_force_given);
    assert_true(factors_equal(&asked.in_force, &quick));
    next.advice = slow;
    run(NIGHT_CHANGE);
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &slow));
}

static void commands_know_the_target_and_the_setting(void **state)
{
    (void)state;
    configure("apply = \"echo $FSTUNE_TARGET $FSTUNE_VERDICT $FSTUNE_API $FSTUNE_QUEUE_DEPTH >said\";");
    run(NIGHT_FIRST);
    assert_int_equal(system("grep -qx 'vm1 first io_uring 8' said"), 0);
}

static void what_fails_its_check_is_not_in_force_next_night(void **state)
{
    (void)state;
    run(NIGHT_FIRST);
    configure("check = \"exit 1\";");
    next.advice = slow;
    assert_int_equal(run(NIGHT_CHANGE), 1);
    assert_int_equal(report.outcomes[0].action, RETUNE_FAILED);
    assert_non_null(strstr(report.outcomes[0].text, "check command failed"));
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    run(NIGHT_NO_CHANGE);
    assert_true(factors_equal(&asked.in_force, &quick));
}

static void a_rollback_is_remembered_and_not_undone_by_the_next_night(void **state)
{
    (void)state;
    const struct retune_world world = world_of();
    run(NIGHT_FIRST);
    next.advice = slow;
    run(NIGHT_CHANGE);
    assert_int_equal(retune_rollback(&world, &config.targets[0], &err), 0);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
    assert_int_equal(newest().kind, HISTORY_CHANGE_ROLLBACK);
    assert_int_equal(run(NIGHT_CHANGE), 0);
    assert_true(factors_equal(&asked.in_force, &quick));
    assert_int_equal(report.outcomes[0].action, RETUNE_SPARED);
    assert_true(snippet_has("vm1.env", "FSTUNE_API=io_uring"));
}

static void without_a_change_there_is_nothing_to_roll_back(void **state)
{
    (void)state;
    const struct retune_world world = world_of();
    assert_int_equal(retune_rollback(&world, &config.targets[0], &err), -ENOENT);
    run(NIGHT_FIRST); /* nothing was there before */
    assert_int_equal(retune_rollback(&world, &config.targets[0], &err), -ENOENT);
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
}

static void without_a_snippet_the_advice_is_remembered_once(void **state)
{
    (void)state;
    rig_write("n.conf", "targets = ( { name = \"vm1\"; pattern = \"randwrite\"; } );");
    retune_config_done(&config);
    assert_int_equal(retune_config_read(&config, "n.conf", &err), 0);
    run(NIGHT_FIRST);
    assert_int_equal(report.outcomes[0].action, RETUNE_ADVISED);
    assert_int_equal(newest().kind, HISTORY_CHANGE_FIRST);
    run(NIGHT_CHANGE);
    assert_int_equal(report.outcomes[0].action, RETUNE_REPEATED);
    assert_int_equal(newest().kind, HISTORY_CHANGE_NONE);
    assert_int_equal(rig_count_entries("place"), 0);
}

static void a_busy_machine_is_left_alone_and_a_week_of_it_is_told(void **state)
{
    (void)state;
    busy.load_share = 3;
    for (unsigned i = 1; i <= 8; i++) {
        assert_int_equal(run(NIGHT_FIRST), i < 7 ? 0 : 3);
        assert_true(report.outcomes[0].skipped);
        assert_int_equal(report.outcomes[0].n_skipped, i);
    }
    assert_int_equal(asked.n, 0);
    assert_int_equal(newest().kind, HISTORY_CHANGE_SKIPPED);
    assert_non_null(strstr(newest().text, "max_load"));
    busy.load_share = 0;
    assert_int_equal(run(NIGHT_FIRST), 0);
    busy.load_share = 3;
    run(NIGHT_NO_CHANGE);
    assert_int_equal(report.outcomes[0].n_skipped, 1);
}

static void force_and_simulation_do_not_ask(void **state)
{
    (void)state;
    struct retune_world world = world_of();
    busy.on_battery = true;
    world.force = true;
    assert_int_equal(retune_run(&world, &config, "", &report, &err), 0);
    assert_int_equal(asked.n, 1);
    configure("simulate = \"s.conf\";");
    run(NIGHT_FIRST);
    assert_int_equal(asked.n, 2);
}

static void a_device_in_use_is_a_skipped_night(void **state)
{
    (void)state;
    next.result = -EWOULDBLOCK;
    assert_int_equal(run(NIGHT_FIRST), 0);
    assert_true(report.outcomes[0].skipped);
}

static void alarms_end_with_4_and_their_reason(void **state)
{
    (void)state;
    next.behind = NIGHT_BEHIND_THROUGHPUT;
    assert_int_equal(run(NIGHT_NO_CHANGE), 4);
    assert_int_equal(newest().kind, HISTORY_CHANGE_ALARM);
    json_t *document = report_retune_document(&report);
    assert_string_equal(json_string_value(json_object_get(document, "reason")), "20 % down");
    const json_t *target = json_array_get(json_object_get(document, "targets"), 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(target, "behind"), 0)),
                        "throughput");
    assert_string_equal(json_string_value(json_object_get(target, "verdict")), "no_change");
    json_decref(document);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    report_retune_log(out, &report);
    fclose(out);
    assert_string_equal(text, "fstune: vm1: 20 % down\n");
    free(text);
}

static void codes_follow_the_verdict(void **state)
{
    (void)state;
    assert_int_equal(run(NIGHT_NOTHING), 5);
    next.conclusive = false;
    assert_int_equal(run(NIGHT_FIRST), 3);
    next.result = -EIO;
    assert_int_equal(run(NIGHT_NO_CHANGE), 1);
    assert_string_equal(report.outcomes[0].text, "the disk is on fire");
}

static void the_worst_code_of_all_targets_counts(void **state)
{
    static const int order[] = {1, 4, 5, 3, 0};
    (void)state;
    for (size_t i = 0; i < RIG_COUNT(order); i++) {
        for (size_t j = 0; j < RIG_COUNT(order); j++)
            assert_int_equal(retune_worse(order[i], order[j]), order[i < j ? i : j]);
    }
}

static void one_target_that_fails_does_not_stop_the_next(void **state)
{
    (void)state;
    const struct retune_world world = world_of();
    rig_write(
        "n.conf",
        "pattern = \"randwrite\"; targets = ( { name = \"a\"; path = \"/nowhere\"; }, { name = \"b\"; } );");
    retune_config_done(&config);
    assert_int_equal(retune_config_read(&config, "n.conf", &err), 0);
    next.result = -EIO;
    assert_int_equal(run(NIGHT_FIRST), 1);
    assert_int_equal(asked.n, 2);
    retune_report_done(&report);
    assert_int_equal(retune_run(&world, &config, "b", &report, &err), 0);
    assert_int_equal(report.n, 1);
    assert_string_equal(report.outcomes[0].target->name, "b");
}

static void an_interrupt_ends_the_night(void **state)
{
    (void)state;
    atomic_store(&interrupted, SIGTERM);
    run(NIGHT_FIRST);
    assert_true(report.interrupted);
    assert_int_equal(report.n, 0);
}

static void earlier_nights_are_remembered_of_this_target_only(void **state)
{
    (void)state;
    next.remember = true;
    run(NIGHT_FIRST);
    assert_int_equal(asked.n_remembered, 0);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(asked.n_remembered, 1);
    next.result = -EIO;
    run(NIGHT_NO_CHANGE);
    next.result = 0;
    run(NIGHT_NOTHING);
    run(NIGHT_NO_CHANGE);
    assert_int_equal(asked.n_remembered, 2); /* neither the failed night nor the one without a judgement */
    assert_int_equal(newest().run_ids[0], 5);
    snprintf(config.targets[0].name, sizeof config.targets[0].name, "other");
    run(NIGHT_FIRST);
    assert_int_equal(asked.n_remembered, 0);
}

static void the_text_names_settings_evidence_and_cost(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0;
    run(NIGHT_FIRST);
    FILE *out = open_memstream(&text, &n);
    report_retune_text(out, &report);
    fclose(out);
    assert_non_null(strstr(text, "vm1: first tune\n"));
    assert_non_null(strstr(text, "64k x 8, direct, io_uring"));
    assert_non_null(strstr(text, "1.00 GB/s (900 MB/s to 1.10 GB/s, 7 replays)"));
    assert_non_null(strstr(text, "because"));
    assert_non_null(strstr(text, "applied: "));
    assert_non_null(strstr(text, "1.00 kB written"));
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(the_first_advice_is_applied_and_in_force_next_night),
        TEST(a_change_is_applied_and_a_night_without_one_touches_nothing),
        TEST(the_configured_setting_is_in_force_before_the_first_change),
        TEST(commands_know_the_target_and_the_setting),
        TEST(what_fails_its_check_is_not_in_force_next_night),
        TEST(a_rollback_is_remembered_and_not_undone_by_the_next_night),
        TEST(without_a_change_there_is_nothing_to_roll_back),
        TEST(without_a_snippet_the_advice_is_remembered_once),
        TEST(a_busy_machine_is_left_alone_and_a_week_of_it_is_told),
        TEST(force_and_simulation_do_not_ask),
        TEST(a_device_in_use_is_a_skipped_night),
        TEST(alarms_end_with_4_and_their_reason),
        TEST(codes_follow_the_verdict),
        TEST(the_worst_code_of_all_targets_counts),
        TEST(one_target_that_fails_does_not_stop_the_next),
        TEST(an_interrupt_ends_the_night),
        TEST(earlier_nights_are_remembered_of_this_target_only),
        TEST(the_text_names_settings_evidence_and_cost),
    };
    return cmocka_run_group_tests(tests, rig_enter, rig_leave);
}
