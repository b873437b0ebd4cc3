/* Tests of models/profile/zipf: known exponents are found, and what follows no such law is not given one. */
#include "models/profile/zipf.h"
#include "tests/test.h"

#define N 4096

static uint32_t uses[N];
static struct zipf zipf;

/* A draw from 0..1 (Knuth's generator). */
static double draw(void)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Draws of ranks with this exponent by searching the sums. */
static void use_blocks(double theta, size_t n_draws)
{
    static double sums[N];
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sums[i] = sum += pow((double)(i + 1), -theta);
    memset(uses, 0, sizeof uses);
    for (size_t i = 0; i < n_draws; i++) {
        double at = draw() * sum;
        size_t low = 0, high = N - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (sums[middle] < at)
                low = middle + 1;
            else
                high = middle;
        }
        uses[low]++;
    }
    zipf_fit(&zipf, uses, N);
}

TEST(known_exponents_are_found_within_a_tenth)
{
    static const double thetas[] = {0.5, 0.8, 0.99, 1.2, 1.5};
    for (size_t i = 0; i < N_OF(thetas); i++) {
        use_blocks(thetas[i], 60000);
        assert_true(zipf.is_known && zipf.fits);
        assert_close(zipf.theta, thetas[i], 0.1);
        assert_true(zipf.error > 0 && zipf.error < 0.05);
    }
}

TEST(even_use_is_exponent_0)
{
    use_blocks(0, 40000);
    assert_true(zipf.is_known && zipf.fits);
    assert_close(zipf.theta, 0, 0);
    assert_close(zipf.share_of_hottest[1], 0.1, 0.1);
}

TEST(two_levels_are_no_zipf)
{
    for (size_t i = 0; i < N; i++)
        uses[i] = i < N / 2 ? 100 : 10;
    zipf_fit(&zipf, uses, N);
    assert_true(zipf.is_known);
    assert_false(zipf.fits);
    assert_close(zipf.share_of_hottest[2], 0.2 * 100 / 55.0, 0.01);
}

TEST(blocks_used_once_say_nothing)
{
    for (size_t i = 0; i < N; i++)
        uses[i] = 1;
    zipf_fit(&zipf, uses, N);
    assert_false(zipf.is_known);
    zipf_fit(&zipf, uses, 0);
    assert_false(zipf.is_known);
}
