/* Tests of the whole program in a memory cgroup (version 1) that is smaller than what it likes to take: it
 * ends by itself. They need root. */
#include "tests/tuner/commands/cli_rig.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define HIERARCHY "/sys/fs/cgroup/memory"
#define SEARCH    "recommend", "--quiet", "--no-lock", "--json", "--pattern"

static char group[128];

static bool join_group(void)
{
    char command[256];
    snprintf(command, sizeof command, "echo %ld >%s/cgroup.procs", (long)getpid(), group);
    return system(command) == 0;
}

static bool join_group_with_tmpfs(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "mnt", "tmpfs", 0, "size=2g") == 0 && join_group();
}

/* Makes the group in which the next run is, with this limit. */
static void limit_to(const char *limit)
{
    char command[384];
    snprintf(group, sizeof group, HIERARCHY "/fstune-test-%ld", (long)getpid());
    snprintf(command, sizeof command, "mkdir %s && echo %s >%s/memory.limit_in_bytes", group, limit, group);
    assert_int_equal(system(command), 0);
}

static void check_not_killed(void)
{
    char command[256];
    snprintf(command, sizeof command, "grep -qx 'oom_kill 0' %s/memory.oom_control", group);
    int killed = system(command);
    rmdir(group);
    if (killed != 0 || run.code < 0)
        fail_msg("killed for its memory, exit code %d", run.code);
}

TEST(a_search_on_a_disk_takes_no_more_than_its_group_has)
{
    static const char *const patterns[] = {"randread", "randwrite"};
    for (size_t i = 0; i < N_OF(patterns); i++) {
        limit_to("100m");
        rig_run(cli_next(), join_group, SEARCH, patterns[i], "--path", ".", "--file-size", "512m",
                "--threads", "1,8", "--budget", "12s", NULL);
        check_not_killed();
        assert_true(run.code == 0 || run.code == 3 || run.code == 5);
    }
}

TEST(a_file_in_memory_that_its_group_cannot_hold_is_refused)
{
    limit_to("100m");
    rig_run(cli_next(), join_group_with_tmpfs, SEARCH, "randread", "--path", "mnt", "--budget", "5s", NULL);
    check_not_killed();
    cli_failed(1, "does not fit");
}

TEST(a_file_in_memory_leaves_room_for_the_search)
{
    limit_to("400m");
    rig_run(cli_next(), join_group_with_tmpfs, SEARCH, "randwrite", "--path", "mnt", "--cache", "warm",
            "--budget", "5s", NULL);
    check_not_killed();
    assert_true(run.code == 0 || run.code == 3 || run.code == 5);
}

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("mnt", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);

static bool find_what_is_needed(void)
{
    if (access(HIERARCHY "/memory.limit_in_bytes", W_OK) != 0) {
        printf("skipped: no control groups of memory (version 1) that may be changed here\n");
        return false;
    }
    return rig_find_program();
}

GROUP_NEEDS(find_what_is_needed);
