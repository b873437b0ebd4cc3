/* Tests of models/online/latency. */
#include "models/online/latency.h"
#include "tests/models/online/latencies.h"
#include "tests/test.h"

#define MS 1000000U

static struct latency_pool pool;
static struct latency_counts counts;

static unsigned limit_of_moves(void)
{
    return latency_limits(&pool, 1.5).bucket[LATENCY_MOVES];
}

FIXTURE(empty)
{
    pool = (struct latency_pool){0};
    counts = (struct latency_counts){0};
    return 0;
}

EACH_TEST(empty, NULL);

/* The first time in a bucket is the end of the one before. */
TEST(buckets_meet_at_their_ends_and_are_narrow)
{
    for (unsigned i = 0; i < LATENCY_N_BUCKETS - 1; i++) {
        uint64_t end = latency_end_ns(i);
        assert_int_equal(latency_bucket(end - 1), i);
        assert_int_equal(latency_bucket(end), i + 1);
        assert_true(i == 0 || (double)end <= 1.03125 * (double)latency_end_ns(i - 1));
    }
    assert_int_equal(latency_bucket(0), 0);
    assert_int_equal(latency_bucket(UINT64_MAX), LATENCY_N_BUCKETS - 1);
    assert_int_equal(latency_end_ns(0), 1024);
    assert_true(latency_end_ns(LATENCY_N_BUCKETS - 1) == UINT64_MAX);
}

TEST(few_requests_have_no_limit)
{
    latencies_add(&counts, MS, 199);
    latency_pool_add(&pool, &counts);
    assert_int_equal(limit_of_moves(), LATENCY_N_BUCKETS);
    counts = (struct latency_counts){0};
    latencies_add(&counts, MS, 1);
    latency_pool_add(&pool, &counts);
    assert_true(limit_of_moves() < LATENCY_N_BUCKETS);
}

TEST(the_limit_is_beyond_the_ratio_of_p99_and_not_far)
{
    for (uint64_t ns = 500; ns < 10000000000U; ns = ns * 7 / 5) {
        pool = (struct latency_pool){0};
        counts = (struct latency_counts){0};
        latencies_add(&counts, ns / 3, 500);
        latencies_add(&counts, ns, 490);
        latencies_add(&counts, 30 * ns, 10);
        latency_pool_add(&pool, &counts);
        double limit = (double)latency_end_ns(limit_of_moves() - 1);
        assert_true(limit >= 1.5 * (double)ns);
        assert_true(limit <= fmax(1.5 * 1.07 * (double)ns, 1.5 * 1.03125 * 1024));
    }
}

TEST(latencies_of_minutes_have_no_limit)
{
    latencies_add(&counts, UINT64_MAX, 1000);
    latency_pool_add(&pool, &counts);
    assert_int_equal(limit_of_moves(), LATENCY_N_BUCKETS);
}

TEST(what_was_long_ago_fades)
{
    latencies_add(&counts, 100 * MS, 1000);
    latency_pool_add(&pool, &counts);
    counts = (struct latency_counts){0};
    latencies_add(&counts, MS, 1000);
    for (int i = 0; i < 5; i++)
        latency_pool_add(&pool, &counts);
    assert_true(latency_end_ns(limit_of_moves()) > 100 * MS);
    for (int i = 0; i < 100; i++)
        latency_pool_add(&pool, &counts);
    assert_true(latency_end_ns(limit_of_moves()) < 2 * MS);
    assert_true(pool.total[LATENCY_MOVES] < 20500);
}

TEST(slow_are_those_from_the_limit_on)
{
    latencies_add(&counts, MS, 7);
    latencies_add(&counts, 2 * MS, 3);
    latencies_add(&counts, 4 * MS, 2);
    struct latency_limits limits = latencies_from(2 * MS), unknown = {{LATENCY_N_BUCKETS, LATENCY_N_BUCKETS}};
    struct latency_share share = latency_share_of(&counts, &limits);
    assert_int_equal(share.n[LATENCY_MOVES], 12);
    assert_int_equal(share.n_slow[LATENCY_MOVES], 5);
    assert_int_equal(latency_share_of(&counts, &unknown).n_slow[LATENCY_MOVES], 0);
}

/* One in 33 waits for the disk: that makes reads and writes no slower, and they make it no faster. */
TEST(flushes_have_a_limit_of_their_own)
{
    counts.n[LATENCY_FLUSHES][latency_bucket(50 * MS)] = 300;
    latencies_add(&counts, MS, 9600);
    latency_pool_add(&pool, &counts);
    struct latency_limits limits = latency_limits(&pool, 1.5);
    assert_in_range(latency_limits_ns(&limits), 15 * MS / 10, 16 * MS / 10);
    assert_in_range(latency_end_ns(limits.bucket[LATENCY_FLUSHES] - 1), 75 * MS, 80 * MS);
    assert_int_equal(latency_share_of(&counts, &limits).n_slow[LATENCY_FLUSHES], 0);
    limits.bucket[LATENCY_MOVES] = LATENCY_N_BUCKETS;
    assert_true(latency_limits_are_known(&limits));
    limits.bucket[LATENCY_FLUSHES] = LATENCY_N_BUCKETS;
    assert_false(latency_limits_are_known(&limits));
}
