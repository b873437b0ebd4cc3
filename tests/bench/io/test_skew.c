/* Tests of bench/io/skew and of skewed offsets: shares are those that were asked for. */
#include "bench/io/offsets.h"
#include "bench/io/skew.h"
#include "tests/test.h"

#define N_DRAWS 400000

static const struct pattern rand_mix = {.percent = {[PATTERN_RAND_READ] = 50, [PATTERN_RAND_WRITE] = 50}};

/* Shares of n places by the definition of zipf. */
static void zipf_shares(double theta, uint64_t n, double *shares)
{
    double sum = 0;
    for (uint64_t k = 0; k < n; k++)
        sum += shares[k] = pow((double)k + 1, -theta);
    for (uint64_t k = 0; k < n; k++)
        shares[k] /= sum;
}

/* Chi-square over the n places; those past the last that expects 20 draws fall together. */
static double chi_square(const uint64_t *seen, const double *shares, uint64_t n, double *ret_df)
{
    double sum = 0, rest_seen = 0, rest_expected = 0;
    *ret_df = -1;
    for (uint64_t k = 0; k < n; k++) {
        double expected = shares[k] * N_DRAWS;
        rest_seen += (double)seen[k];
        rest_expected += expected;
        if (rest_expected < 20 && k + 1 < n)
            continue;
        sum += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
        rest_seen = rest_expected = 0;
        ++*ret_df;
    }
    return sum;
}

/* Wilson and Hilferty 1931: about normal. One in some 30,000 true samples is beyond 4. */
static double chi_square_z(double sum, double df)
{
    return (cbrt(sum / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

static void check_ranks(const struct skew *skew, const double *shares, uint64_t n)
{
    AUTO(auto_free) uint64_t *seen = calloc(n, sizeof *seen);
    struct skew_draw draw;
    double df;
    skew_draw_init(&draw, skew, n, 42);
    for (int i = 0; i < N_DRAWS; i++) {
        uint64_t place = skew_draw_next(&draw);
        assert_true(place < n);
        seen[place]++;
    }
    double sum = chi_square(seen, shares, n, &df);
    if (df > 0)
        assert_in_range(chi_square_z(sum, df) + 100, 96, 104);
}

TEST(zipf_draws_ranks_by_its_definition)
{
    const double thetas[] = {0.01, 0.5, 0.99, 1, 1.2, 3};
    const uint64_t sizes[] = {1, 2, 10, 1000, 40000};
    AUTO(auto_free) double *shares = calloc(40000, sizeof *shares);
    for (size_t t = 0; t < N_OF(thetas); t++) {
        for (size_t s = 0; s < N_OF(sizes); s++) {
            zipf_shares(thetas[t], sizes[s], shares);
            check_ranks(&(struct skew){.kind = SKEW_ZIPF, .theta = thetas[t]}, shares, sizes[s]);
        }
    }
}

TEST(hot_places_get_their_share_evenly)
{
    double shares[100];
    for (size_t i = 0; i < 100; i++)
        shares[i] = i < 10 ? 0.9 / 10 : 0.1 / 90;
    check_ranks(&(struct skew){.kind = SKEW_HOT, .hot_share = 0.1, .hot_access_share = 0.9}, shares, 100);
}

/* How often each unit of a region of n came, the most wanted first. */
static int falling(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void draw_units(const struct skew *skew, uint64_t seed, uint64_t n, uint64_t *seen)
{
    struct offsets offsets;
    assert_int_equal(offsets_init(&offsets, &rand_mix, 4096, n * 4096, (uint64_t[]){4096, 4096}, seed), 0);
    offsets_skew(&offsets, skew, seed);
    for (int i = 0; i < N_DRAWS; i++) {
        uint64_t offset = offsets_next(&offsets, i % 2 == 0 ? PATTERN_RAND_READ : PATTERN_RAND_WRITE);
        assert_true(offset % 4096 == 0 && offset >= 4096 && offset < (n + 1) * 4096);
        seen[offset / 4096 - 1]++;
    }
}

/* The place of the k-th most wanted is a permutation: sorted counts are the shares of the ranks. */
TEST(zipf_offsets_have_the_shares_and_lie_all_over_the_region)
{
    const uint64_t n = 1000;
    AUTO(auto_free) uint64_t *seen = calloc(n, sizeof *seen), *again = calloc(n, sizeof *again);
    AUTO(auto_free) double *shares = calloc(n, sizeof *shares);
    const struct skew skew = {.kind = SKEW_ZIPF, .theta = 0.99};
    uint64_t first_half = 0, best = 0, best_again = 0;
    draw_units(&skew, 1, n, seen);
    draw_units(&skew, 2, n, again);
    for (uint64_t i = 0; i < n; i++) {
        first_half += i < n / 2 ? seen[i] : 0;
        best = seen[i] > seen[best] ? i : best;
        best_again = again[i] > again[best_again] ? i : best_again;
    }
    assert_int_equal(best, best_again); /* the same places for every seed */
    assert_in_range(first_half, N_DRAWS / 4, 3 * N_DRAWS / 4);
    assert_true(memcmp(seen, again, n * sizeof *seen) != 0);
    qsort(seen, n, sizeof *seen, falling);
    zipf_shares(0.99, n, shares);
    for (uint64_t k = 0; k < 20; k++)
        assert_close((double)seen[k] / N_DRAWS, shares[k], 0.1 * shares[k]);
}

TEST(a_skew_is_kept_by_offsets_that_are_made_many_at_once)
{
    struct offsets offsets;
    uint64_t many[64], n_hot = 0;
    const struct skew skew = {.kind = SKEW_HOT, .hot_share = 0.1, .hot_access_share = 0.9};
    assert_int_equal(offsets_init(&offsets, &rand_mix, 0, 1000 * 4096, (uint64_t[]){4096, 4096}, 1), 0);
    offsets_skew(&offsets, &skew, 1);
    for (int i = 0; i < 1000; i++) {
        offsets_fill(&offsets, PATTERN_RAND_READ, many, 64);
        for (int k = 0; k < 64; k++)
            n_hot += many[k] < 100 * 4096;
    }
    assert_close((double)n_hot / 64000, 0.9, 0.005);
}
