/* Tests of shares of hosts. */
#include "models/fleet/share.h"
#include "tests/test.h"

static void check(size_t k, size_t n, double low, double high)
{
    struct interval share = share_interval(k, n, 0.95);
    assert_true(fabs(share.low - low) < 5e-4);
    assert_true(fabs(share.high - high) < 5e-4);
}

/* Known: R's binom.test. */
TEST(intervals_are_the_known_ones)
{
    check(0, 10, 0, 0.3085);
    check(10, 10, 0.6915, 1);
    check(5, 10, 0.1871, 0.8129);
    check(197, 212, 0.8861, 0.9598);
}

TEST(nothing_seen_is_nothing_known)
{
    check(0, 0, 0, 1);
}

/* Summed over all outcomes: the interval holds the truth at least so often. */
TEST(the_interval_covers_at_its_confidence)
{
    for (double truth = 0.05; truth < 1; truth += 0.1) {
        double covered = 0, probability = pow(1 - truth, 20);
        for (size_t k = 0; k <= 20; k++) {
            struct interval share = share_interval(k, 20, 0.95);
            if (share.low <= truth && truth <= share.high)
                covered += probability;
            probability *= (double)(20 - k) / (double)(k + 1) * truth / (1 - truth);
        }
        assert_true(covered >= 0.95);
    }
}
