/* Tests of models/online/waits, on requests whose latencies are known. */
#include "models/online/waits.h"
#include "tests/models/rng.h"

#define N_TRIALS 6
#define N_CASES  400

/* Of n requests each is slow by chance, or, in runs, they are slow together: a stall. */
static struct latency_share draw(unsigned n, double share, unsigned run)
{
    struct latency_share drawn = {.n = {n}};
    for (unsigned i = 0; i < n; i += run)
        drawn.n_slow[LATENCY_MOVES] += gsl_rng_uniform(rng) < share ? run : 0;
    return drawn;
}

static struct latency_share share_of(uint64_t n, uint64_t n_slow)
{
    return (struct latency_share){{n}, {n_slow}};
}

/* The share of cases in which a setting is refused after one of its trials. */
static double refused(unsigned n, double own, double beside, unsigned run)
{
    unsigned n_refused = 0;
    gsl_rng_set(rng, 1);
    for (unsigned i = 0; i < N_CASES; i++) {
        struct waits waits = {0};
        bool is_refused = false;
        for (unsigned trial = 0; trial < N_TRIALS; trial++) {
            struct latency_share tried = draw(n, own, run), usual = draw(2 * n, beside, run);
            waits_add(&waits, &tried, &usual);
            is_refused = is_refused || waits_are_long(&waits);
        }
        n_refused += is_refused;
    }
    return (double)n_refused / N_CASES;
}

TEST(one_that_waits_no_longer_is_hardly_ever_refused)
{
    assert_true(refused(64, 0.001, 0.001, 1) <= 0.001);
    assert_true(refused(64, 0.01, 0.01, 1) < 0.05);
    assert_true(refused(2000, 0.01, 0.01, 1) < 0.1);
    assert_true(refused(2000, 0.008, 0.001, 1) < 0.05);
}

TEST(one_that_makes_many_requests_wait_is_refused)
{
    assert_true(refused(64, 0.06, 0.005, 1) > 0.9);
    assert_true(refused(2000, 0.02, 0.005, 1) > 0.9);
}

TEST(stalls_that_hit_many_requests_at_once_are_no_proof)
{
    assert_true(refused(256, 0.01, 0.01, 16) < 0.1);
    assert_true(refused(2048, 0.01, 0.01, 32) < 0.1);
}

/* A load whose requests all take longer by now has more slow ones on both sides. */
TEST(what_the_slices_beside_have_is_no_fault_of_the_setting)
{
    assert_true(refused(64, 0.2, 0.2, 1) < 0.1);
    assert_true(refused(2000, 0.2, 0.2, 1) < 0.15);
    assert_true(refused(2000, 0.3, 0.2, 1) > 0.9);
    assert_false(refused(64, 1, 1, 1) > 0);
}

TEST(one_trial_alone_or_without_requests_says_nothing)
{
    struct waits waits = {0};
    struct latency_share all = share_of(64, 64), none = share_of(128, 0), nobody = share_of(0, 0);
    waits_add(&waits, &all, &none);
    assert_false(waits_are_long(&waits));
    assert_true(waits_are_known(&waits, 64, 1));
    assert_false(waits_are_known(&waits, 65, 1));
    assert_false(waits_are_known(&waits, 64, 2));
    waits_add(&waits, &nobody, &none);
    waits_add(&waits, &all, &nobody);
    assert_int_equal(waits.shares[LATENCY_MOVES].n, 1);
    waits_add(&waits, &all, &none);
    assert_true(waits_are_long(&waits));
}

TEST(flushes_that_wait_too_long_are_enough)
{
    struct waits waits = {0};
    struct latency_share own = {{6400, 200}, {0, 30}}, beside = {{6400, 200}, {0, 1}};
    waits_add(&waits, &own, &beside);
    waits_add(&waits, &own, &beside);
    assert_true(waits_are_long(&waits));
    assert_true(waits_are_clearly_long(&own));
    assert_false(waits_are_clearly_long(&beside));
}

static bool is_clear(uint64_t n, uint64_t n_slow)
{
    struct latency_share share = share_of(n, n_slow);
    return waits_are_clearly_long(&share);
}

TEST(an_eighth_of_the_requests_is_clearly_too_much_and_a_few_are_not)
{
    assert_true(is_clear(16, 8));
    assert_false(is_clear(16, 7));
    assert_false(is_clear(64, 8));
    assert_true(is_clear(64, 9));
}
