/* Tests of fstune watch on what runs: which files count, and whose. */
#include "tests/child.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <sys/stat.h>

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

/* So many that hardly any is read behind another by chance. */
#define N_BLOCKS 16384

/* A process that reads these files, so many bytes each time anywhere in them, until it is ended. */
static pid_t start_reading(const char *path, size_t n_bytes)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char *block = calloc(1, n_bytes);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (uint32_t chance = 1; fd >= 0 && block != NULL; chance = chance * 1664525U + 1013904223U) {
        if (pread(fd, block, n_bytes, (off_t)((chance >> 16) % N_BLOCKS * n_bytes)) < 0)
            break;
        usleep(500);
    }
    _exit(1);
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* What was seen while two processes read; what the loads are, by their names. */
static json_t *watch(const char *option, const char *value)
{
    struct rig_run run = {0};
    rig_run(&run, NULL, "watch", option, value, "--save", "h.db", "--slice", "1s", "--duration", "4s",
            "--json", NULL);
    bool cannot = run.code == 2 && strstr(run.err, "by the kernel") != NULL;
    json_t *document = cannot ? NULL : rig_json(&run);
    if (cannot)
        print_message("%s", run.err);
    rig_free(&run);
    return document;
}

static bool has_load(const json_t *document, const char *kind)
{
    return json_find(json_at(document, "places.0.loads"), "kind", kind) != NULL;
}

/* Small ones in `in`, large ones in `out`; ret: whether the small and the large were seen. */
static void see(const char *option, const char *value, pid_t *ret_inner, const char *members, bool ret[2])
{
    mkdir("in", 0700);
    mkdir("out", 0700);
    unlink("h.db");
    rig_write("in/small", "%s", "");
    rig_write("out/large", "%s", "");
    assert_int_equal(
        truncate("in/small", (off_t)N_BLOCKS << 12) | truncate("out/large", (off_t)N_BLOCKS << 17), 0);
    pid_t inner = start_reading("in/small", 4096), outer = start_reading("out/large", 1 << 17);
    assert_true(inner > 0 && outer > 0);
    *ret_inner = inner;
    if (members != NULL)
        rig_write(members, "%d\n", (int)inner);
    json_t *document = watch(option, value);
    stop(inner);
    stop(outer);
    if (document == NULL)
        skip();
    ret[0] = has_load(document, "random-read-small");
    ret[1] = has_load(document, "random-read-large") || has_load(document, "random-read-medium");
    json_decref(document);
}

TEST(of_a_directory_only_files_below_it_count)
{
    bool seen[2];
    pid_t inner;
    see("--path", "in", &inner, NULL, seen);
    assert_true(seen[0]);
    assert_false(seen[1]);
}

TEST(of_a_control_group_only_its_processes_count)
{
    bool seen[2];
    pid_t inner;
    mkdir("group", 0700);
    see("--cgroup", "./group", &inner, "group/cgroup.procs", seen);
    assert_true(seen[0]);
    assert_false(seen[1]);
}

TEST(what_was_seen_is_in_the_history)
{
    bool seen[2];
    pid_t inner;
    struct rig_run run = {0};
    see("--path", ".", &inner, NULL, seen);
    rig_run(&run, NULL, "history", "patterns", "--db", "h.db", NULL);
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "Watched    path /"));
    assert_non_null(strstr(run.out, "Foretold   nothing yet"));
    rig_free(&run);
    rig_run(&run, NULL, "history", "verify", "--db", "h.db", NULL);
    assert_int_equal(run.code, 0);
    rig_free(&run);
    rig_run(&run, NULL, "recommend", "--for", "h.db", "--dry-run", NULL);
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "plan: randread, "));
    rig_free(&run);
}

TEST(a_stop_and_going_on_do_not_end_it)
{
    static const char *const arguments[] = {"watch", "--path", ".", "--save", "stopped.db", NULL};
    struct rig_run run = {0};
    rig_start(&run, NULL, arguments);
    usleep(1500000); /* it waits by now */
    bool has_ended = rig_stop_and_go_on(&run);
    kill(run.pid, SIGTERM);
    rig_finish(&run);
    bool cannot = run.code == 2 && strstr(run.err, "by the kernel") != NULL;
    rig_free(&run);
    if (cannot)
        skip();
    assert_false(has_ended);
}
