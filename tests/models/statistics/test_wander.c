/* Tests of models/statistics/wander: processes that are known by construction. */
#include "models/statistics/wander.h"
#include "tests/models/rng.h"

#include <math.h>

enum { N_RUNS = 300, N_GROUPS = 60 };

struct world {
    struct wander_run runs[N_RUNS];
    double truth[N_RUNS]; /* what is common */
};

/* Runs of groups of unlike locations, at times that are now and then far apart. */
static void make(struct world *world, unsigned seed, double common_std, double tau_seconds, double noise_std)
{
    double now = 0, level;
    gsl_rng_set(rng, seed);
    level = gsl_ran_gaussian(rng, common_std);
    for (size_t i = 0; i < N_RUNS; i++) {
        double step = i % 50 == 0 ? 1 : 0.1, kept = exp(-step / tau_seconds);
        now += step;
        level = kept * level + gsl_ran_gaussian(rng, common_std * sqrt(1 - kept * kept));
        size_t group = gsl_rng_uniform_int(rng, N_GROUPS);
        world->truth[i] = level;
        world->runs[i] = (struct wander_run){
            group, now, 20 + 0.1 * (double)group + level + gsl_ran_gaussian(rng, noise_std)};
    }
}

/* Root of the mean square of what is not known of the common part, its mean aside. */
static double error_of(const struct world *world, const double *common)
{
    double squares = 0, mean = 0;
    for (size_t i = 0; i < N_RUNS; i++)
        mean += (common[i] - world->truth[i]) / N_RUNS;
    for (size_t i = 0; i < N_RUNS; i++)
        squares += (common[i] - world->truth[i] - mean) * (common[i] - world->truth[i] - mean) / N_RUNS;
    return sqrt(squares);
}

/* What is found in the world, and what is left of its variance at a run's time. */
static struct wander find(const struct world *world, double *ret_common, double *ret_left)
{
    struct wander wander;
    assert_int_equal(wander_fit(world->runs, N_RUNS, N_GROUPS, &wander), 0);
    assert_int_equal(wander_common(&wander, world->runs, N_RUNS, N_GROUPS, ret_common, ret_left), 0);
    return wander;
}

TEST(independent_runs_have_nothing_in_common)
{
    struct world world;
    double common[N_RUNS], left;
    for (unsigned seed = 1; seed <= 30; seed++) {
        make(&world, seed, 0, 1, 0.1);
        assert_close(find(&world, common, &left).variance, 0, 0);
        assert_close(left, 0, 0);
        assert_close(common[seed], 0, 0);
    }
}

TEST(what_is_common_is_found_with_its_scatter_and_time)
{
    struct world world;
    double common[N_RUNS], left;
    for (unsigned seed = 1; seed <= 30; seed++) {
        make(&world, seed, 0.12, 1, 0.05);
        struct wander wander = find(&world, common, &left);
        assert_in_range(lround(1e3 * sqrt(wander.variance)), 70, 190);
        assert_in_range(lround(10 * wander.tau_seconds), 3, 30);
        assert_in_range(lround(1e3 * sqrt(wander.noise_variance)), 25, 85);
        assert_true(error_of(&world, common) < 0.08);
        assert_true(left > 0 && left < wander.variance);
    }
}

/* Of one moment it is all of the variance, of moments far apart it falls with their number. */
TEST(a_mean_over_times_is_off_by_what_they_share)
{
    const struct wander wander = {0.04, 2, 0.01};
    const double moment[] = {5, 5, 5, 5}, apart[] = {100, 200, 300, 400}, unknown[] = {0, 0, 5};
    assert_close(wander_mean_variance(&wander, moment, 4), 0.04, 1e-12);
    assert_close(wander_mean_variance(&wander, apart, 4), 0.01, 1e-12);
    assert_close(wander_mean_variance(&wander, unknown, 3), 0.04, 1e-12);
    assert_close(wander_mean_variance(&wander, unknown, 2), 0, 0);
    assert_close(wander_mean_variance(&(struct wander){0}, moment, 4), 0, 0);
}

TEST(a_step_is_common_too)
{
    struct world world;
    double common[N_RUNS], left;
    make(&world, 1, 0, 1, 0.05);
    for (size_t i = N_RUNS / 2; i < N_RUNS; i++)
        world.runs[i].value -= 0.3;
    (void)find(&world, common, &left);
    assert_close(common[N_RUNS / 4] - common[3 * N_RUNS / 4], 0.3, 0.06);
}

TEST(a_run_far_off_moves_the_others_little)
{
    struct world world;
    struct wander wander;
    double common[N_RUNS], with[N_RUNS], left;
    make(&world, 2, 0.12, 1, 0.05);
    wander = find(&world, common, &left);
    world.runs[100].value -= 5;
    assert_int_equal(wander_common(&wander, world.runs, N_RUNS, N_GROUPS, with, &left), 0);
    for (size_t i = 0; i < N_RUNS; i++) {
        if (world.runs[i].group != world.runs[100].group)
            assert_close(with[i], common[i], 0.1);
    }
}

/* Its own value is not among what tells of the moment of a run, nor is a run whose group has no other. */
TEST(the_only_run_of_a_group_takes_what_the_others_say)
{
    struct world world;
    struct wander wander;
    double common[N_RUNS], with[N_RUNS], left;
    make(&world, 3, 0.12, 1, 0.03);
    for (size_t i = 0; i < N_RUNS; i++)
        world.runs[i].group %= N_GROUPS - 1;
    world.runs[150].group = N_GROUPS - 1;
    wander = find(&world, common, &left);
    world.runs[150].value += 1;
    assert_int_equal(wander_common(&wander, world.runs, N_RUNS, N_GROUPS, with, &left), 0);
    assert_close(with[150], common[150], 0);
    assert_close(with[150], world.truth[150], 0.12);
}

TEST(runs_of_unknown_times_have_nothing_in_common)
{
    struct world world;
    struct wander wander = {0.01, 1, 0.01};
    double common[N_RUNS], left;
    make(&world, 4, 0.12, 1, 0.03);
    for (size_t i = 0; i < 20; i++)
        world.runs[i].seconds = 0;
    assert_int_equal(wander_common(&wander, world.runs, N_RUNS, N_GROUPS, common, &left), 0);
    for (size_t i = 0; i < 20; i++)
        assert_close(common[i], 0, 0);
    assert_true(fabs(common[40]) > 0);
}

TEST(few_runs_or_such_without_scatter_show_nothing)
{
    struct world world;
    struct wander wander = {1, 1, 1};
    make(&world, 5, 0.12, 1, 0.03);
    assert_int_equal(wander_fit(world.runs, 19, N_GROUPS, &wander), 0);
    assert_close(wander.variance, 0, 0);
    assert_int_equal(wander_fit(world.runs, 0, N_GROUPS, &wander), 0);
    for (size_t i = 0; i < N_RUNS; i++)
        world.runs[i].value = 1 + 1e-9 * (double)(i % 3);
    assert_int_equal(wander_fit(world.runs, N_RUNS, N_GROUPS, &wander), 0);
    assert_close(wander.variance, 0, 0);
}
