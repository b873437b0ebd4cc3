/* Tests of fstune analyse on recordings of real programs: what the database says is what was told when the
 * program ran, and fio and gprof read what is written. */
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <sys/wait.h>

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

#define ROUNDS 400

/* Two functions whose times differ by far. */
__attribute__((noinline)) static double burn(long n)
{
    volatile double x = 1;
    for (long i = 0; i < n; i++)
        x = x / 1.0000001 + 1e-9;
    return x;
}

__attribute__((noinline)) static double glow(long n)
{
    volatile double x = 1;
    for (long i = 0; i < n; i++)
        x = x / 1.0000001 + 1e-9;
    return x;
}

/* This program again, as the one that is recorded. */
__attribute__((constructor)) static void act_as_program(void)
{
    char block[512];
    if (getenv("ANALYSE_TEST_ROLE") == NULL)
        return;
    int fd = open("blocks", O_RDWR | O_CLOEXEC);
    double sum = 0;
    for (int i = 0; i < ROUNDS && fd >= 0; i++) {
        off_t at = i * 7 % 64 * 512;
        if (pread(fd, block, sizeof block, at) != sizeof block)
            _exit(2);
        if (i % 4 == 3 && (pwrite(fd, block, sizeof block, at) != sizeof block || fdatasync(fd) != 0))
            _exit(2);
        sum += burn(200000) + glow(20000);
    }
    _exit(fd >= 0 && sum > 0 ? 0 : 2);
}

/* The profile that was told then. */
static json_t *record(void)
{
    char self[4096] = "", script[4200];
    struct rig_run run = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(script, sizeof script, "ANALYSE_TEST_ROLE=1 exec %s", self);
    unlink("e.db");
    rig_write_blocks("blocks", 64 * 512);
    rig_run(&run, NULL, "profile", "--save-events", "e.db", "--json", "--", "sh", "-c", script, NULL);
    bool cannot = run.code == 2 && strstr(run.err, "by the kernel") != NULL;
    json_t *profile = cannot ? NULL : rig_json(&run);
    if (cannot)
        print_message("%s", run.err);
    rig_free(&run);
    if (cannot)
        skip();
    return profile;
}

static json_t *member(json_t *of, const char *object, const char *key)
{
    return json_object_get(json_object_get(of, object), key);
}

TEST(the_database_says_what_was_told_then)
{
    json_t *then = record(), *now = rig_document("analyse e.db --as profile");
    assert_int_equal(json_integer_value(member(now, "requests", "write")), ROUNDS / 4);
    static const char *const same[] = {"requests",     "bytes",           "shares",  "request_size", "sync",
                                       "direct_share", "footprint_bytes", "pattern", "fixed"};
    for (size_t i = 0; i < N_OF(same); i++) {
        if (!json_equal(json_object_get(then, same[i]), json_object_get(now, same[i])))
            fail_msg("%s differs", same[i]);
    }
    assert_close(json_number_value(member(now, "queue_depth", "mean")),
                 json_number_value(member(then, "queue_depth", "mean")), 0.01);
    json_decref(then);
    json_decref(now);
}

TEST(fio_repeats_the_iolog)
{
    if (access("/usr/bin/fio", X_OK) != 0)
        skip();
    json_decref(record());
    struct rig_run run = {0};
    rig_run_line(&run, "analyse e.db --as fio-iolog --output log");
    assert_int_equal(run.code, 0);
    rig_free(&run);
    assert_int_equal(system("truncate -s 16m fstune-replay && fio --name=replay --read_iolog=log "
                            "--replay_no_stall=1 --output-format=json --output=report"),
                     0);
    json_t *report = json_load_file("report", 0, NULL);
    json_t *job = json_array_get(json_object_get(report, "jobs"), 0);
    assert_true(json_integer_value(member(job, "read", "total_ios")) >= ROUNDS);
    assert_int_equal(json_integer_value(member(job, "write", "total_ios")), ROUNDS / 4);
    json_decref(report);
}

TEST(gprof_names_the_hottest_function)
{
    char line[4400], self[4096] = "", found[64] = "";
    if (access("/usr/bin/gprof", X_OK) != 0)
        skip();
    json_decref(record());
    struct rig_run run = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    rig_run(&run, NULL, "analyse", "e.db", "--as", "gmon", "--object", self, NULL);
    bool cannot = strstr(run.err, "no samples of the processor") != NULL;
    if (!cannot)
        assert_int_equal(run.code, 0);
    rig_free(&run);
    if (cannot)
        skip();
    snprintf(line, sizeof line, "gprof -b -p %s gmon.out | awk 'NR==6 { print $NF }' >hottest", self);
    assert_int_equal(system(line), 0);
    FILE *in = fopen("hottest", "re");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%63s", found), 1);
    fclose(in);
    assert_string_equal(found, "burn");
}

TEST(what_was_kept_before_a_kill_is_read)
{
    struct rig_run run = {0};
    json_decref(record());
    const char *const arguments[] = {"profile",
                                     "--save-events",
                                     "e.db",
                                     "--",
                                     "sh",
                                     "-c",
                                     "while :; do dd if=blocks of=/dev/null bs=512 status=none; done",
                                     NULL};
    rig_start(&run, NULL, arguments);
    sleep(3);
    kill(run.pid, SIGKILL);
    rig_finish(&run);
    rig_free(&run);
    rig_run_line(&run, "analyse e.db");
    assert_non_null(strstr(run.out, "was killed"));
    rig_free(&run);
    rig_run_line(&run, "analyse e.db --run 1 --as profile");
    assert_int_equal(run.code, 0);
    rig_free(&run);
}

TEST(what_cannot_be_kept_is_refused)
{
    rig_refused("profile --save-events e.db --source preload -- true", 2, "leave --source out");
    rig_refused("analyse", 2, "the database is missing");
    rig_refused("analyse none.db", 2, "there is no such file");
}
