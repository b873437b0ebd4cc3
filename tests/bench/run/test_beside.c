/* Tests of bench/run/beside: what is due is counted, whatever became of it. */
#include "bench/run/beside.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>

#define FILE_BYTES    (4 * MIB)
#define REQUEST_BYTES 4096
#define RUN_NS        (CLOCK_NS_PER_S / 10)

static struct beside beside;
static struct err err;

static void give_load(const char *pattern, uint64_t rate_bps, uint32_t queue_depth)
{
    struct beside_load *load = &beside.load[beside.n];
    *load = (struct beside_load){
        .request_bytes = REQUEST_BYTES, .queue_depth = queue_depth, .rate_bps = rate_bps};
    assert_int_equal(pattern_parse(pattern, &load->pattern, &err), 0);
    struct target_plan plan = {.directory = directory,
                               .size_bytes = FILE_BYTES,
                               .max_write_bytes = UINT64_MAX,
                               .clock = &clock_monotonic};
    assert_int_equal(target_create(&beside.target[beside.n], &plan, &err), 0);
    beside.n++;
}

FIXTURE(enter)
{
    (void)test_state;
    beside = (struct beside){.clock = &clock_monotonic, .seed = 1};
    err = (struct err){0};
    return 0;
}

FIXTURE(leave)
{
    (void)test_state;
    beside_stop(&beside, NULL);
    for (size_t i = 0; i < beside.n; i++)
        target_close(&beside.target[i]);
    return 0;
}

EACH_TEST(enter, leave);

static void run_for_a_while(void)
{
    assert_int_equal(beside_start(&beside, &err), 0);
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + RUN_NS);
    assert_int_equal(beside_stop(&beside, &err), 0);
}

static uint64_t n_done(size_t load)
{
    return (beside.figures[load].bytes_read + beside.figures[load].bytes_written) / REQUEST_BYTES;
}

/* Of each lane one may have become due while the threads ended. */
static void check_all_due_count(size_t load)
{
    const struct beside_load *asked = &beside.load[load];
    double due = beside.figures[load].seconds * (double)asked->rate_bps / REQUEST_BYTES;
    double n = (double)beside.figures[load].latency.n;
    if (n < due - asked->queue_depth - 1)
        fail_msg("%.0f of %.1f requests are counted", n, due);
    assert_true(n_done(load) <= beside.figures[load].latency.n);
}

TEST(every_request_that_was_due_counts)
{
    give_load("randwrite", 100 * REQUEST_BYTES, 1);
    give_load("randread", 200 * REQUEST_BYTES, 4);
    run_for_a_while();
    for (size_t i = 0; i < 2; i++)
        check_all_due_count(i);
    assert_int_equal(beside.figures[0].bytes_read, 0);
    assert_int_equal(beside.figures[1].bytes_written, 0);
    assert_true(n_done(0) > 0 && n_done(1) > 0);
}

/* No device serves so many: most are never sent, and count with the time that they were late. */
TEST(what_never_began_counts_as_late)
{
    give_load("randwrite", 1ULL << 40, 1);
    beside.load[0].sync_each = true;
    run_for_a_while();
    check_all_due_count(0);
    uint64_t median_ns = 0;
    assert_int_equal(histogram_quantile_ns(&beside.figures[0].latency, 0.5, &median_ns), 0);
    assert_true(n_done(0) < beside.figures[0].latency.n / 2);
    /* Due evenly, so that half of them waited for half of the time. */
    assert_true((double)median_ns > 0.4e9 * beside.figures[0].seconds);
}

TEST(without_a_rate_each_follows_the_last)
{
    give_load("rw:50", 0, 2);
    run_for_a_while();
    assert_int_equal(n_done(0), beside.figures[0].latency.n);
    assert_true(beside.figures[0].bytes_read > 0 && beside.figures[0].bytes_written > 0);
}

TEST(each_time_has_figures_of_its_own)
{
    give_load("read", 100 * REQUEST_BYTES, 1);
    run_for_a_while();
    run_for_a_while();
    assert_true((double)n_done(0) <= beside.figures[0].seconds * 100 + 2);
}

TEST(failed_request_is_told_when_it_is_stopped)
{
    give_load("randread", 0, 1);
    assert_int_equal(ftruncate(beside.target[0].fd, REQUEST_BYTES), 0);
    assert_int_equal(beside_start(&beside, &err), 0);
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + RUN_NS);
    assert_int_equal(beside_stop(&beside, &err), -ESTALE);
    assert_non_null(strstr(err.text, "a load beside failed"));
}

TEST(load_that_has_no_room_is_refused_and_nothing_runs)
{
    give_load("randread", 0, 64);
    beside.load[0].request_bytes = MIB;
    assert_int_equal(beside_start(&beside, &err), -EFBIG);
    assert_null(beside.lanes);
    assert_int_equal(beside_stop(&beside, &err), 0);
}

/* Reads are not bounded, and the next start has all of it again. */
TEST(writes_end_at_their_limit)
{
    give_load("randwrite", 0, 4);
    give_load("randread", 100 * REQUEST_BYTES, 1);
    beside.most_write_bytes = 10 * REQUEST_BYTES + 1;
    for (unsigned i = 0; i < 2; i++) {
        run_for_a_while();
        assert_true(atomic_load(&beside.spent));
        assert_int_equal(beside.figures[0].bytes_written, 10 * REQUEST_BYTES);
    }
    beside.most_write_bytes = UINT64_MAX;
    run_for_a_while();
    assert_false(atomic_load(&beside.spent));
}
