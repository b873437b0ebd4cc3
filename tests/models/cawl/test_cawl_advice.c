/* Ways of writing a burst: costs that can be worked out by hand, crossings, bursts in a row. */
#include "models/cawl/cawl_advice.h"
#include "tests/test.h"

#include <errno.h>

/* Round numbers; a copied request of 360,000 bytes takes 90 of the 100 us that a synchronous call costs. */
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

/* Of ten requests. */
static const struct cawl_advice_burst ten = {
    .host = &host, .options = &plain, .bytes = 4000000, .request_bytes = 400000};

static struct cawl_advice_cost cost_of(struct cawl_advice_burst burst)
{
    struct cawl_advice_cost cost;
    assert_int_equal(cawl_advice_cost(&burst, &cost), 0);
    return cost;
}

/* Of the host, by the plain model. */
static struct cawl_advice_cost cost_at(uint64_t bytes, uint64_t request_bytes, double interval_s)
{
    return cost_of((struct cawl_advice_burst){.host = &host,
                                              .options = &plain,
                                              .bytes = bytes,
                                              .request_bytes = request_bytes,
                                              .interval_s = interval_s});
}

static struct cawl_advice_cost cost_with(const struct cawl_options *options, double interval_s)
{
    struct cawl_advice_burst burst = ten;
    burst.options = options;
    burst.interval_s = interval_s;
    return cost_of(burst);
}

static struct cawl_advice_crossing at[CAWL_ADVICE_MAX_CROSSINGS];

/* Between these sizes, with an empty memory; how many, which are in `at`. */
static size_t n_crossings(const struct cawl_host *of, uint64_t request_bytes, enum cawl_advice_way first,
                          enum cawl_advice_way second, double lead, uint64_t from, uint64_t to)
{
    const struct cawl_advice_burst burst = {
        .host = of, .options = &plain, .bytes = 1, .request_bytes = request_bytes};
    size_t n = 99;
    memo.n = 0;
    assert_int_equal(cawl_advice_crossings(&burst, first, second, lead, from, to, &memo, at, &n), 0);
    return n;
}

TEST(small_burst_costs_what_the_formulas_say)
{
    struct cawl_advice_cost cost = cost_of(ten);
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
    struct cawl_advice_cost cost = cost_at(1000000, 409600, 0);
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], 3e-4 + 1e6 / 5e8, 1e-9);
    assert_close(cost.seconds[CAWL_ADVICE_BUFFERED], 1e6 / 4e9, 1e-9);
    cost = cost_at(100, 409600, 0);
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], 1e-4 + 100 / 5e8, 1e-9);
}

TEST(random_requests_pay_a_seek_past_the_cache_only)
{
    struct cawl_advice_burst burst = ten;
    burst.random = true;
    struct cawl_advice_cost sequential = cost_of(ten), random = cost_of(burst);
    /* A file's first request does not seek. */
    assert_close(random.seconds[CAWL_ADVICE_DIRECT] - sequential.seconds[CAWL_ADVICE_DIRECT], 9 * 5e-3, 1e-9);
    assert_close(random.seconds[CAWL_ADVICE_BUFFERED], sequential.seconds[CAWL_ADVICE_BUFFERED], 1e-12);
}

/* The last chunk of joined requests may be a part of one: at most that much too much. */
TEST(joined_requests_cost_their_calls)
{
    struct cawl_host slow_calls = host;
    struct cawl_advice_burst burst = {
        .host = &slow_calls, .options = &plain, .bytes = 300000000, .request_bytes = 1000};
    slow_calls.sc_w_s = 1e-6;
    assert_close(cost_of(burst).seconds[CAWL_ADVICE_BUFFERED], 300000 * 1e-6 + 3e8 / 4e9,
                 300000 * 1e-6 / 2000);
}

TEST(small_pieces_of_joined_requests_are_those_of_each)
{
    const struct cawl_options small = {.small_calls = true};
    struct cawl_host small_host = host;
    struct cawl_advice_burst burst = ten;
    burst.host = &small_host;
    burst.options = &small;
    small_host.bw_page_bps = 1e9; /* 0.75 ns a byte more than in large pieces */
    small_host.bw_buffer_bps = 1e9;
    assert_close(cost_of(burst).seconds[CAWL_ADVICE_BUFFERED], 4e6 / 4e9 + 10 * 16384 * 0.75e-9, 1e-9);
    burst.bytes = 300000000;
    burst.request_bytes = 1000;
    assert_close(cost_of(burst).seconds[CAWL_ADVICE_BUFFERED], 3e8 / 4e9 + 3e8 * 0.75e-9,
                 3e8 * 0.75e-9 / 2000);
}

/* 4 MB take 8 ms of direct writes, and 4 ms when the kernel writes them. */
TEST(the_flush_is_as_fast_as_the_kernel)
{
    const struct cawl_options writeback = {.writeback = true};
    struct cawl_host kernel = host;
    struct cawl_advice_burst burst = ten;
    burst.host = &kernel;
    burst.options = &writeback;
    kernel.bw_writeback_bps = 1e9;
    struct cawl_advice_cost cost = cost_of(burst);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED] - cost.seconds[CAWL_ADVICE_BUFFERED], 4e-3 + 1e-4, 1e-9);
    burst.interval_s = 0.005;
    assert_false(cost_of(burst).piles_up);
    assert_true(cost_with(&plain, 0.005).piles_up);
}

TEST(untouched_memory_takes_longer)
{
    const struct cawl_options untouched = {.first_touch = true};
    assert_close(cost_with(&untouched, 0).seconds[CAWL_ADVICE_BUFFERED], 4e6 / 1e9, 1e-9);
}

/* Both write their 4 MB at half of the device, and blocks are found for both. */
TEST(two_writers_share_device_and_allocation)
{
    const struct cawl_options both = {.n_writers = 2, .allocation_bps = 1e9};
    const struct cawl_options two = {.n_writers = 2};
    struct cawl_advice_cost cost = cost_with(&both, 0);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED] - cost.seconds[CAWL_ADVICE_BUFFERED],
                 8e6 / 5e8 + 8e6 / 1e9 + 1e-4, 1e-9);
    /* 8 ms are enough for one writer, not for two. */
    assert_false(cost_with(&plain, 0.009).piles_up);
    assert_true(cost_with(&two, 0.009).piles_up);
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
    assert_int_equal(
        n_crossings(&host, 10000000, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_DIRECT, 1.1, 100000000, 100000000000),
        1);
    assert_true(at[0].first_below);
    /* At its ends the lead is where it should be. */
    struct cawl_advice_cost below = cost_at((uint64_t)(at[0].bytes * 0.8), 10000000, 0),
                            above = cost_at((uint64_t)(at[0].bytes * 1.25), 10000000, 0);
    assert_true(below.seconds[CAWL_ADVICE_DIRECT] > 1.1 * below.seconds[CAWL_ADVICE_BUFFERED]);
    assert_true(above.seconds[CAWL_ADVICE_DIRECT] < 1.1 * above.seconds[CAWL_ADVICE_BUFFERED]);
}

TEST(what_was_worked_out_is_remembered)
{
    struct cawl_advice_cost cost;
    size_t n, n_sizes;
    memo.n = 0;
    assert_int_equal(cawl_advice_remembered(&ten, &memo, &cost), 0);
    assert_int_equal(memo.n, 1);
    assert_close(cost.dirty_bytes, 4e6, 1);
    memo.cost[0].dirty_bytes = 7;
    assert_int_equal(cawl_advice_remembered(&ten, &memo, &cost), 0);
    assert_close(cost.dirty_bytes, 7, 0);
    /* Another lead looks at the same sizes. */
    n_crossings(&host, 400000, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_SYNC, 1, 400000, 400000000);
    n_sizes = memo.n;
    assert_true(n_sizes > 20);
    assert_int_equal(cawl_advice_crossings(&ten, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_SYNC, 1.01, 400000,
                                           400000000, &memo, at, &n),
                     0);
    assert_int_equal(memo.n, n_sizes);
    /* A full one is no failure. */
    memo.n = CAWL_ADVICE_MEMO;
    for (size_t i = 0; i < CAWL_ADVICE_MEMO; i++)
        memo.bytes[i] = 1;
    assert_int_equal(cawl_advice_remembered(&ten, &memo, &cost), 0);
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

/* Of slow writers, the flusher has written back what expires before the next request comes. */
TEST(free_run_ends_at_the_background_limit_and_never_for_slow_writers)
{
    struct cawl_advice_burst burst = ten;
    double bytes = 0;
    burst.request_bytes = 1000000;
    assert_int_equal(cawl_advice_free_run(&burst, &bytes), 0);
    assert_close(bytes, 4e8, 2e6);
    burst.delay_s = 1;
    assert_int_equal(cawl_advice_free_run(&burst, &bytes), 0);
    assert_true(isinf(bytes));
}

/* 1 MB 200 times a second are 6 GB in the 30 s until pages expire: dirty memory stands at limit_bg. */
TEST(small_bursts_find_what_earlier_ones_left)
{
    double alone_s = cost_at(1000000, 100000, 0).seconds[CAWL_ADVICE_BUFFERED];
    struct cawl_advice_cost cost = cost_at(1000000, 100000, 0.005);
    assert_false(cost.piles_up);
    assert_true(cost.seconds[CAWL_ADVICE_BUFFERED] > 1.5 * alone_s);
    assert_close(cost.dirty_bytes, 4e8, 5e6);
    const struct cawl_options half = {.limit_share = 0.5};
    const struct cawl_advice_burst with_half = {
        .host = &host, .options = &half, .bytes = 1000000, .request_bytes = 100000, .interval_s = 0.005};
    assert_close(cost_of(with_half).dirty_bytes, 2e8, 5e6);
}

TEST(bursts_in_a_hurry_pile_up)
{
    struct cawl_advice_cost alone = cost_at(300000000, 1000000, 0), cost = cost_at(300000000, 1000000, 0.01);
    assert_true(cost.piles_up);
    assert_true(cost.seconds[CAWL_ADVICE_BUFFERED] > 4 * alone.seconds[CAWL_ADVICE_BUFFERED]);
    /* Other ways leave nothing behind. */
    assert_close(cost.seconds[CAWL_ADVICE_DIRECT], alone.seconds[CAWL_ADVICE_DIRECT], 1e-12);
    assert_close(cost.seconds[CAWL_ADVICE_FLUSHED], alone.seconds[CAWL_ADVICE_FLUSHED], 1e-12);
}

TEST(cost_of_a_burst_grows_from_that_of_one_alone_as_the_interval_shrinks)
{
    static const double intervals[] = {120, 60, 1, 0.3, 0.1, 0.01};
    double alone_s = cost_at(300000000, 1000000, 0).seconds[CAWL_ADVICE_BUFFERED], last_s = alone_s;
    for (size_t i = 0; i < N_OF(intervals); i++) {
        struct cawl_advice_cost cost = cost_at(300000000, 1000000, intervals[i]);
        double seconds = cost.seconds[CAWL_ADVICE_BUFFERED];
        assert_true(seconds > 0.98 * last_s);
        if (i == 0) {
            assert_false(cost.piles_up);
            assert_close(seconds, alone_s, 0.02 * alone_s);
        }
        last_s = seconds;
    }
}

TEST(nonsense_is_refused)
{
    static const struct {
        double lead;
        uint64_t from;
    } searches[] = {{1, 0}, {0, 10}};
    const struct cawl_options credit = {.burst_bytes = 1e9, .burst_bps = 1e9};
    struct cawl_advice_cost cost;
    double bytes;
    size_t n;
    struct cawl_advice_burst bad[8];
    for (size_t i = 0; i < N_OF(bad); i++)
        bad[i] = ten;
    bad[0].bytes = 0;
    bad[1].request_bytes = 0;
    bad[2].interval_s = -1;
    bad[3].interval_s = NAN;
    bad[4].delay_s = -1;
    bad[5].bytes = UINT64_MAX;
    bad[6].request_bytes = UINT64_MAX;
    bad[7].options = &credit;
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(cawl_advice_cost(&bad[i], &cost), -EINVAL);
    for (size_t i = 0; i < N_OF(searches); i++)
        assert_int_equal(cawl_advice_crossings(&ten, CAWL_ADVICE_BUFFERED, CAWL_ADVICE_DIRECT,
                                               searches[i].lead, searches[i].from, 20, &memo, at, &n),
                         -EINVAL);
    assert_int_equal(cawl_advice_free_run(&bad[1], &bytes), -EINVAL);
}
