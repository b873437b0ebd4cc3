/* Ways of writing a burst: costs that can be worked out by hand, crossings, bursts in a row. */
#include "models/cawl/cawl_advice.h"
#include "tests/test.h"

#include <errno.h>

/* Round numbers; a copied request of 360,000 bytes takes 90 us of the 100 us that a synchronous call costs.
 */
static const struct cawl_host host = {
    .bw_mem_bps = 8e9,
    .bw_ramdisk_bps = 4e9,
    .bw_ramdisk_first_touch_bps = 1e9,
    .bw_reduced_bps = 2e9,
    .bw_dev_bps = 5e8,
    .bw_rdev_bps = 1e9,
    .sc_w_s = 0,
    .sc_sw_s = 1e-4,
    .c_sk_s = 5e-3,
    .bs_bytes = 512,
    .bf_bytes = 4096,
    .limit_bg_bytes = 4e8,
    .limit_hard_bytes = 8e8,
    .dirty_expire_s = 30,
};
static const struct cawl_options plain;
static struct cawl_advice_memo memo;

/* Empty. */
static struct cawl_advice_memo *no_memo(void)
{
    memo.n = 0;
    return &memo;
}

static struct cawl_advice_cost cost_with(const struct cawl_host *of, const struct cawl_options *options,
                                         struct cawl_advice_burst burst)
{
    struct cawl_advice_cost cost;
    assert_int_equal(cawl_advice_cost(of, options, &burst, &cost), 0);
    return cost;
}

static struct cawl_advice_cost cost_of(struct cawl_advice_burst burst)
{
    return cost_with(&host, &plain, burst);
}

static struct cawl_advice_crossing at[CAWL_ADVICE_MAX_CROSSINGS];

/* Between these sizes, with an empty memory; how many, which are in `at`. */
static size_t n_crossings(const struct cawl_host *of, uint64_t request_bytes, enum cawl_advice_way first,
                          enum cawl_advice_way second, double lead, uint64_t from, uint64_t to)
{
    struct cawl_advice_burst burst = {.bytes = 1, .request_bytes = request_bytes};
    size_t n = 99;
    assert_int_equal(
        cawl_advice_crossings(of, &plain, &burst, first, second, lead, from, to, no_memo(), at, &n), 0);
    return n;
}

TEST(small_burst_costs_what_the_formulas_say)
{
    struct cawl_advice_cost cost =
        cost_of((struct cawl_advice_burst){.bytes = 4000000, .request_bytes = 400000});
    double copy_s = 4e6 / 4e9, device_s = 4e6 / 5e8;
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], copy_s, 1e-9);
    assert_close(cost.dirty_bytes, 4e6, 1);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED], copy_s + device_s + 1e-4, 1e-9);
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], device_s + 10e-4, 1e-9);
    /* 400,000 = 781 blocks and 128 bytes: the last block of each request is read and written. */
    double fit_s = 10 * 781 * 512.0 / 5e8, rest_s = 10 * (512 / 1e9 + 512 / 5e8);
    assert_close(cost.seconds[CAWL_ADVICE_SYNC], 10e-4 + copy_s + fit_s + rest_s, 1e-9);
    assert_false(cost.piles_up);
}

TEST(last_request_may_be_smaller)
{
    struct cawl_advice_cost cost =
        cost_of((struct cawl_advice_burst){.bytes = 1000000, .request_bytes = 409600});
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], 3e-4 + 1e6 / 5e8, 1e-9);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 1e6 / 4e9, 1e-9);
    cost = cost_of((struct cawl_advice_burst){.bytes = 100, .request_bytes = 409600});
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], 1e-4 + 100 / 5e8, 1e-9);
}

TEST(random_requests_pay_a_seek_past_the_cache_only)
{
    struct cawl_advice_burst burst = {.bytes = 4096000, .request_bytes = 4096};
    struct cawl_advice_cost sequential = cost_of(burst);
    burst.random = true;
    struct cawl_advice_cost random = cost_of(burst);
    /* A file's first request does not seek. */
    assert_close(random.seconds[CAWL_ADVICE_DIRECT] - sequential.seconds[CAWL_ADVICE_DIRECT], 999 * 5e-3,
                 1e-9);
    assert_close(random.seconds[CAWL_ADVICE_BUFFERED], sequential.seconds[CAWL_ADVICE_BUFFERED], 1e-12);
}

TEST(joined_requests_cost_their_calls)
{
    struct cawl_host slow_calls = host;
    struct cawl_advice_burst burst = {.bytes = 300000000, .request_bytes = 1000};
    slow_calls.sc_w_s = 1e-6;
    struct cawl_advice_cost cost = cost_with(&slow_calls, &plain, burst);
    /* The last chunk of joined requests may be a part of one: at most that much too much. */
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 300000 * 1e-6 + 3e8 / 4e9, 300000 * 1e-6 / 2000);
}

TEST(small_pieces_of_joined_requests_are_those_of_each)
{
    const struct cawl_options small = {.small_calls = true};
    struct cawl_host small_host = host;
    struct cawl_advice_burst burst = {.bytes = 4000000, .request_bytes = 400000};
    small_host.bw_page_bps = 1e9; /* 0.75 ns a byte more than in large pieces */
    small_host.bw_buffer_bps = 1e9;
    struct cawl_advice_cost cost = cost_with(&small_host, &small, burst);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 4e6 / 4e9 + 10 * 16384 * 0.75e-9, 1e-9);
    burst = (struct cawl_advice_burst){.bytes = 300000000, .request_bytes = 1000};
    cost = cost_with(&small_host, &small, burst);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 3e8 / 4e9 + 3e8 * 0.75e-9, 3e8 * 0.75e-9 / 2000);
}

/* 4 MB take 8 ms of direct writes, and 4 ms when the kernel writes them. */
TEST(the_flush_is_as_fast_as_the_kernel)
{
    const struct cawl_options writeback = {.writeback = true};
    struct cawl_host kernel = host;
    struct cawl_advice_burst burst = {.bytes = 4000000, .request_bytes = 400000};
    kernel.bw_writeback_bps = 1e9;
    struct cawl_advice_cost cost = cost_with(&kernel, &writeback, burst);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED] - cost.seconds[CAWL_ADVICE_BUFFERED], 4e-3 + 1e-4, 1e-9);
    burst.interval_s = 0.005;
    cost = cost_with(&kernel, &writeback, burst);
    assert_false(cost.piles_up);
    assert_true(cost_of(burst).piles_up);
}

TEST(untouched_memory_takes_longer)
{
    struct cawl_options untouched = {.first_touch = true};
    struct cawl_advice_burst burst = {.bytes = 4000000, .request_bytes = 400000};
    struct cawl_advice_cost cost = cost_with(&host, &untouched, burst);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 4e6 / 1e9, 1e-9);
}

/* Both write their 4 MB at half of the device, and blocks are found for both. */
TEST(two_writers_share_device_and_allocation)
{
    const struct cawl_options both = {.n_writers = 2, .allocation_bps = 1e9};
    struct cawl_advice_burst burst = {.bytes = 4000000, .request_bytes = 400000};
    struct cawl_advice_cost cost = cost_with(&host, &both, burst);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED] - cost.seconds[CAWL_ADVICE_BUFFERED],
                 8e6 / 5e8 + 8e6 / 1e9 + 1e-4, 1e-9);
    /* 8 ms are enough for one writer, not for two. */
    burst.interval_s = 0.009;
    assert_false(cost_of(burst).piles_up);
    const struct cawl_options two = {.n_writers = 2};
    cost = cost_with(&host, &two, burst);
    assert_true(cost.piles_up);
}

/* Until durable, buffered wins once its one flush costs less than the calls that it spares: n requests save
 * n x 100 us and cost n x 90 us and 100 us. */
TEST(crossing_is_where_ten_requests_are)
{
    struct cawl_host small = host;
    /* A device so fast that the calls are what differs. */
    small.bw_dev_bps = 1e15;
    small.limit_bg_bytes = 1e10;
    small.limit_hard_bytes = 2e10;
    assert_int_equal(
        n_crossings(&small, 360000, CAWL_ADVICE_FLUSHED, CAWL_ADVICE_DIRECT, 1, 360000, 360000000), 1);
    assert_false(at[0].first_below);
    assert_close(at[0].bytes, 3600000, 370000);
    assert_int_equal(
        n_crossings(&small, 360000, CAWL_ADVICE_DIRECT, CAWL_ADVICE_FLUSHED, 1, 360000, 360000000), 1);
    assert_true(at[0].first_below);
}

TEST(clear_lead_of_the_cache_fades_with_the_burst)
{
    struct cawl_advice_burst burst = {.bytes = 1, .request_bytes = 10000000};
    assert_int_equal(
        n_crossings(&host, 10000000, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_DIRECT, 1.1, 100000000, 100000000000),
        1);
    assert_true(at[0].first_below);
    /* At its ends the lead is where it should be. */
    burst.bytes = (uint64_t)(at[0].bytes * 0.8);
    struct cawl_advice_cost below = cost_of(burst);
    burst.bytes = (uint64_t)(at[0].bytes * 1.25);
    struct cawl_advice_cost above = cost_of(burst);
    assert_true(below.seconds[CAWL_ADVICE_DIRECT] > 1.1 * below.seconds[CAWL_ADVICE_BUFFERED]);
    assert_true(above.seconds[CAWL_ADVICE_DIRECT] < 1.1 * above.seconds[CAWL_ADVICE_BUFFERED]);
}

TEST(what_was_worked_out_is_remembered)
{
    struct cawl_advice_burst burst = {.bytes = 4000000, .request_bytes = 400000};
    struct cawl_advice_cost cost;
    size_t n, n_sizes;
    assert_int_equal(cawl_advice_remembered(&host, &plain, &burst, no_memo(), &cost), 0);
    assert_int_equal(memo.n, 1);
    assert_close(cost.dirty_bytes, 4e6, 1);
    memo.cost[0].dirty_bytes = 7;
    assert_int_equal(cawl_advice_remembered(&host, &plain, &burst, &memo, &cost), 0);
    assert_close(cost.dirty_bytes, 7, 0);
    /* Another lead looks at the same sizes. */
    assert_int_equal(cawl_advice_crossings(&host, &plain, &burst, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_SYNC, 1,
                                           400000, 400000000, no_memo(), at, &n),
                     0);
    n_sizes = memo.n;
    assert_true(n_sizes > 20);
    assert_int_equal(cawl_advice_crossings(&host, &plain, &burst, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_SYNC,
                                           1.01, 400000, 400000000, &memo, at, &n),
                     0);
    assert_int_equal(memo.n, n_sizes);
    /* A full one is no failure. */
    memo.n = CAWL_ADVICE_MEMO;
    for (size_t i = 0; i < CAWL_ADVICE_MEMO; i++)
        memo.bytes[i] = 1;
    assert_int_equal(cawl_advice_remembered(&host, &plain, &burst, &memo, &cost), 0);
    assert_close(cost.dirty_bytes, 4e6, 1);
    assert_int_equal(memo.n, CAWL_ADVICE_MEMO);
}

TEST(ways_that_never_cross_have_no_crossing)
{
    assert_int_equal(n_crossings(&host, 65536, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_SYNC, 1, 65536, 10000000000),
                     0);
    assert_int_equal(n_crossings(&host, 65536, CAWL_ADVICE_DIRECT, CAWL_ADVICE_DIRECT, 1, 65536, 10000000000),
                     0);
}

TEST(free_run_ends_at_the_background_limit)
{
    double bytes = 0;
    struct cawl_advice_burst burst = {.bytes = 1, .request_bytes = 1000000};
    assert_int_equal(cawl_advice_free_run(&host, &plain, &burst, &bytes), 0);
    assert_close(bytes, 4e8, 2e6);
}

/* The flusher has written back what expires before the next request comes. */
TEST(slow_writers_never_leave_free_run)
{
    double bytes = 0;
    struct cawl_advice_burst burst = {.bytes = 1, .request_bytes = 1000000, .delay_s = 1};
    assert_int_equal(cawl_advice_free_run(&host, &plain, &burst, &bytes), 0);
    assert_true(isinf(bytes));
}

TEST(bursts_with_time_between_cost_what_one_costs)
{
    struct cawl_advice_burst burst = {.bytes = 100000000, .request_bytes = 1000000};
    double alone_s = cost_of(burst).seconds[CAWL_ADVICE_BUFFERED];
    burst.interval_s = 120;
    struct cawl_advice_cost cost = cost_of(burst);
    assert_false(cost.piles_up);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], alone_s, 0.02 * alone_s);
}

/* 1 MB 200 times a second are 6 GB in the 30 s until pages expire: dirty memory stands at limit_bg. */
TEST(small_bursts_find_what_earlier_ones_left)
{
    struct cawl_advice_burst burst = {.bytes = 1000000, .request_bytes = 100000};
    double alone_s = cost_of(burst).seconds[CAWL_ADVICE_BUFFERED];
    burst.interval_s = 0.005;
    struct cawl_advice_cost cost = cost_of(burst);
    assert_false(cost.piles_up);
    assert_true(cost.seconds[CAWL_ADVICE_BUFFERED] > 1.5 * alone_s);
    assert_close(cost.dirty_bytes, 4e8, 5e6);
}

TEST(what_is_left_is_bounded_by_the_share_of_the_limits)
{
    const struct cawl_options half = {.limit_share = 0.5};
    struct cawl_advice_burst burst = {.bytes = 1000000, .request_bytes = 100000, .interval_s = 0.005};
    struct cawl_advice_cost cost = cost_with(&host, &half, burst);
    assert_close(cost.dirty_bytes, 2e8, 5e6);
}

TEST(bursts_in_a_hurry_pile_up)
{
    struct cawl_advice_burst burst = {.bytes = 300000000, .request_bytes = 1000000};
    struct cawl_advice_cost alone = cost_of(burst);
    burst.interval_s = 0.01;
    struct cawl_advice_cost cost = cost_of(burst);
    assert_true(cost.piles_up);
    assert_true(cost.seconds[CAWL_ADVICE_BUFFERED] > 4 * alone.seconds[CAWL_ADVICE_BUFFERED]);
    /* Other ways leave nothing behind. */
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], alone.seconds[CAWL_ADVICE_DIRECT], 1e-12);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED], alone.seconds[CAWL_ADVICE_FLUSHED], 1e-12);
}

TEST(cost_of_a_burst_grows_as_the_interval_shrinks)
{
    static const double intervals[] = {60, 1, 0.3, 0.1, 0.01};
    double last_s = 0;
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        struct cawl_advice_burst burst = {
            .bytes = 300000000, .request_bytes = 1000000, .interval_s = intervals[i]};
        double seconds = cost_of(burst).seconds[CAWL_ADVICE_BUFFERED];
        assert_true(seconds > 0.98 * last_s);
        last_s = seconds;
    }
}

TEST(nonsense_is_refused)
{
    struct cawl_advice_cost cost;
    struct cawl_options credit = {.burst_bytes = 1e9, .burst_bps = 1e9};
    double bytes;
    size_t n;
    struct cawl_advice_burst good = {.bytes = 1000, .request_bytes = 1000},
                             bad[] = {
                                 {.bytes = 0, .request_bytes = 1000},
                                 {.bytes = 1000, .request_bytes = 0},
                                 {.bytes = 1000, .request_bytes = 1000, .interval_s = -1},
                                 {.bytes = 1000, .request_bytes = 1000, .interval_s = NAN},
                                 {.bytes = 1000, .request_bytes = 1000, .delay_s = -1},
                                 {.bytes = UINT64_MAX, .request_bytes = 1000},
                                 {.bytes = 1000, .request_bytes = UINT64_MAX},
                             };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cawl_advice_cost(&host, &plain, &bad[i], &cost), -EINVAL);
    assert_int_equal(cawl_advice_cost(&host, &credit, &good, &cost), -EINVAL);
    assert_int_equal(cawl_advice_crossings(&host, &plain, &good, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_DIRECT, 1,
                                           0, 10, no_memo(), at, &n),
                     -EINVAL);
    assert_int_equal(cawl_advice_crossings(&host, &plain, &good, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_DIRECT, 0,
                                           10, 20, no_memo(), at, &n),
                     -EINVAL);
    good.request_bytes = 0;
    assert_int_equal(cawl_advice_free_run(&host, &plain, &good, &bytes), -EINVAL);
}
