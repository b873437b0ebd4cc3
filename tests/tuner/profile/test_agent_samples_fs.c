/* Tests of the agent's samples of the processor's time where perf_event_open is forbidden
 * (bench/collector/sampler). The program that is recorded is this one again, and so is the one that forbids
 * it. */
#include "bench/collector/profile.h"
#include "tests/tuner/profile/agent_rig.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

GROUP_NEEDS(find_us);
GROUP(rig_enter, rig_leave);

static uint64_t spent_ms(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000 + (uint64_t)spent.tv_nsec / 1000000;
}

static void compute(uint64_t ms)
{
    volatile double x = 1;
    for (uint64_t end = spent_ms() + ms; spent_ms() < end;) {
        for (int i = 0; i < 10000; i++)
            x = x * 1.0001 + 1;
    }
}

static void act_pauses(void)
{
    compute(300);
    fst_profile_stop();
    compute(800);
    fst_profile_start();
    compute(100);
}

static void act_resets(void)
{
    compute(200);
    fst_profile_reset();
    usleep(200000);
    compute(400);
}

static void forbid_perf_events(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = sizeof lines / sizeof lines[0], .filter = lines};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
        _exit(9);
}

__attribute__((constructor)) static void act_as_program(int argc, char **argv)
{
    if (argc < 2)
        return;
    if (strcmp(argv[1], "forbid") == 0) {
        forbid_perf_events();
        execv(argv[2], argv + 2);
        _exit(9);
    }
    if (strcmp(argv[1], "pauses") == 0)
        act_pauses();
    else
        act_resets();
    _exit(0);
}

static void record(const char *role)
{
    struct rig_run run = {0};
    unlink("e.db");
    rig_run(&run, NULL, "manager", "--quiet", "--save-events", "e.db", "--", program, "forbid", agent, "--",
            program, role, NULL);
    if (run.code != 0)
        print_error("%s%s\n", run.out, run.err);
    assert_int_equal(run.code, 0);
    rig_free(&run);
}

#define OF_PROGRAM                                                                                           \
    " FROM events NATURAL JOIN (SELECT run_id, id AS object_id, name FROM objects) WHERE kind = 5 AND "      \
    "name LIKE '%test_agent_samples_fs' AND run_id = "

TEST(a_paused_program_takes_no_samples)
{
    record("pauses");
    assert_int_equal(rig_ask_events("SELECT sample_ns FROM runs"), 1000000);
    assert_int_equal(rig_ask_events("SELECT lost FROM runs"), 0);
    assert_in_range(rig_ask_events("SELECT sum(n) FROM events WHERE kind = 5"), 200, 600);
    assert_in_range(rig_ask_events("SELECT sum(n)" OF_PROGRAM "1"), 150, 600);
    assert_int_equal(rig_ask_events("SELECT sum(duration_ns) / sum(n) FROM events WHERE kind = 5"), 1000000);
}

TEST(a_new_beginning_has_the_names_again)
{
    record("resets");
    assert_int_equal(rig_ask_events("SELECT count(*) FROM runs WHERE seconds IS NOT NULL"), 2);
    assert_in_range(rig_ask_events("SELECT sum(n)" OF_PROGRAM "1"), 80, 300);
    assert_in_range(rig_ask_events("SELECT sum(n)" OF_PROGRAM "2"), 200, 600);
}
