/* Tests of warnings with the whole program: real faults, made on purpose, are named and keep a point from
 * being recommended. Some need root, for a mount or a control group of their own. */
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define MIB ((off_t)1 << 20)
#define MEASURE(pattern)                                                                                     \
    "measure", "--quiet", "--no-lock", "--json", "--pattern", pattern, "--replays", "3", "--duration",       \
        "100ms", "--request-size", "64k"
#define PSYNC "--queue-depth", "1", "--api", "psync", "--direct", "0"
#define SEARCH                                                                                               \
    "recommend", "--quiet", "--no-lock", "--json", "--request-size", "4k,64k", "--queue-depth", "1,4"

static struct rig_run run;
static json_t *document;

FIXTURE(drop)
{
    json_decref(document);
    document = NULL;
    rig_free(&run);
    return 0;
}

EACH_TEST(NULL, drop);

/* The program with these arguments; unless in_child failed, `document` is what it printed. */
#define RUN(in_child, ...)                                                                                   \
    do {                                                                                                     \
        drop(NULL);                                                                                          \
        rig_run(&run, in_child, __VA_ARGS__, NULL);                                                          \
        if (run.code != 99)                                                                                  \
            document = rig_json(&run);                                                                       \
    } while (0)

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("mnt", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static void need(bool there, const char *why)
{
    if (!there) {
        print_message("skipped: %s\n", why);
        skip();
    }
}

/* What the child does first, in mounts of its own, which go away with it: a loop device with its mount. */
static const char *mount_script;

static bool in_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           system(mount_script) == 0;
}

#define LOOP(size, type, options)                                                                            \
    "exec >/dev/null 2>&1; rm -f image; truncate -s " size " image && mkfs." type " -q image && "            \
    "mount -o loop" options " image mnt"

/* The program with these arguments, after the script. */
#define RUN_MOUNTED(script, ...)                                                                             \
    do {                                                                                                     \
        mount_script = (script);                                                                             \
        need(geteuid() == 0, "only root can mount");                                                         \
        RUN(in_own_mounts, __VA_ARGS__);                                                                     \
        need(run.code != 99, "this file system cannot be made and mounted here");                            \
    } while (0)

static bool names(const json_t *list, const char *code)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), code) == 0)
            return true;
    }
    return false;
}

/* The warning of this code, NULL when there is none. */
static const json_t *warning(const char *code)
{
    const json_t *list = json_object_get(document, "warnings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(entry, "code")), code) == 0)
            return entry;
    }
    return NULL;
}

static bool disqualifies(const char *code)
{
    return json_is_true(json_object_get(warning(code), "disqualifying"));
}

static const json_t *row(void)
{
    return json_object_get(document, "row");
}

static void check_warned(const char *code)
{
    assert_int_equal(run.code, 0);
    if (warning(code) == NULL)
        fail_msg("%s is not among the warnings: %s", code, run.out);
}

/* What `measure` says of a figure that this code spoils. */
static void check_spoilt(const char *code)
{
    check_warned(code);
    assert_true(disqualifies(code));
    assert_true(names(json_object_get(row(), "disqualified_by"), code));
    assert_true(json_is_false(json_object_get(document, "trustworthy")));
}

static void check_noted(const char *code)
{
    check_warned(code);
    assert_false(disqualifies(code));
    assert_false(names(json_object_get(row(), "disqualified_by"), code));
}

static void check_nothing_recommended(const char *code)
{
    assert_int_equal(run.code, 5);
    assert_true(json_is_null(json_object_get(document, "recommendation")));
    const char *reason = json_string_value(json_array_get(json_object_get(document, "reasons"), 0));
    assert_non_null(reason);
    if (strstr(reason, code) == NULL || strstr(reason, "--accept") == NULL || !disqualifies(code))
        fail_msg("the reason does not name %s: %s", code, reason);
    const json_t *points = json_object_get(document, "points");
    assert_true(json_array_size(points) > 0);
    assert_true(names(json_object_get(json_array_get(points, 0), "warnings"), code));
}

static void make_file(const char *name, bool allocated)
{
    AUTO(auto_close) int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 128 * MIB), 0);
    if (allocated)
        assert_int_equal(posix_fallocate(fd, 0, 128 * MIB), 0);
}

static void write_file(void)
{
    assert_int_equal(system("head -c 128M /dev/urandom >written && sync written"), 0);
}

TEST(a_written_file_is_trusted)
{
    write_file();
    RUN(NULL, MEASURE("randread"), PSYNC, "--existing", "written", "--cache", "cold");
    assert_true(json_is_true(json_object_get(document, "trustworthy")));
    assert_int_equal(json_array_size(json_object_get(row(), "disqualified_by")), 0);
}

TEST(a_sparse_file_is_recommended_from_only_when_accepted)
{
    make_file("sparse", false);
    RUN(NULL, SEARCH, "--pattern", "randread", "--existing", "sparse", "--budget", "4s");
    check_nothing_recommended("existing_has_holes");
    RUN(NULL, SEARCH, "--pattern", "randread", "--existing", "sparse", "--budget", "4s", "--accept",
        "existing_has_holes");
    assert_true(run.code == 0 || run.code == 3);
    assert_true(json_is_object(json_object_get(document, "recommendation")));
    assert_non_null(warning("existing_has_holes"));
    assert_false(disqualifies("existing_has_holes"));
}

TEST(unwritten_extents_spoil_reads)
{
    make_file("unwritten", true);
    RUN(NULL, MEASURE("read"), PSYNC, "--existing", "unwritten");
    check_spoilt("existing_has_unwritten");
    RUN(NULL, MEASURE("write"), PSYNC, "--existing", "unwritten", "--overwrite");
    check_noted("existing_has_unwritten");
}

TEST(compressed_extents_spoil_reads)
{
    RUN_MOUNTED(
        LOOP("400m", "btrfs", ",compress=zstd:1") " && yes fstune | head -c 128M >mnt/text; sync mnt/text",
        MEASURE("read"), PSYNC, "--existing", "mnt/text");
    check_spoilt("existing_compressed");
}

TEST(a_loop_device_without_direct_io_spoils_cold_reads)
{
    RUN_MOUNTED(LOOP("300m", "ext4", ""), MEASURE("randread"), PSYNC, "--path", "mnt", "--file-size", "128m");
    check_spoilt("memory_backed_loop");
    RUN_MOUNTED(LOOP("300m", "ext4", ""), MEASURE("randwrite"), PSYNC, "--path", "mnt", "--file-size",
                "128m");
    check_noted("memory_backed_loop");
}

TEST(a_nearly_full_file_system_is_noted)
{
    RUN_MOUNTED(LOOP("160m", "ext4",
                     "") " && head -c 32M /dev/urandom >mnt/data; cat /dev/zero >mnt/filler; sync -f mnt",
                MEASURE("read"), PSYNC, "--existing", "mnt/data");
    check_noted("nearly_full");
}

TEST(memory_is_no_disk)
{
    static const char *const tmpfs = "mount -t tmpfs -o size=256m tmpfs mnt";
    RUN_MOUNTED(tmpfs, SEARCH, "--pattern", "randread", "--path", "mnt", "--file-size", "128m", "--budget",
                "4s");
    check_nothing_recommended("not_cold");
    assert_non_null(warning("memory_backed"));
    RUN_MOUNTED(tmpfs, MEASURE("randread"), PSYNC, "--path", "mnt", "--file-size", "128m", "--cache", "warm");
    check_noted("memory_backed");
    assert_true(json_is_true(json_object_get(document, "trustworthy")));
}

static char group[256];

static bool throttle_me(void)
{
    char command[512];
    snprintf(command, sizeof command, "echo %ld >%s/cgroup.procs", (long)getpid(), group);
    return system(command) == 0;
}

TEST(a_throttled_device_is_noted)
{
    struct stat here;
    need(access("/sys/fs/cgroup/blkio", W_OK) == 0, "no control groups of version 1 for block devices");
    write_file();
    assert_int_equal(stat("written", &here), 0);
    snprintf(group, sizeof group, "/sys/fs/cgroup/blkio/fstune-test-%ld", (long)getpid());
    char command[640];
    snprintf(command, sizeof command, "mkdir %s && echo '%u:%u 20971520' >%s/blkio.throttle.read_bps_device",
             group, major(here.st_dev), minor(here.st_dev), group);
    bool capped = system(command) == 0;
    if (capped)
        rig_run(&run, throttle_me, "measure", "--quiet", "--no-lock", "--json", "--pattern", "randread",
                "--replays", "3", "--duration", "1s", "--request-size", "64k", "--queue-depth", "4", "--api",
                "libaio", "--direct", "1", "--existing", "written", "--cache", "cold", NULL);
    rmdir(group);
    need(capped, "the disk cannot be throttled");
    document = rig_json(&run);
    check_noted("rate_capped");
}

/* Somebody who writes all the time, as a process group of its own. */
static pid_t start_neighbour(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        execlp("sh", "sh", "-c",
               "while dd if=/dev/zero of=noise bs=1M count=32 conv=notrunc,fdatasync 2>/dev/null; do :; done",
               (char *)NULL);
        _exit(97);
    }
    setpgid(child, child);
    return child;
}

TEST(a_busy_neighbour_is_noted)
{
    write_file();
    pid_t neighbour = start_neighbour();
    rig_run(&run, NULL, MEASURE("randread"), "--queue-depth", "4", "--api", "libaio", "--direct", "1",
            "--existing", "written", "--cache", "cold", NULL);
    kill(-neighbour, SIGKILL);
    waitpid(neighbour, NULL, 0);
    document = rig_json(&run);
    check_noted("neighbour_busy");
    assert_non_null(warning("run_repeated"));
}

TEST(points_that_flush_nothing_are_not_recommended)
{
    RUN(NULL, SEARCH, "--pattern", "randwrite", "--path", ".", "--file-size", "128m", "--budget", "6s",
        "--direct", "0", "--api", "psync,io_uring", "--sync", "none,end");
    assert_true(disqualifies("writes_absorbed"));
    const json_t *points = json_object_get(document, "points");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        CHECK_JSON(point, "sync=end", "disqualified_by#=0");
    }
    const json_t *setting = json_object_get(document, "recommendation");
    assert_string_equal(json_string_value(json_object_get(setting, "sync")), "end");
    RUN(NULL, MEASURE("randwrite"), PSYNC, "--path", ".", "--file-size", "128m", "--sync", "none");
    check_noted("writes_absorbed");
}

TEST(a_depth_that_buffered_libaio_does_not_reach_is_noted)
{
    write_file();
    RUN(NULL, MEASURE("randread"), "--queue-depth", "16", "--api", "libaio", "--direct", "0", "--existing",
        "written", "--cache", "cold");
    check_noted("depth_not_achieved");
}

TEST(random_is_compared_with_sequential)
{
    RUN(NULL, "recommend", "--quiet", "--no-lock", "--json", "--pattern", "randread", "--path", ".",
        "--file-size", "128m", "--budget", "20s", "--request-size", "64k", "--queue-depth", "1", "--api",
        "psync");
    const json_t *counterpart = json_object_get(document, "sequential_counterpart");
    assert_true(run.code == 0 || run.code == 3);
    /* It comes after the replays, as far as there is time. */
    need(json_is_object(counterpart), "this machine is too busy for the sequential counterpart");
    const char *pattern = json_string_value(json_object_get(counterpart, "pattern"));
    assert_non_null(pattern);
    assert_string_equal(pattern, "read");
    const json_t *throughput = json_object_get(counterpart, "throughput");
    assert_true(json_integer_value(json_object_get(throughput, "replays")) >= 3);
}

static bool become_nobody(void)
{
    return setgid(65534) == 0 && setuid(65534) == 0;
}

TEST(a_user_who_may_not_lock_the_device_is_told_and_measures)
{
    need(geteuid() == 0, "only root can become somebody else");
    need(access("/run/user/65534", F_OK) != 0, "nobody has a directory in /run/user");
    assert_int_equal(chmod(".", 0777), 0);
    static const char *const formats[] = {"--json", "--replays=3"};
    for (size_t i = 0; i < N_OF(formats); i++) {
        rig_run(&run, become_nobody, "measure", "--quiet", formats[i], "--pattern", "read", "--request-size",
                "64k", "--duration", "100ms", "--file-size", "128m", PSYNC, NULL);
        assert_int_equal(run.code, 0);
        CHECK_HAS(run.out, "no_lock", "/run/fstune");
        rig_free(&run);
    }
}
