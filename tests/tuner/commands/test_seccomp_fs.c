/* fstune under the system calls that a container is left with: the filter is loaded here and inherited. */
#include "tests/tuner/commands/cli_rig.h"
#include "tuner/base/fail.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NEWEST_ALLOWED __NR_set_mempolicy_home_node

/* What Docker's default profile does not list for a container without capabilities, with the io_uring calls
 * that it dropped in version 25: EPERM, as any call that is newer than the profile. First those of file
 * systems and name spaces. */
static const int denied_files[] = {__NR_fanotify_init,
                                   __NR_fsconfig,
                                   __NR_fsmount,
                                   __NR_fsopen,
                                   __NR_fspick,
                                   __NR_lookup_dcookie,
                                   __NR_mount,
                                   __NR_mount_setattr,
                                   __NR_move_mount,
                                   __NR_nfsservctl,
                                   __NR_open_by_handle_at,
                                   __NR_open_tree,
                                   __NR_pivot_root,
                                   __NR_quotactl,
                                   __NR_quotactl_fd,
                                   __NR_setns,
                                   __NR_swapoff,
                                   __NR_swapon,
                                   __NR_umount2,
                                   __NR_unshare};
static const int denied[] = {__NR_acct,
                             __NR_add_key,
                             __NR_bpf,
                             __NR_clock_adjtime,
                             __NR_clock_settime,
                             __NR_delete_module,
                             __NR_finit_module,
                             __NR_get_mempolicy,
                             __NR_init_module,
                             __NR_io_uring_enter,
                             __NR_io_uring_register,
                             __NR_io_uring_setup,
                             __NR_kcmp,
                             __NR_kexec_load,
                             __NR_keyctl,
                             __NR_mbind,
                             __NR_migrate_pages,
                             __NR_move_pages,
                             __NR_perf_event_open,
                             __NR_reboot,
                             __NR_request_key,
                             __NR_set_mempolicy,
                             __NR_setdomainname,
                             __NR_sethostname,
                             __NR_settimeofday,
                             __NR_userfaultfd,
                             __NR_vhangup};
/* Beyond them, what came with Linux 4.11 to 5.8 and profiles of those years do not know. */
static const int denied_once[] = {__NR_statx,       __NR_pidfd_open, __NR_pidfd_send_signal, __NR_pidfd_getfd,
                                  __NR_close_range, __NR_openat2,    __NR_faccessat2,        __NR_rseq};

static struct sock_filter filter[128];
static unsigned short n_rules;

static void add(unsigned short code, unsigned k, unsigned char jump, unsigned char other)
{
    filter[n_rules++] = (struct sock_filter)BPF_JUMP(code, k, jump, other);
}

static void deny(int number, int code)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code, 0, 0);
}

/* For whoever is forked and executed from here on. */
static bool forbid(const int *numbers, size_t n)
{
    n_rules = 0;
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    deny(__NR_clone3, ENOSYS); /* so that libraries fall back to clone, whose flags a filter can see */
    add(BPF_JMP | BPF_JGT | BPF_K, NEWEST_ALLOWED, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    for (size_t i = 0; i < n; i++)
        deny(numbers[i], EPERM);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {.len = n_rules, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool like_docker(void)
{
    return forbid(denied, N_OF(denied)) && forbid(denied_files, N_OF(denied_files));
}

static bool like_old_docker(void)
{
    return like_docker() && forbid(denied_once, N_OF(denied_once));
}

static const char *text_at(json_t *document, const char *key)
{
    return json_string_value(json_object_get(document, key));
}

static void check_measure(bool (*filter_like)(void), const char *api, const char *direct)
{
    const char *depth = strcmp(api, "psync") == 0 ? "1" : "4";
    rig_run(cli_next(), filter_like, "measure", "--quiet", "--no-lock", "--json", "--path", "dir",
            "--file-size", "128m", "--pattern", "randrw", "--request-size", "64k", "--queue-depth", depth,
            "--api", api, "--direct", direct, "--replays", "2", "--duration", "50ms", "--warmup-limit",
            "50ms", NULL);
    if (strcmp(api, "io_uring") == 0) {
        rig_check_error(&run, EXIT_USAGE, "seccomp");
    } else if (run.code != EXIT_DONE) {
        fail_msg("%s, direct %s: exit code %d: %s", api, direct, run.code, run.err);
    } else {
        json_t *document = cli_document();
        assert_string_not_equal(text_at(json_object_get(document, "system"), "file_system"), "");
    }
    assert_int_equal(rig_count_entries("dir"), 0);
}

/* The search leaves out what is forbidden, says why, and answers from the rest. */
static void check_recommend(bool (*filter_like)(void))
{
    bool dropped = false;
    rig_run(cli_next(), filter_like, "recommend", "--quiet", "--no-lock", "--json", "--path", "dir",
            "--file-size", "128m", "--pattern", "randread", "--budget", "3s", "--request-size", "4k,64k",
            "--queue-depth", "1,4", NULL);
    assert_true(run.code == EXIT_DONE || run.code == EXIT_INCONCLUSIVE);
    json_t *document = cli_document(), *entry;
    size_t i;
    json_array_foreach(json_object_get(document, "dropped"), i, entry)
    {
        if (strcmp(text_at(entry, "what"), "api io_uring") == 0)
            dropped = strstr(text_at(entry, "why"), "seccomp") != NULL;
    }
    assert_true(dropped);
    assert_string_not_equal(text_at(json_object_get(document, "recommendation"), "api"), "io_uring");
    assert_int_equal(rig_count_entries("dir"), 0);
}

static void check_doctor(bool (*filter_like)(void))
{
    rig_run(cli_next(), filter_like, "doctor", "--quiet", "--no-lock", "--path", "dir", NULL);
    assert_int_equal(run.code, EXIT_FINDINGS);
    CHECK_HAS(run.out, "psync, pvec, pool, libaio\n", "seccomp",
              "a file can be made, filled and removed here");
}

static void check_all(bool (*filter_like)(void))
{
    static const char *const apis[] = {"psync", "pvec", "pool", "libaio", "io_uring"};
    for (size_t i = 0; i < N_OF(apis); i++) {
        check_measure(filter_like, apis[i], "0");
        check_measure(filter_like, apis[i], "1");
    }
    check_recommend(filter_like);
    check_doctor(filter_like);
}

TEST(all_but_io_uring_work_under_dockers_profile)
{
    check_all(like_docker);
}

TEST(older_profiles_that_forbid_newer_calls_are_survived)
{
    check_all(like_old_docker);
}

/* A night finds the snippet that is there, writes beside it, and its commands run. */
TEST(a_snippet_is_applied_under_an_older_profile)
{
    char folder[4096];
    assert_non_null(getcwd(folder, sizeof folder));
    rig_simulator("disk", "op_cv = 0.0;", rig_peak_bps);
    rig_write(
        "retune.conf",
        "targets = ({ name = \"t\"; simulate = \"disk.conf\"; pattern = \"randwrite\"; emit = \"shell\";\n"
        "  snippet = \"%s/dir/t.env\"; check = \"test -s $FSTUNE_SNIPPET\"; apply = \"true\"; });\n",
        folder);
    rig_run(cli_next(), like_old_docker, "retune", "--quiet", "--config", "retune.conf", "--db", "h.db",
            NULL);
    if (run.code != EXIT_DONE)
        fail_msg("exit code %d: %s%s", run.code, run.out, run.err);
    assert_true(rig_exists("dir/t.env"));
    assert_int_equal(rig_count_entries("dir"), 2); /* the lock stays */
    unlink("dir/t.env");
    unlink("dir/.fstune-lock");
}

FIXTURE(enter)
{
    return rig_enter(test_state) == 0 && mkdir("dir", 0755) == 0 ? 0 : -1;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);
