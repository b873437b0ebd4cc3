/* Tests of bench/base/rng: known values of the published generators, and that the shapes of the distributions
 * are right. */
#include "bench/base/rng.h"
#include "tests/test.h"

TEST(state_of_seed_0_is_splitmix64)
{
    /* The first outputs of splitmix64 for seed 0, as published. */
    const uint64_t expected[4] = {0xe220a8397b1dcdafULL, 0x6e789e6aa1b965f4ULL, 0x06c45d188009454fULL,
                                  0xf88bb8a8724c81ecULL};
    struct rng rng;
    rng_init(&rng, 0);
    assert_memory_equal(rng.s, expected, sizeof(expected));
}

TEST(next_is_xoshiro256_plus_plus)
{
    /* Outputs of the published generator for the state {1, 2, 3, 4}. */
    const uint64_t expected[] = {
        41943041ULL,           58720359ULL, 3588806011781223ULL, 3591011842654386ULL, 9228616714210784205ULL,
        9973669472204895162ULL};
    struct rng rng = {.s = {1, 2, 3, 4}};
    for (size_t i = 0; i < N_OF(expected); i++)
        assert_true(rng_next(&rng) == expected[i]);
}

TEST(same_seed_gives_same_numbers)
{
    struct rng a, b, c;
    int n_same = 0;
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&c, 8);
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_next(&a);
        assert_true(x == rng_next(&b));
        n_same += x == rng_next(&c);
    }
    assert_int_equal(n_same, 0);
}

/* A state whose next output is all zeros or all ones, made through the output function rotl(s0 + s3, 23) +
 * s0. */
TEST(uniform_never_reaches_0_or_1)
{
    struct rng lowest = {.s = {0, 1, 1, 0}};
    struct rng highest = {.s = {0, 1, 1, UINT64_MAX}};
    assert_true(rng_uniform(&lowest) == 0x1p-53);
    assert_true(rng_uniform(&highest) == 1.0 - 0x1p-53);
}

TEST(uniform_is_flat)
{
    enum { n = 100000, n_bins = 20 };
    unsigned bins[n_bins] = {0};
    double sum = 0, chi2 = 0;
    struct rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < n; i++) {
        double u = rng_uniform(&rng);
        assert_true(u > 0 && u < 1);
        bins[(int)(u * n_bins)]++;
        sum += u;
    }
    for (int i = 0; i < n_bins; i++) {
        double off = bins[i] - (double)n / n_bins;
        chi2 += off * off * n_bins / n;
    }
    assert_close(sum / n, 0.5, 5 * sqrt(1.0 / 12 / n));
    assert_true(chi2 < 43.8); /* 99.9 % point for 19 degrees of freedom */
}

TEST(normal_has_the_moments_and_tails_of_the_normal)
{
    enum { n = 200000 };
    double sum[5] = {0};
    int n_inside = 0;
    struct rng rng;
    rng_init(&rng, 2);
    for (int i = 0; i < n; i++) {
        double x = rng_normal(&rng), power = 1;
        assert_true(isfinite(x));
        for (int k = 1; k <= 4; k++)
            sum[k] += power *= x;
        n_inside += fabs(x) < 1.959964;
    }
    /* Five standard errors each: the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96. */
    assert_close(sum[1] / n, 0, 5 * sqrt(1.0 / n));
    assert_close(sum[2] / n, 1, 5 * sqrt(2.0 / n));
    assert_close(sum[3] / n, 0, 5 * sqrt(15.0 / n));
    assert_close(sum[4] / n, 3, 5 * sqrt(96.0 / n));
    assert_close((double)n_inside / n, 0.95, 5 * sqrt(0.95 * 0.05 / n));
}

TEST(fill_writes_every_byte_and_no_more)
{
    for (size_t size = 0; size <= 40; size++) {
        unsigned char seen[40] = {0}, buffer[48];
        struct rng rng;
        rng_init(&rng, size);
        for (int i = 0; i < 20; i++) {
            memset(buffer, 0, sizeof(buffer));
            rng_fill(&rng, buffer + 1, size);
            assert_int_equal(buffer[0], 0);
            for (size_t k = size + 1; k < sizeof(buffer); k++)
                assert_int_equal(buffer[k], 0);
            for (size_t k = 0; k < size; k++)
                seen[k] |= buffer[1 + k];
        }
        for (size_t k = 0; k < size; k++)
            assert_int_not_equal(seen[k], 0);
    }
}

TEST(fill_does_not_repeat)
{
    uint64_t words[512];
    struct rng rng;
    rng_init(&rng, 3);
    rng_fill(&rng, words, sizeof(words));
    for (size_t i = 0; i < 512; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(words[i] != words[k]);
}

TEST(derived_streams_differ_from_each_other_and_the_seed)
{
    uint64_t derived[200];
    size_t n = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        for (uint64_t stream = 0; stream < 20; stream++)
            derived[n++] = rng_derive(seed, stream);
    for (size_t i = 0; i < n; i++) {
        assert_true(derived[i] >= 10);
        for (size_t k = 0; k < i; k++)
            assert_true(derived[i] != derived[k]);
    }
    assert_true(rng_derive(5, 6) == rng_derive(5, 6));
}

TEST(derived_neighbours_share_half_of_their_bits)
{
    int n_bits = 0;
    for (uint64_t stream = 0; stream < 1000; stream++) {
        n_bits += __builtin_popcountll(rng_derive(1, stream) ^ rng_derive(1, stream + 1));
        n_bits += __builtin_popcountll(rng_derive(stream, 1) ^ rng_derive(stream + 1, 1));
    }
    assert_close(n_bits / 2000.0, 32, 5 * sqrt(16.0 / 2000));
}

TEST(system_seeds_differ)
{
    assert_true(rng_seed_from_system() != rng_seed_from_system());
}

TEST(an_order_holds_every_number_once_and_is_another_one_each_time)
{
    struct rng rng;
    size_t first[50], second[50];
    bool seen[50] = {false};
    rng_init(&rng, 5);
    rng_order(&rng, first, 50);
    rng_order(&rng, second, 50);
    for (size_t i = 0; i < 50; i++) {
        assert_in_range(first[i], 0, 49);
        assert_false(seen[first[i]]);
        seen[first[i]] = true;
    }
    assert_memory_not_equal(first, second, sizeof first);
    rng_order(&rng, first, 0);
}
