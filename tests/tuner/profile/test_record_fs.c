/* Tests of fstune profile on real programs: what is seen is what they did, and they do the same as before. */
#include "models/profile/store.h"
#include "tests/child.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <liburing.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

static json_t *document;
static char program[4096]; /* this one */

#define ALLOW(number)                                                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Only reads and the end are left to this process; anything else kills it. */
static void forbid(bool is_strict)
{
    static struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                        ALLOW(SYS_read), ALLOW(SYS_exit_group), ALLOW(SYS_exit),
                                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog filter = {.len = N_OF(code), .filter = code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (is_strict)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    else
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

#define RING_DEPTH  16
#define RING_ROUNDS 2000

/* Looks at one completion after the other and asks for a block in its place: as many are out always. */
static int keep_ring_full(void)
{
    static char blocks[RING_DEPTH][512];
    struct io_uring ring;
    struct io_uring_cqe *done;
    int fd = open("blocks", O_RDONLY | O_CLOEXEC), n_out = 0;
    if (fd < 0 || io_uring_queue_init(RING_DEPTH, &ring, 0) != 0)
        return 2;
    for (unsigned i = 0; i < RING_ROUNDS; i++, n_out++) {
        if (n_out == RING_DEPTH) {
            if (io_uring_wait_cqe(&ring, &done) != 0 || done->res != sizeof blocks[0])
                return 3;
            io_uring_cqe_seen(&ring, done);
            n_out--;
        }
        io_uring_prep_read(io_uring_get_sqe(&ring), fd, blocks[i % RING_DEPTH], sizeof blocks[0],
                           i * 7 % 64 * sizeof blocks[0]);
        /* One call fills it: where the machine stops the program while it fills, the mean would be lower. */
        if (i + 1 >= RING_DEPTH)
            io_uring_submit(&ring);
    }
    io_uring_queue_exit(&ring);
    return 0;
}

/* This program again, as one to be recorded: it reads a file that it knew before, and one that it did not
 * use. */
__attribute__((constructor)) static void act_as_program(void)
{
    const char *role = getenv("PROFILE_TEST_ROLE");
    char block[512];
    if (role == NULL)
        return;
    if (strcmp(role, "ring") == 0)
        _exit(keep_ring_full());
    int known = open("blocks", O_RDONLY | O_CLOEXEC), unknown = open("blocks", O_RDONLY | O_CLOEXEC);
    bool is_well = known >= 0 && read(known, block, sizeof block) == sizeof block;
    forbid(strcmp(role, "strict") == 0);
    for (int i = 0; i < 99 && is_well; i++)
        is_well = read(known, block, sizeof block) == sizeof block;
    is_well = is_well && read(unknown, block, sizeof block) == sizeof block;
    syscall(SYS_exit, is_well ? 0 : 1);
}

/* A script under fstune profile; what it prints stands in `out`. */
static json_t *profile_as(bool (*in_child)(void), const char *script)
{
    struct rig_run run = {0};
    json_decref(document);
    rig_run(&run, in_child, "profile", "--output", "profile.json", "--", "sh", "-c", script, NULL);
    if (run.code != 0 && run.code != 5)
        print_error("%s\n", run.err);
    assert_true(run.code == 0 || run.code == 5);
    rig_free(&run);
    document = json_load_file("profile.json", 0, NULL);
    assert_non_null(document);
    return document;
}

static json_t *profile(const char *script)
{
    return profile_as(NULL, script);
}

static json_int_t number(const char *object, const char *key)
{
    json_t *from = object != NULL ? json_object_get(document, object) : document;
    return json_integer_value(json_object_get(from, key));
}

static double share(const char *kind)
{
    return json_number_value(json_object_get(json_object_get(document, "shares"), kind));
}

TEST(children_at_the_same_time_are_all_counted)
{
    profile("for i in 1 2 3 4; do dd if=/dev/zero of=f$i bs=4k count=500 status=none & done; wait");
    assert_int_equal(number("requests", "write"), 2000);
    assert_int_equal(number("bytes", "write"), 2000 * 4096);
    assert_close(share("seq_write"), 1, 0.001);
    assert_int_equal(number(NULL, "processes") >= 5, 1);
}

TEST(a_position_that_processes_share_goes_on)
{
    rig_write_blocks("shared", 400 * 4096);
    profile("for i in 1 2 3 4; do dd bs=4k count=100 of=/dev/null status=none; done <shared");
    assert_int_equal(number("requests", "read"), 400);
    assert_int_equal(number(NULL, "footprint_bytes"), 400 * 4096);
    assert_close(share("seq_read"), 1, 0.01);
}

TEST(what_is_appended_follows_the_end_of_the_file)
{
    profile("rm -f log; i=0; while [ $i -lt 100 ]; do echo line >>log; i=$((i+1)); done");
    assert_int_equal(number("requests", "write"), 100);
    assert_close(share("seq_write"), 1, 0.02);
}

TEST(a_program_that_is_killed_leaves_what_was_seen)
{
    profile("dd if=/dev/zero of=f bs=4k count=300 status=none; kill -9 $$");
    assert_int_equal(number("requests", "write"), 300);
    assert_int_equal(number(NULL, "exit_status"), 128 + 9);
}

TEST(the_exit_code_of_the_program_is_told)
{
    profile("exit 7");
    assert_int_equal(number(NULL, "exit_status"), 7);
    CHECK_JSON(document, "pattern.name=null");
}

TEST(pipes_and_terminals_are_no_files)
{
    profile("dd if=/dev/zero bs=4k count=100 status=none | dd of=/dev/null bs=4k status=none");
    assert_int_equal(number("requests", "read") + number("requests", "write"), 0);
}

TEST(flushes_and_durable_writes_are_told_apart)
{
    profile("dd if=/dev/zero of=f bs=4k count=100 oflag=dsync status=none");
    CHECK_JSON(document, "sync.kind=each");
    profile("dd if=/dev/zero of=f bs=4k count=100 conv=fsync status=none");
    CHECK_JSON(document, "sync.kind=end");
}

TEST(the_smallest_store_counts_the_same)
{
    struct rig_run run = {0};
    rig_run_line(&run, "profile --store 32k --json -- dd if=/dev/zero of=f bs=4k count=1000 status=none");
    assert_int_equal(run.code, 0);
    json_t *small = rig_json(&run);
    CHECK_JSON(small, "requests.write=1000");
    json_decref(small);
    rig_free(&run);
}

TEST(a_recording_ends_before_the_program_does)
{
    struct rig_run run = {0};
    rig_run(&run, NULL, "profile", "--duration", "1s", "--json", "--", "sh", "-c",
            "dd if=/dev/zero of=f bs=4k count=100 status=none; sleep 3; dd if=/dev/zero of=f bs=4k count=100 "
            "status=none; "
            "echo went on >end",
            NULL);
    assert_int_equal(run.code, 0);
    json_t *part = rig_json(&run);
    CHECK_JSON(part, "requests.write=100");
    json_decref(part);
    rig_free(&run);
    assert_true(rig_exists("end"));
}

static void run_forbidden(const char *role)
{
    struct rig_run run = {0};
    rig_write_blocks("blocks", 128 * 512);
    setenv("PROFILE_TEST_ROLE", role, 1);
    rig_run(&run, NULL, "profile", "--output", "profile.json", "--", program, NULL);
    unsetenv("PROFILE_TEST_ROLE");
    rig_free(&run);
    json_decref(document);
    document = json_load_file("profile.json", 0, NULL);
    assert_non_null(document);
    assert_int_equal(number(NULL, "exit_status"), 0);
}

TEST(a_program_that_forbids_itself_system_calls_goes_on)
{
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    run_forbidden("filter");
    assert_int_equal(number("requests", "read"), 100);
    assert_int_equal(number("unseen", "requests") >= 1, 1);
    run_forbidden("strict");
    assert_int_equal(number("requests", "read"), 1);
}

TEST(what_cannot_be_recorded_is_refused_with_the_reason)
{
    rig_refused("profile", 2, "the command is missing");
    rig_refused("profile ls", 2, "stands behind --");
    rig_refused("profile -- /nowhere/at/all", 2, "/nowhere/at/all");
    rig_refused("profile --import strace", 2, "the file is missing");
    rig_refused("profile --import strace /dev/null", 2, "no line of it");
    if (access("/sbin/ldconfig", X_OK) == 0)
        rig_refused("profile --source preload -- /sbin/ldconfig -p", 2, "statically");
    rig_refused("profile --pid 1 -- ls", 2, "leave the command out");
    rig_refused("profile --pid 1 --source preload", 2, "no library can be loaded");
}

/* By the kernel; the test is skipped where that needs more rights than we have, or another kernel. */
static json_t *trace(const char *script)
{
    struct rig_run run = {0};
    json_decref(document);
    document = NULL;
    rig_run(&run, NULL, "profile", "--source", "trace", "--json", "--", "sh", "-c", script, NULL);
    bool cannot = run.code == 2 && strstr(run.err, "by the kernel") != NULL;
    if (cannot)
        print_message("%s", run.err);
    else
        document = rig_json(&run);
    rig_free(&run);
    if (cannot)
        skip();
    return document;
}

static json_int_t requests_of(const char *file, const char *direction)
{
    size_t i;
    json_t *stream;
    json_int_t n = 0;
    json_array_foreach(json_object_get(document, "streams"), i, stream)
    {
        const char *name = json_string_value(json_object_get(stream, "file"));
        size_t length = strlen(name), part = strlen(file);
        /* Of a program that has ended before we could look there is only the name that it gave. */
        bool is_it = strcmp(name, file) == 0 || (length > part && name[length - part - 1] == '/' &&
                                                 strcmp(name + length - part, file) == 0);
        if (is_it && strcmp(json_string_value(json_object_get(stream, "direction")), direction) == 0)
            n += json_integer_value(json_object_get(stream, "requests"));
    }
    return n;
}

TEST(the_kernel_tells_of_each_request_where_it_was)
{
    trace("dd if=/dev/zero of=appended bs=8k count=300 oflag=append conv=notrunc status=none;"
          "dd if=appended of=copied bs=8k conv=fdatasync status=none; for i in 1 2 3; do echo line >>lines; "
          "done");
    assert_int_equal(requests_of("appended", "write"), 300);
    assert_int_equal(requests_of("appended", "read"), 300);
    assert_int_equal(requests_of("copied", "write"), 300);
    assert_int_equal(requests_of("lines", "write"), 3);
    assert_int_equal(number("requests", "flush"), 1);
    assert_int_equal(number(NULL, "events_lost"), 0);
    assert_true(share("seq_read") + share("seq_write") > 0.98);
}

TEST(a_static_program_is_recorded_by_the_kernel)
{
    if (access("/sbin/ldconfig", X_OK) != 0)
        skip();
    /* It writes the cache of a root folder of its own, in which there is one library. */
    trace("mkdir -p root/etc root/lib; echo /lib >root/etc/ld.so.conf; exec /sbin/ldconfig -r root");
    assert_true(requests_of("ld.so.conf", "read") > 0);
}

TEST(what_is_in_a_ring_is_in_flight_until_the_program_looks)
{
    char script[sizeof program + 64];
    rig_write_blocks("blocks", 64 * 512);
    snprintf(script, sizeof script, "PROFILE_TEST_ROLE=ring exec %s", program);
    trace(script);
    if (number(NULL, "exit_status") == 2)
        skip(); /* this kernel gives no rings */
    assert_int_equal(number(NULL, "exit_status"), 0);
    assert_int_equal(requests_of("blocks", "read"), RING_ROUNDS);
    json_t *depth = json_object_get(document, "queue_depth");
    assert_int_equal(json_integer_value(json_object_get(depth, "max")), RING_DEPTH);
    assert_true(json_number_value(json_object_get(depth, "mean")) > 0.9 * RING_DEPTH);
}

/* fstune is killed while the program runs, which then ends by the same signal. */
static void kill_beside(const char *source)
{
    static const char script[] = "echo $$ >started; mv started pid; exec sleep 20";
    struct rig_run run = {0};
    int status = 0;
    const char *const arguments[] = {"profile", "--source", source, "--", "sh", "-c", script, NULL};
    /* What is left behind becomes ours. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    rig_start(&run, NULL, arguments);
    for (int i = 0; i < 500 && access("pid", R_OK) != 0; i++)
        usleep(10000);
    FILE *in = fopen("pid", "re");
    int pid = 0;
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%9d", &pid), 1);
    fclose(in);
    kill(run.pid, SIGKILL);
    rig_finish(&run);
    rig_free(&run);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(unlink("pid"), 0);
}

TEST(a_program_ends_with_fstune_however_that_ends)
{
    kill_beside("preload");
    trace("true");
    kill_beside("trace");
}

static pid_t write_on(void)
{
    char block[4096] = {0};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = open("endless", O_RDWR | O_CREAT, 0600);
    for (uint64_t i = 0;; i++) {
        if (pwrite(fd, block, sizeof block, (off_t)(i % 64 * 8192)) != sizeof block)
            _exit(1);
        usleep(500);
    }
}

TEST(a_process_that_runs_already_is_recorded_for_a_while)
{
    char pid[32];
    struct rig_run run = {0};
    trace("true");
    pid_t child = write_on();
    snprintf(pid, sizeof pid, "%ld", (long)child);
    rig_run(&run, NULL, "profile", "--pid", pid, "--duration", "500ms", "--json", NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    json_decref(document);
    document = rig_json(&run);
    rig_free(&run);
    assert_true(requests_of("endless", "write") > 64);
    assert_true(share("rand_write") > 0.95);
    assert_true(json_is_null(json_object_get(document, "exit_status")));
}

TEST(a_stop_and_going_on_do_not_end_it)
{
    char pid[32];
    struct rig_run run = {0};
    const char *const arguments[] = {"profile", "--pid", pid, "--json", NULL};
    trace("true");
    pid_t child = write_on();
    snprintf(pid, sizeof pid, "%ld", (long)child);
    rig_start(&run, NULL, arguments);
    usleep(1200000); /* it waits by now */
    bool has_ended = rig_stop_and_go_on(&run);
    kill(run.pid, SIGTERM);
    rig_finish(&run);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(has_ended);
    assert_int_equal(run.code, 128 + SIGTERM);
    rig_free(&run);
}

TEST(a_signal_ends_the_command_with_its_number)
{
    struct rig_run run = {0};
    const char *const arguments[] = {"profile", "--", "sh", "-c", "trap 'exit 0' TERM; sleep 20 & wait",
                                     NULL};
    rig_start(&run, NULL, arguments);
    usleep(500000);
    kill(run.pid, SIGTERM);
    rig_finish(&run);
    assert_int_equal(run.code, 128 + SIGTERM);
    assert_non_null(strstr(run.out, "too little seen"));
    rig_free(&run);
}

TEST(a_load_without_times_has_no_rate)
{
    rig_write("log", "fio version 2 iolog\n/f add\n/f open\n/f write 0 4096\n/f write 4096 4096\n");
    struct rig_run run = {0};
    rig_run_line(&run, "profile --import fio-iolog log --json");
    json_t *profile_of_log = rig_json(&run);
    rig_free(&run);
    CHECK_JSON(profile_of_log, "rate.mean_bps=null");
    json_decref(profile_of_log);
}

TEST(recommend_takes_pattern_factors_and_baseline)
{
    rig_simulator("peak", "", rig_peak_bps);
    rig_write("p.json", "{\"schema\": \"fstune/profile/1\", \"pattern\": {\"name\": \"randwrite\"}, "
                        "\"fixed\": {\"threads\": \"1\"},"
                        " \"current\": {\"request_size\": \"16k\", \"queue_depth\": \"1\", \"direct\": "
                        "\"1\", \"api\": \"psync\"}}");
    json_t *answer = rig_document("recommend --for p.json --simulate peak.conf --seed 3 --budget 10s --json");
    json_t *baseline = json_object_get(answer, "baseline");
    CHECK_JSON(answer, "pattern.name=randwrite");
    CHECK_JSON(baseline, "request_size=16384");
    json_decref(answer);
    rig_write("none.json", "{\"schema\": \"fstune/profile/1\", \"pattern\": {\"name\": null}}");
    rig_refused("recommend --for none.json --simulate peak.conf", 2, "too little was seen");
    rig_refused("recommend --for peak.conf --simulate peak.conf", 2, "no profile");
}
