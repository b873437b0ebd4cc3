/* Tests of bench/io/ioapi_simulator: points with two levels, and the truth that they, outliers and the trace
 * make. */
#include "bench/io/ioapi_simulator.h"
#include "tests/test.h"

static uint64_t now_ns;
static struct simulator_world world;

FIXTURE(enter)
{
    world = (struct simulator_world){.noise = {.outlier_factor = 1,
                                               .warmup_factor = 1,
                                               .level_share = 0.3,
                                               .level_probability = 0.4,
                                               .level_factor = 4},
                                     .now_ns = &now_ns};
    return 0;
}

EACH_TEST(enter, NULL);

/* Some thousand points that differ in all factors that a table has. */
#define N_POINTS (12 * 8 * 2 * 5 * 4)

static struct point nth_point(uint32_t i)
{
    return (struct point){.request_size_bytes = 512ULL << i % 12,
                          .queue_depth = 1U << i / 12 % 8,
                          .direct = i / 96 % 2,
                          .api = (enum api)(i / 192 % 5),
                          .threads = 1 + i / 960 % 4,
                          .sync = SYNC_END};
}

static double factor_of_run(const struct point *point, uint64_t seed)
{
    struct simulator_run run;
    simulator_run_init(&run, &world, point, 1e6, 1, seed);
    return run.run_factor;
}

static bool is_ever_slow(const struct point *point)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        if (factor_of_run(point, seed) < 1)
            return true;
    }
    return false;
}

TEST(as_many_points_as_asked_have_two_levels)
{
    const double shares[] = {0, 0.05, 0.3, 1};
    for (size_t k = 0; k < 4; k++) {
        int n = 0;
        world.noise.level_share = shares[k];
        for (uint32_t i = 0; i < N_POINTS; i++) {
            struct point point = nth_point(i);
            n += is_ever_slow(&point);
        }
        assert_close((double)n / N_POINTS, shares[k], 4 * sqrt(shares[k] * (1 - shares[k]) / N_POINTS));
    }
}

/* Pairs of points that differ in one factor agree as often as unrelated ones: 0.3^2 + 0.7^2. */
TEST(which_points_depends_on_every_factor_of_the_table)
{
    const uint32_t steps[] = {1, 12, 96, 192, 960};
    for (size_t k = 0; k < 5; k++) {
        int n_alike = 0;
        for (uint32_t i = 0; i < N_POINTS; i++) {
            struct point one = nth_point(i), other = nth_point(i + steps[k]);
            n_alike += is_ever_slow(&one) == is_ever_slow(&other);
        }
        assert_close((double)n_alike / N_POINTS, 0.58, 0.06);
    }
}

TEST(a_run_is_at_one_level_as_a_whole)
{
    const int n = 5000;
    int n_slow = 0;
    struct point point = nth_point(0);
    world.noise.level_share = 1;
    for (int i = 0; i < n; i++) {
        double factor = factor_of_run(&point, (uint64_t)i);
        assert_true(factor == 1 || factor == 0.25);
        n_slow += factor < 1;
    }
    assert_close((double)n_slow / n, 0.4, 4 * sqrt(0.24 / n));
}

TEST(the_truth_of_a_point_is_the_mean_of_its_runs)
{
    const int n = 40000;
    world.noise.run_cv = 0.1;
    world.noise.outlier_probability = 0.1;
    world.noise.outlier_factor = 2;
    for (uint32_t i = 0; i < 12; i++) {
        struct point point = nth_point(i);
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += factor_of_run(&point, (uint64_t)k);
        assert_close(simulator_truth_factor(&world, &point), sum / n, 0.008);
    }
}

/* 1 - 0.4 + 0.4 / 4 for points with two levels; outliers 1 - 0.1 + 0.1 / 2; the trace's last factor. */
TEST(the_truth_is_a_product_that_ends_with_the_trace)
{
    static const struct simulator_trace_step trace[] = {{0, 1}, {5, 3}, {9, 0.5}};
    struct point point = nth_point(0);
    assert_close(simulator_truth_factor(&world, &point), is_ever_slow(&point) ? 0.7 : 1, 1e-12);
    world.noise.level_share = 1;
    assert_close(simulator_truth_factor(&world, &point), 0.7, 1e-12);
    world.noise.outlier_probability = 0.1;
    world.noise.outlier_factor = 2;
    assert_close(simulator_truth_factor(&world, &point), 0.7 * 0.95, 1e-12);
    world.trace = trace;
    world.n_trace = 3;
    assert_close(simulator_truth_factor(&world, &point), 0.7 * 0.95 * 0.5, 1e-12);
    world.noise.drift_per_hour = -3;
    assert_close(simulator_truth_factor(&world, &point), 0.7 * 0.95 * 0.5, 1e-12);
}

/* Surfaces that were written before this key give the runs that they gave. */
TEST(points_of_one_level_draw_the_same_numbers_as_without_the_key)
{
    int n_alike = 0;
    world.noise.run_cv = 0.2;
    for (uint32_t i = 0; i < 200; i++) {
        struct point point = nth_point(i);
        struct simulator_run with, without;
        bool two_levels = simulator_truth_factor(&world, &point) < 1;
        simulator_run_init(&with, &world, &point, 1e6, 1, i);
        world.noise.level_share = 0;
        simulator_run_init(&without, &world, &point, 1e6, 1, i);
        world.noise.level_share = 0.3;
        bool alike = memcmp(&with.rng, &without.rng, sizeof with.rng) == 0;
        assert_true(alike == !two_levels);
        assert_true(two_levels || with.run_factor == without.run_factor);
        n_alike += alike;
    }
    assert_true(n_alike > 100 && n_alike < 200);
}
