/* Tests of tuner/report/cross_check_fio: what fio says, and what is made of it. A shell script plays fio. */
#include "tests/tuner/rig.h"
#include "tuner/report/cross_check_fio.h"

#include <errno.h>
#include <signal.h>

static struct err err;
static struct fio_figures figures;
static struct pattern pattern;
static struct point point = {.request_size_bytes = 4096, .queue_depth = 1, .threads = 1};
static struct fio_job job = {
    .pattern = &pattern, .point = &point, .file = "x", .file_bytes = 1 << 20, .io_bytes = 1 << 20};

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 ? -1 : pattern_parse("read", &pattern, NULL);
}

GROUP(enter, rig_leave);

static int parse(const char *text, uint64_t bytes)
{
    err = (struct err){0};
    figures = (struct fio_figures){.throughput_bps = -1};
    return cross_check_fio_parse(text, bytes, 0, &figures, &err);
}

#define SIDE(bytes, ms)  "{\"io_bytes\": " #bytes ", \"runtime\": " #ms "}"
#define JOB(read, write) "{\"error\": 0, \"read\": " read ", \"write\": " write "}"

TEST(bytes_over_run_time_without_its_rounding_is_the_rate)
{
    assert_int_equal(parse("note\n{\"jobs\": [" JOB(SIDE(1001000, 501), SIDE(0, 0)) "]}\n", 1001000), 0);
    assert_close(figures.throughput_bps, 2e6, 1e-6);
    assert_close(figures.span_ms, 501, 0);
    assert_true(figures.span_known);
    assert_int_equal(figures.bytes_read, 1001000);
    assert_int_equal(figures.bytes_written, 0);
}

#define STARTED(start, bytes, ms)                                                                            \
    "{\"error\": 0, \"job_start\": " #start ", \"read\": " SIDE(bytes, ms) ", \"write\": " SIDE(0, 0) "}"

TEST(jobs_have_one_rate_over_the_time_they_share)
{
    const struct {
        const char *text;
        double span_ms;
    } rows[] = {
        {STARTED(1700000000000, 1000000, 500) "," STARTED(1700000000000, 1000000, 500), 500},
        {STARTED(1700000000500, 1000000, 500) "," STARTED(1700000000000, 1000000, 500), 1000},
        {STARTED(1700000000000, 1000000, 900) "," STARTED(1700000000100, 1000000, 300), 900},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"jobs\": [%s]}", rows[i].text);
        assert_int_equal(parse(text, 2000000), 0);
        assert_true(figures.span_known);
        assert_close(figures.span_ms, rows[i].span_ms, 1e-6);
        assert_close(figures.throughput_bps, 2e6 / (rows[i].span_ms - 0.5) * 1e3, 1e-3);
    }
}

/* Older versions, such as 3.33. */
TEST(the_longest_run_time_stands_for_starts_that_are_not_told)
{
    const char *text =
        "{\"jobs\": [" JOB(SIDE(0, 0), SIDE(1001000, 501)) "," JOB(SIDE(0, 0), SIDE(2001000, 1001)) "]}";
    assert_int_equal(parse(text, 3002000), 0);
    assert_false(figures.span_known);
    assert_close(figures.span_ms, 1001, 0);
    assert_close(figures.throughput_bps, 3002000 / 1.0005, 1e-3);
    assert_int_equal(figures.bytes_written, 3002000);
}

TEST(both_sides_of_a_mix_share_the_run_time)
{
    assert_int_equal(parse("{\"jobs\": [" JOB(SIDE(600600, 501), SIDE(400400, 501)) "]}", 1001000), 0);
    assert_close(figures.throughput_bps, 2e6, 1e-6);
}

TEST(other_bytes_than_asked_for_are_an_error)
{
    assert_int_equal(parse("{\"jobs\": [" JOB(SIDE(1000000, 501), SIDE(0, 0)) "]}", 1000001), -EIO);
    assert_contains(err.text, "1000000 bytes where it was to move 1000001");
    assert_close(figures.throughput_bps, -1, 0);
}

TEST(requests_of_two_sizes_may_end_a_little_later)
{
    const char *text = "{\"jobs\": [" JOB(SIDE(1000000, 501), SIDE(0, 0)) "]}";
    assert_int_equal(cross_check_fio_parse(text, 999000, 1000, &figures, &err), 0);
    assert_int_equal(cross_check_fio_parse(text, 999000, 999, &figures, &err), -EIO);
    assert_int_equal(cross_check_fio_parse(text, 1000001, 1000, &figures, &err), -EIO);
}

TEST(what_is_not_of_fio_is_refused)
{
    static const char *const texts[] = {
        "",
        "fio",
        "{",
        "{}",
        "[]",
        "{\"jobs\": []}",
        "{\"jobs\": 3}",
        "{\"jobs\": [{}]}",
        "{\"jobs\": [1]}",
        "{\"jobs\": [{\"error\": 0, \"read\": {\"io_bytes\": \"many\"}}]}",
    };
    for (size_t i = 0; i < N_OF(texts); i++)
        assert_int_equal(parse(texts[i], 1), -EPROTO);
}

TEST(a_failed_job_is_an_error)
{
    assert_int_equal(parse("{\"jobs\": [{\"error\": 28}]}", 1), -EIO);
    assert_contains(err.text, "error 28");
}

static int run(void)
{
    err = (struct err){0};
    return cross_check_fio_run(&job, 5000000000, NULL, &figures, &err);
}

TEST(a_run_reads_its_job_and_gives_its_figures)
{
    rig_play("fio", "cat >job; echo \"$@\" >arguments\n"
                    "echo '{\"jobs\": [" JOB(SIDE(1048576, 1000), SIDE(0, 0)) "]}'");
    assert_int_equal(run(), 0);
    assert_close(figures.throughput_bps, 1048576 / 0.9995, 1);
    assert_int_equal(system("grep -q '^filename=x$' job && grep -q -e '--readonly' arguments"), 0);
    assert_int_equal(pattern_parse("randrw", &pattern, NULL), 0);
    assert_int_equal(run(), 0);
    assert_int_equal(system("grep -q -e '--readonly' arguments"), 256);
    assert_int_equal(pattern_parse("read", &pattern, NULL), 0);
}

TEST(a_failure_is_told_in_its_first_line)
{
    rig_play("fio", "printf '\\nfio: pid=3, err=22/Invalid argument\\nmore\\n' >&2; exit 1");
    assert_int_equal(run(), -EIO);
    assert_string_equal(err.text, "fio failed: pid=3, err=22/Invalid argument");
    rig_play("fio", "echo 'Bad option <x=y>'; exit 1");
    assert_int_equal(run(), -EIO);
    assert_string_equal(err.text, "fio failed: Bad option <x=y>");
    rig_play("fio", "exit 9");
    assert_int_equal(run(), -EIO);
    assert_string_equal(err.text, "fio failed with exit code 9 and without a word");
    rig_play("fio", "kill -KILL $$");
    assert_int_equal(run(), -EIO);
    assert_string_equal(err.text, "fio died of signal 9");
}

TEST(its_version_is_read)
{
    char version[8] = "";
    rig_play("fio", "echo fio-3.41-dirty-and-long");
    assert_int_equal(cross_check_fio_version(NULL, version, sizeof version, &err), 0);
    assert_string_equal(version, "3.41-di");
    rig_play("fio", "echo 'I am something else'");
    assert_int_equal(cross_check_fio_version(NULL, version, sizeof version, &err), -EIO);
}

TEST(where_it_is_missing_the_package_is_named)
{
    need_spawn_errors();
    char version[8] = "";
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(cross_check_fio_version(NULL, version, sizeof version, &err), -ENOENT);
    assert_string_equal(err.text, "--cross-check: fio is not installed; install the package fio");
}
