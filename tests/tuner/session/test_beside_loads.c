/* Tests of tuner/session/beside_loads: when requests settle a limit on their p99. */
#include "tests/test.h"
#include "tuner/session/beside_loads.h"

#define LIMIT_NS 5000000U

/* n requests, of which so many took longer than the limit. */
static enum beside_verdict judged(uint64_t n, uint64_t n_over)
{
    struct histogram latency;
    histogram_init(&latency);
    histogram_add(&latency, LIMIT_NS / 2, n - n_over);
    histogram_add(&latency, LIMIT_NS * 2, n_over);
    return beside_loads_judge(&latency, LIMIT_NS);
}

TEST(nothing_is_settled_by_no_requests)
{
    struct histogram latency;
    histogram_init(&latency);
    assert_int_equal(beside_loads_judge(&latency, LIMIT_NS), BESIDE_UNSETTLED);
}

/* 0.99^299 < 0.05; the Poisson bound needs one or two more. */
TEST(a_limit_is_kept_from_three_hundred_requests_on)
{
    assert_int_equal(judged(100, 0), BESIDE_UNSETTLED);
    assert_int_equal(judged(295, 0), BESIDE_UNSETTLED);
    assert_int_equal(judged(302, 0), BESIDE_WITHIN);
    assert_int_equal(judged(302, 1), BESIDE_UNSETTLED);
    assert_int_equal(judged(480, 1), BESIDE_WITHIN);
}

TEST(a_limit_is_broken_by_more_than_chance_would_have)
{
    assert_int_equal(judged(10, 1), BESIDE_UNSETTLED);
    assert_int_equal(judged(10, 2), BESIDE_OVER);
    assert_int_equal(judged(100, 3), BESIDE_UNSETTLED);
    assert_int_equal(judged(100, 4), BESIDE_OVER);
    assert_int_equal(judged(1, 1), BESIDE_OVER);
}

TEST(many_requests_settle_it_by_their_share)
{
    assert_int_equal(judged(1000000, 9000), BESIDE_WITHIN);
    assert_int_equal(judged(1000000, 11000), BESIDE_OVER);
    assert_int_equal(judged(40000, 300), BESIDE_WITHIN);
    assert_int_equal(judged(40000, 500), BESIDE_OVER);
}
