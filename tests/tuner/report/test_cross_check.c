/* Tests of tuner/report/cross_check: the verdict, and whole programs with a shell script in fio's place. */
#include "bench/target/target.h"
#include "tests/tuner/rig.h"
#include "tuner/report/cross_check.h"

#include <signal.h>

static struct rig_run run;

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_write_blocks("data", 16 << 20);
    return 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define VERSION "[ \"$1\" != --version ] || { echo fio-9.9; exit; }\n"

/* Moves nothing, in 1000 ms, and says that it moved everything; "log" has a line for every run. */
#define PLAYED_RUN                                                                                           \
    "cat >job; bytes=$(sed -n 's/^io_size=//p' job); echo $bytes >>log\n"                                    \
    "file=$(sed -n 's/^filename=//p' job); stat -L -c %s \"$file\" >size\n"                                  \
    "w=0; r=$bytes; if grep -q '^rw=.*write' job; then w=$bytes; r=0; fi\n"                                  \
    "echo \"{\\\"jobs\\\": [{\\\"error\\\": 0, \\\"read\\\": {\\\"io_bytes\\\": $r, \\\"runtime\\\": "       \
    "1000}, "                                                                                                \
    "\\\"write\\\": {\\\"io_bytes\\\": $w, \\\"runtime\\\": 1000}}]}\""

#define MEASURE                                                                                              \
    "measure --quiet --no-lock --json --request-size 4k --queue-depth 1 --direct 0 --api psync "             \
    "--duration 50ms --existing data --cross-check fio "

static struct cross_check_result judge(const double *own, const double *other, size_t n)
{
    return cross_check_judge(moments_of_logs(own, n), other, n, 0.95);
}

TEST(equal_runs_agree)
{
    const double own[] = {100, 101, 102}, other[] = {101, 102, 100};
    struct cross_check_result result = judge(own, other, 3);
    assert_true(result.known && result.agrees);
    assert_null(result.why_not);
    assert_close(result.ratio, 1, 1e-12);
    assert_close(result.mean_bps, 101, 1e-9);
    assert_true(result.interval.low < 1 && result.interval.high > 1);
}

TEST(a_small_difference_that_is_sure_agrees)
{
    const double own[] = {102.00, 102.01, 102.02}, other[] = {100.00, 100.01, 100.02};
    struct cross_check_result result = judge(own, other, 3);
    assert_true(result.interval.low > 1.01);
    assert_true(result.agrees);
}

TEST(a_large_difference_agrees_only_within_the_scatter)
{
    const double low[] = {100, 101, 102}, high[] = {110, 111, 112}, wide[] = {60, 110, 190};
    struct cross_check_result result = judge(high, low, 3);
    assert_true(result.known && !result.agrees);
    assert_non_null(strstr(result.why_not, "fstune is more than 3 % faster"));
    result = judge(low, high, 3);
    assert_non_null(strstr(result.why_not, "fio is more than 3 % faster"));
    assert_true(!result.coarse);
    result = judge(wide, low, 3);
    assert_true(result.agrees && result.coarse);
}

TEST(the_ratio_is_that_of_geometric_means_with_welchs_interval)
{
    const double own[] = {1, 2, 4}, other[] = {1, 1, 8};
    struct cross_check_result result = judge(own, other, 3);
    assert_close(result.ratio, 1, 1e-12);
    /* logs: variances ln2^2 and 3 ln2^2, so se = ln2 sqrt(4/3) and df = (4/3)^2 / (5/9) = 3.2; t = 3.0728 */
    assert_close(log(result.interval.high), 3.0728 * log(2) * sqrt(4.0 / 3), 1e-3);
}

TEST(too_few_runs_have_no_interval)
{
    const double own[] = {100, 101}, other[] = {120, 121};
    struct cross_check_result result = judge(own, other, 2);
    assert_true(!result.known && !result.agrees && isnan(result.interval.low));
    result = cross_check_judge((struct moments){0}, NULL, 0, 0.95);
    assert_true(!result.known && !result.agrees && isnan(result.ratio));
}

TEST(every_replay_has_its_run_of_the_same_bytes)
{
    rig_play("fio", VERSION PLAYED_RUN);
    json_auto_t *document = rig_document(MEASURE "--pattern randread --replays 6");
    CHECK_JSON(document, "cross_check.tool=fio", "cross_check.version=9.9", "cross_check.replays=6");
    /* The second pair begins with fio, which only has the first replay to go by. */
    double bytes = json_number_at(document, "runs.0.moved_bytes");
    assert_close(json_number_at(document, "cross_check.runs.0"), bytes / 0.9995, 2);
    assert_close(json_number_at(document, "cross_check.runs.1"), bytes / 0.9995, 2);
    assert_int_equal(system("[ $(wc -l <log) = 6 ] && [ $(cat size) = 16777216 ] && rm log"), 0);
}

/* As versions before job_start do, of two jobs: their rates may have been one after the other. */
TEST(without_the_starts_of_jobs_there_is_no_verdict)
{
    rig_play("fio", VERSION "cat >job; bytes=$(( $(sed -n 's/^io_size=//p' job) ))\n"
                            "side=\"{\\\"io_bytes\\\": $bytes, \\\"runtime\\\": 1}\"\n"
                            "none='{\"io_bytes\": 0, \"runtime\": 0}'\n"
                            "one=\"{\\\"error\\\": 0, \\\"read\\\": $side, \\\"write\\\": $none}\"\n"
                            "echo \"{\\\"jobs\\\": [$one, $one]}\"");
    json_auto_t *document = rig_document(MEASURE "--pattern randread --threads 2 --replays 4");
    CHECK_JSON(
        document, "cross_check.agrees=null",
        "cross_check.why_not=cannot be known: this fio does not tell when its jobs began, and looks too "
        "fast where they ran one after the other");
}

/* What the runs of the script in fio's place were to move; the log is removed. */
static double logged_bytes(void)
{
    double sum = 0, bytes;
    FILE *file = fopen("log", "r");
    assert_non_null(file);
    while (fscanf(file, "%lf", &bytes) == 1)
        sum += bytes;
    fclose(file);
    assert_int_equal(unlink("log"), 0);
    return sum;
}

TEST(its_writes_count)
{
    rig_play("fio", VERSION PLAYED_RUN);
    json_auto_t *document = rig_document(MEASURE "--pattern write --overwrite --replays 3 --max-write 1g");
    const json_t *item;
    size_t i;
    double bytes = logged_bytes();
    json_array_foreach(json_at(document, "runs"), i, item) bytes += json_number_at(item, "moved_bytes");
    /* The proof of direct I/O counts too, and what a run wrote that something disturbed from outside and that
     * was repeated. */
    double more = json_number_at(document, "bytes_written") - bytes;
    bool repeated = false;
    json_array_foreach(json_at(document, "warnings"), i, item) repeated |=
        strcmp(json_string_value(json_at(item, "code")), "run_repeated") == 0;
    assert_true(more >= 0 && (repeated || more <= (double)TARGET_PROOF_MOST_BYTES));
}

TEST(its_failure_ends_the_command)
{
    rig_play("fio", VERSION "echo 'fio: engine psync not loadable' >&2; exit 1");
    rig_refused(MEASURE "--pattern randread --replays 2", 1, "fio failed: engine psync not loadable");
}

TEST(without_fio_nothing_is_measured)
{
    setenv("PATH", "/nowhere", 1);
    rig_refused(MEASURE "--pattern randread", 1, "install the package fio");
}

TEST(an_interrupt_ends_fio_too)
{
    static const char *const arguments[] = {
        "measure",       "--quiet",  "--no-lock",  "--json", "--request-size", "4k",
        "--queue-depth", "1",        "--direct",   "0",      "--api",          "psync",
        "--duration",    "50ms",     "--existing", "data",   "--cross-check",  "fio",
        "--pattern",     "randread", NULL};
    rig_play("fio", VERSION "echo $$ >pid.tmp; mv pid.tmp pid; exec sleep 100");
    rig_start(&run, NULL, arguments);
    for (int i = 0; i < 1000 && !rig_exists("pid"); i++)
        usleep(10000);
    assert_int_equal(kill(run.pid, SIGINT), 0);
    rig_finish(&run);
    assert_int_equal(run.code, 128 + SIGINT);
    json_auto_t *document = rig_json(&run);
    CHECK_JSON(document, "interrupted=true", "cross_check.replays=0");
    rig_free(&run);
    assert_int_not_equal(system("kill -0 $(cat pid) 2>/dev/null"), 0);
    assert_int_equal(unlink("pid"), 0);
}

TEST(what_fio_cannot_do_is_refused)
{
    rig_refused("measure --quiet --pattern randwrite --request-size 4k --queue-depth 1 --direct 0 --api "
                "psync --simulate peak.conf --cross-check fio",
                2, "simulated surface");
    rig_refused("measure --quiet --pattern read --request-size 4k --queue-depth 2 --direct 0 --api pvec "
                "--existing data --cross-check fio",
                2, "pvec");
    rig_refused(MEASURE "--pattern read --cross-check iozone", 2, "--cross-check: ");
}

/* The text of `recommend --fio-job` stands in tests/golden (recommend-quiet). */
TEST(the_job_is_in_the_document)
{
    json_auto_t *document = rig_document(
        "measure --json --quiet --pattern randwrite --request-size 64k --queue-depth 4 --direct 1 "
        "--api io_uring --simulate peak.conf --fio-job");
    const char *text = json_string_value(json_at(document, "fio_job"));
    assert_non_null(text);
    CHECK_HAS(text, "simulated surface", "\niodepth=4\n");
}
