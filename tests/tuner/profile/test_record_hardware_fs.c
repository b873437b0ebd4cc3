/* Tests of fstune profile --hardware-events on real programs, with events that every kernel has. */
#include "tests/tuner/rig.h"

#include "bench/profile/hardware_counters.h"
#include "bench/profile/hardware_list.h"

#include <sys/stat.h>

#define N_TURNS 2000

GROUP(rig_enter, rig_leave);

static json_t *document;

/* Without PAPI, or where a sandbox lets nobody count, there is nothing to test. */
static bool find_events(void)
{
    struct hardware_counters *counters = NULL;
    struct err err;
    int code = hardware_list_open(&counters, "perf::CONTEXT-SWITCHES", 0, &err);
    if (code < 0)
        print_message("%s\n", err.text);
    hardware_counters_close(counters);
    return code == 0 && rig_find_program();
}

GROUP_NEEDS(find_events);

static int profile(struct rig_run *run, const char *events, const char *script)
{
    json_decref(document);
    rig_run(run, NULL, "profile", "--output", "profile.json", "--hardware-events", events, "--", "sh", "-c",
            script, NULL);
    document = json_load_file("profile.json", 0, NULL);
    return run->code;
}

static const json_t *event(size_t i)
{
    return json_array_get(json_object_get(document, "hardware"), i);
}

static double number(size_t i, const char *key)
{
    return json_number_value(json_object_get(event(i), key));
}

TEST(switches_of_a_ping_pong_are_two_a_turn)
{
    static const char script[] =
        "rm -f there back; mkfifo there back; "
        "taskset -c 0 sh -c 'exec 3<>there 4<>back; (while read a; do echo >&4; done) <&3 & "
        "i=0; while [ $i -lt 2000 ]; do echo >&3; read a <&4; i=$((i+1)); done; kill $!'";
    struct rig_run run = {0};
    assert_int_equal(profile(&run, "perf::CONTEXT-SWITCHES", script) % 5, 0);
    /* Programs beside it may only add some. */
    assert_true(number(0, "count") >= 2 * N_TURNS && number(0, "count") < 4 * N_TURNS);
    rig_free(&run);
}

TEST(counts_stand_in_the_profile_beside_their_requests)
{
    struct rig_run run = {0};
    assert_int_equal(profile(&run, "perf::PAGE-FAULTS,perf::TASK-CLOCK",
                             "dd if=/dev/zero of=f bs=4k count=500 status=none"),
                     0);
    assert_int_equal(json_array_size(json_object_get(document, "hardware")), 2);
    assert_string_equal(json_string_value(json_object_get(event(0), "event")), "perf::PAGE-FAULTS");
    assert_close(number(0, "per_request") * 500, number(0, "count"), 1e-6 * number(0, "count"));
    assert_true(number(1, "count") > 0 && number(1, "per_second") > 0);
    assert_close(number(0, "running_share"), 1, 0);
    assert_non_null(strstr(run.out, "\nHardware\n  perf::PAGE-FAULTS"));
    rig_free(&run);
}

TEST(without_the_option_nothing_is_counted)
{
    struct rig_run run = {0};
    rig_run(&run, NULL, "profile", "--json", "--", "true", NULL);
    json_t *alone = json_loads(run.out, 0, NULL);
    assert_true(json_is_null(json_object_get(alone, "hardware")));
    json_decref(alone);
    rig_free(&run);
}

TEST(an_unknown_event_is_refused_before_the_program_starts)
{
    struct rig_run run = {0};
    assert_int_equal(profile(&run, "perf::NOTHING", "touch started"), 2);
    assert_non_null(strstr(run.err, "this machine has no event perf::NOTHING; papi_avail"));
    assert_int_equal(access("started", F_OK), -1);
    rig_free(&run);
}

TEST(a_program_with_another_users_rights_is_refused)
{
    struct rig_run run = {0};
    if (geteuid() != 0) {
        print_message("only root can make such a program\n");
        skip();
    }
    rig_write_blocks("another", 4096);
    assert_int_equal(chown("another", 65534, 65534), 0);
    assert_int_equal(chmod("another", S_ISUID | 0755), 0);
    rig_run(&run, NULL, "profile", "--hardware-events", "perf::PAGE-FAULTS", "--", "./another", NULL);
    assert_int_equal(run.code, 2);
    assert_non_null(strstr(run.err, "another user's rights"));
    rig_free(&run);
}
