/* What is believed after telling: moments, noise, the choice of the surrogate, the best, and the probability
 * of being it. */
#include "models/search/belief.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

enum { N_POINTS = 60, N_LEVELS = 15 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_CATEGORY};
GRID_SPACE(space, kinds, N_LEVELS, N_POINTS / N_LEVELS)

static double hill(size_t point)
{
    const double *x = space_row(&space, point);

    return 15.0 - 2.0 * gsl_pow_2(x[0] - 0.6) + 0.1 * x[1];
}

/* Of no better point. */
static double probability_within(const struct belief *belief, size_t point, double margin, size_t n_draws)
{
    struct belief_claim claim = {.probability_within = -1.0};

    assert_int_equal(belief_claim(belief, point, NULL, margin, 0.95, n_draws, rng, &claim), 0);
    return claim.probability_within;
}

/* Tells `replays` noisy values of every `stride`-th point. */
static void tell_hill(struct belief *belief, size_t stride, size_t replays, double noise_std)
{
    gsl_rng_set(rng, 21);
    for (size_t point = 0; point < N_POINTS; point += stride)
        for (size_t i = 0; i < replays; i++)
            belief_tell(belief, point, hill(point) + gsl_ran_gaussian(rng, noise_std));
}

TEST(moments_of_told_values_are_those_of_the_sample)
{
    const double values[] = {20.1, 20.3, 19.8, 20.0, 20.05};
    struct moments expected = moments_of(values, 5);
    AUTO(belief_done) struct belief belief;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.2), 0);
    belief_tell(&belief, 7, values[0]);
    assert_close(belief.moments[7].std, 0.0, 0.0);
    for (size_t i = 1; i < 5; i++)
        belief_tell(&belief, 7, values[i]);
    belief_tell(&belief, 8, 1.0);
    assert_int_equal(belief.moments[7].n, 5);
    assert_close(belief.moments[7].mean, expected.mean, 1e-12);
    assert_close(belief.moments[7].std, expected.std, 1e-12);
    assert_int_equal(belief.n_measured, 2);
    assert_int_equal(belief.n_told, 6);
}

TEST(done_accepts_null_and_zero)
{
    struct belief belief = {0};

    belief_done(NULL);
    belief_done(&belief);
    belief_done(&belief);
}

TEST(too_little_is_enodata_and_leaves_no_surrogate)
{
    const struct surrogate_ops *const models[] = {&surrogate_gp, &surrogate_quadratic};

    for (size_t i = 0; i < 2; i++) {
        AUTO(belief_done) struct belief belief;
        bool within = true;

        assert_int_equal(belief_init(&belief, &space, models[i], 0.1), 0);
        assert_int_equal(belief_update(&belief, true, rng), -ENODATA);
        belief_tell(&belief, 3, 1.0);
        belief_tell(&belief, 5, 2.0);
        assert_int_equal(belief_update(&belief, true, rng), -ENODATA);
        assert_null(belief.chosen);
        assert_int_equal(belief_best(&belief, 1), 5); /* by sample mean */
        assert_close(probability_within(&belief, 5, 0.1, 100), 0.0, 0.0);
        assert_int_equal(belief_is_within(&belief, 5, 0.1, 1e-9, &within), 0);
        assert_false(within);
    }
}

TEST(run_variance_before_replays_is_the_fallback)
{
    AUTO(belief_done) struct belief belief;
    double df;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.2), 0);
    assert_close(belief_run_variance(&belief, 0, &df), 0.04, 1e-12);
    assert_close(df, 1.0, 1e-12);
}

TEST(noise_is_learnt_from_replays)
{
    AUTO(belief_done) struct belief belief;
    double df;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.5), 0);
    tell_hill(&belief, 2, 6, 0.03);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_close(sqrt(belief_run_variance(&belief, 1, &df)), 0.03, 0.005); /* point 1 has no replays */
    assert_true(df >= 1.0);
}

TEST(posterior_follows_the_truth)
{
    const struct surrogate_ops *const models[] = {&surrogate_gp, &surrogate_quadratic};

    for (size_t i = 0; i < 2; i++) {
        AUTO(belief_done) struct belief belief;

        assert_int_equal(belief_init(&belief, &space, models[i], 0.02), 0);
        tell_hill(&belief, 2, 2, 0.02);
        assert_int_equal(belief_update(&belief, true, rng), 0);
        for (size_t point = 0; point < N_POINTS; point++) {
            assert_close(belief.mean[point], hill(point), 0.08);
            assert_true(belief.variance[point] > 0.0);
        }
    }
}

TEST(update_without_refit_takes_new_data_in)
{
    AUTO(belief_done) struct belief belief;
    double before, score;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.02), 0);
    tell_hill(&belief, 2, 2, 0.02);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    before = belief.variance[1];
    score = belief.score;
    for (size_t i = 0; i < 20; i++)
        belief_tell(&belief, 1, hill(1) + 0.3);
    assert_int_equal(belief_update(&belief, false, rng), 0);
    assert_true(belief.variance[1] < before);
    assert_close(belief.mean[1], hill(1) + 0.3, 0.1);
    assert_close(belief.score, score, 0.0);
}

TEST(best_is_measured_not_excluded_and_replayed_enough)
{
    AUTO(belief_done) struct belief belief;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.02), 0);
    assert_int_equal(belief_best(&belief, 1), N_POINTS);
    tell_hill(&belief, 2, 2, 0.001);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    /* Level 9 of 0..14 is the nearest to 0.6, and of the last category the point of that level is even. */
    assert_int_equal(belief_best(&belief, 2), 54);
    assert_int_equal(belief_best(&belief, 3), N_POINTS);
    belief_tell(&belief, 0, hill(0));
    assert_int_equal(belief_best(&belief, 3), 0);
    belief_exclude(&belief, 54);
    assert_int_not_equal(belief_best(&belief, 2), 54);
    assert_int_equal(belief_best(&belief, 2) % 2, 0);
}

TEST(data_of_excluded_points_are_not_used)
{
    AUTO(belief_done) struct belief belief;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.02), 0);
    tell_hill(&belief, 2, 2, 0.001);
    belief_tell(&belief, 31, 99.0);
    belief_exclude(&belief, 31);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_close(belief.mean[31], hill(31), 0.05);
}

/* All points measured so often that nothing is uncertain: margins alone decide. */
TEST(probability_is_zero_or_one_where_all_is_known)
{
    AUTO(belief_done) struct belief belief;
    double probability;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 1e-5), 0);
    for (size_t point = 0; point < N_POINTS; point++)
        belief_tell(&belief, point, point == 20 ? 1.0 : point == 40 ? 0.95 : 0.0);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    probability = probability_within(&belief, 20, 0.0, 200);
    assert_close(probability, 1.0, 0.0);
    probability = probability_within(&belief, 40, 0.03, 200);
    assert_close(probability, 0.0, 0.0);
    probability = probability_within(&belief, 40, 0.06, 200);
    assert_close(probability, 1.0, 0.0);
    /* The bound on the shortfall is where the one turns into the other. */
    for (double margin = 0.03; margin < 0.07; margin += 0.03) {
        struct belief_claim claim;

        assert_int_equal(belief_claim(&belief, 40, NULL, margin, 0.95, 200, rng, &claim), 0);
        assert_close(claim.shortfall, 0.05, 1e-3);
        assert_close(claim.probability_within, claim.shortfall <= margin, 0.0);
    }
    /* So does a level that something else than the point's runs tells of. */
    struct belief_level other = {.mean = 0.97, .variance = 1e-8};
    struct belief_claim claim;
    assert_int_equal(belief_claim(&belief, 40, &other, 0.02, 0.95, 200, rng, &claim), 0);
    assert_close(claim.shortfall, 0.03, 1e-3);
    assert_close(claim.probability_within, 0.0, 0.0);
    belief_exclude(&belief, 20);
    probability = probability_within(&belief, 40, 0.0, 200);
    assert_close(probability, 1.0, 0.0);
}

/* Both were measured so often that neither is taken for a surprise beyond that; the others are far below. */
static void tell_two(struct belief *belief)
{
    assert_int_equal(belief_init(belief, &space, &surrogate_gp, 0.05), 0);
    for (size_t i = 0; i < 8 * N_POINTS; i++) {
        size_t point = i % N_POINTS;
        double level = point == 20 ? 9.0 : point == 40 ? 9.03 : 0.0;

        belief_tell(belief, point, level + (i / N_POINTS % 2 == 0 ? 0.05 : -0.05));
    }
    assert_int_equal(belief_update(belief, true, rng), 0);
}

/* With one rival it is a normal probability of a difference. */
TEST(probability_against_one_rival_is_the_normal_one)
{
    const size_t pair[] = {20, 40};
    const double margin = 0.02;
    AUTO(belief_done) struct belief belief;
    double covariance[2], probability, std, expected;

    tell_two(&belief);
    assert_int_equal(belief_covariance(&belief, 20, pair, 2, covariance), 0);
    std = sqrt(belief.variance[20] + belief.variance[40] - 2.0 * covariance[1]);
    expected = gsl_cdf_ugaussian_P((margin - (belief.mean[40] - belief.mean[20])) / std);
    assert_true(expected > 0.1 && expected < 0.9);
    probability = probability_within(&belief, 20, margin, 20000);
    assert_close(probability, expected, 0.02);
}

/* Of one rival the sum of all chances is its chance. */
TEST(against_one_rival_it_is_the_probability)
{
    AUTO(belief_done) struct belief belief;

    tell_two(&belief);
    for (double margin = -0.01; margin < 0.05; margin += 0.01) {
        double probability = probability_within(&belief, 20, margin, 20000);
        bool within = false;

        assert_int_equal(belief_is_within(&belief, 20, margin, probability - 0.02, &within), 0);
        assert_true(within);
        assert_int_equal(belief_is_within(&belief, 20, margin, probability + 0.02, &within), 0);
        assert_false(within);
    }
}

/* Among rivals that go together more is missing, by their sum, than is: the answer may be no too often, and
 * is never yes too often. */
TEST(among_many_rivals_it_is_cautious)
{
    AUTO(belief_done) struct belief belief;
    size_t n_open = 0, n_sure = 0;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.05), 0);
    tell_hill(&belief, 2, 3, 0.05);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    for (double margin = 0.0; margin < 0.2; margin += 0.01) {
        size_t best = belief_best(&belief, 1);
        double probability = probability_within(&belief, best, margin, 20000);
        bool within = true;

        n_open += probability > 0.1 && probability < 0.9;
        assert_int_equal(belief_is_within(&belief, best, margin, probability + 0.02, &within), 0);
        assert_false(within);
        assert_int_equal(belief_is_within(&belief, best, margin, 0.95, &within), 0);
        assert_true(within || probability < 0.98);
        n_sure += within;
    }
    assert_true(n_open > 2 && n_sure > 2);
}

/* A point that reaches what none can pass is as good as the best, however little is known of the others. */
TEST(what_nothing_can_pass_nothing_is_believed_to_pass)
{
    AUTO(belief_done) struct belief belief;
    double open, closed, *draws = malloc(N_POINTS * 50 * sizeof *draws);
    size_t points[N_POINTS];

    assert_non_null(draws);
    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.05), 0);
    for (size_t point = 0; point < N_POINTS; point += 4) {
        for (size_t k = 0; k < (point == 20 ? 40 : 1); k++)
            belief_tell(&belief, point, fmin(hill(point), 1.0) + (k % 2 == 0 ? 0.02 : -0.02));
    }
    assert_int_equal(belief_update(&belief, true, rng), 0);
    open = probability_within(&belief, 20, 0.05, 500);
    belief.ceiling = belief.mean[20] + 0.02;
    closed = probability_within(&belief, 20, 0.05, 500);
    assert_true(closed > 0.95 && open < closed);
    for (size_t point = 0; point < N_POINTS; point++)
        points[point] = point;
    assert_int_equal(belief_sample(&belief, points, N_POINTS, 50, rng, draws), 0);
    for (size_t i = 0; i < N_POINTS * 50; i++)
        assert_true(draws[i] <= belief.ceiling);
    free(draws);
}

/* Over many made-up responses that obey the model, claims of p come true p of the time. */
TEST(probability_is_calibrated)
{
    enum { N_WORLDS = 150 };
    double claimed = 0.0, true_ones = 0.0;

    for (unsigned long world = 0; world < N_WORLDS; world++) {
        AUTO(belief_done) struct belief belief;
        double truth[N_POINTS], probability, best_truth = -INFINITY;
        size_t best;

        gsl_rng_set(rng, 100 + world);
        double top = gsl_rng_uniform(rng), steep = 0.3 + gsl_rng_uniform(rng);

        assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.05), 0);
        for (size_t point = 0; point < N_POINTS; point++) {
            truth[point] = -steep * gsl_pow_2(space_row(&space, point)[0] - top) +
                           0.05 * sin(space_row(&space, point)[1] * (1.0 + top)) +
                           gsl_ran_gaussian(rng, 0.02);
            best_truth = fmax(best_truth, truth[point]);
        }
        for (size_t i = 0; i < 24; i++)
            belief_tell(&belief, i * 7 % N_POINTS, truth[i * 7 % N_POINTS] + gsl_ran_gaussian(rng, 0.05));
        assert_int_equal(belief_update(&belief, true, rng), 0);
        best = belief_best(&belief, 1);
        probability = probability_within(&belief, best, 0.05, 300);
        claimed += probability / N_WORLDS;
        true_ones += (best_truth - truth[best] <= 0.05) / (double)N_WORLDS;
    }
    assert_true(claimed > 0.1 && claimed < 0.9);
    assert_close(claimed, true_ones, 0.15);
}

TEST(one_outlier_among_replays_is_counted_and_hardly_felt)
{
    AUTO(belief_done) struct belief belief;
    double df, before;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.05), 0);
    tell_hill(&belief, 3, 4, 0.03);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_int_equal(belief_outlier_runs(&belief), 0);
    before = belief.moments[30].mean;
    belief_tell(&belief, 30, hill(30) - log(3.0));
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_close(belief.moments[30].mean, before, 0.005);
    assert_int_equal(belief.moments[30].n, 5);
    assert_int_equal(belief_outlier_runs(&belief), 1);
    assert_int_equal(belief.robust[30].n_outliers, 1);
    assert_close(sqrt(belief_run_variance(&belief, 0, &df)), 0.03, 0.008);
    belief_exclude(&belief, 30);
    assert_int_equal(belief_outlier_runs(&belief), 0);
}

TEST(points_of_two_levels_are_counted_and_keep_their_mean)
{
    AUTO(belief_done) struct belief belief;
    double df;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.05), 0);
    tell_hill(&belief, 3, 4, 0.03);
    for (size_t i = 0; i < 6; i++)
        belief_tell(&belief, 30, hill(30) - (i % 2 == 0 ? log(3.0) : 0.0));
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_int_equal(belief_two_level_points(&belief), 1);
    assert_close(belief.moments[30].mean, hill(30) - 0.3 * log(3.0), 0.06);
    assert_true(sqrt(belief_run_variance(&belief, 30, &df)) > 0.4);
}

/* A hill known well, but for one point whose only run was three times too slow. */
static void tell_hill_with_a_slow_run(struct belief *belief, size_t slow)
{
    assert_int_equal(belief_init(belief, &space, &surrogate_gp, 0.05), 0);
    gsl_rng_set(rng, 23);
    for (size_t point = 0; point < N_POINTS; point++)
        for (size_t i = 0; i < (point % 4 == slow % 4 ? 1 : 3); i++)
            belief_tell(belief, point,
                        hill(point) + gsl_ran_gaussian(rng, 0.03) - (point == slow ? log(3.0) : 0.0));
    assert_int_equal(belief_update(belief, true, rng), 0);
}

TEST(a_single_slow_run_is_suspect_until_measured_again)
{
    AUTO(belief_done) struct belief belief;

    tell_hill_with_a_slow_run(&belief, 38);
    assert_int_equal(belief_suspect(&belief), 38);
    assert_true(belief.single_weight[38] < 0.1);
    assert_close(belief.single_weight[34], 1.0, 0.1);
    assert_close(belief.mean[38], hill(38), 0.25);
    belief_tell(&belief, 38, hill(38) - log(3.0));
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_int_equal(belief_suspect(&belief), N_POINTS);
    assert_close(belief.moments[38].mean, hill(38) - log(3.0), 0.05);
    assert_close(belief.single_weight[38], 1.0, 0.0);
}

/* The first point of the hill is far below its top: slow or not, it cannot be the best. */
TEST(a_suspect_that_cannot_win_is_left_alone)
{
    AUTO(belief_done) struct belief belief;

    tell_hill_with_a_slow_run(&belief, 0);
    assert_true(belief.single_weight[0] < 0.1);
    assert_int_equal(belief_suspect(&belief), N_POINTS);
}

/* On a disk that wanders, the runs of a point near in time are all fast or all slow. */
TEST(what_all_points_have_in_common_at_a_time_is_no_difference_between_them)
{
    AUTO(belief_done) struct belief belief;
    double raw = 0.0, told = 0.0;
    const size_t n = 240;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.2), 0);
    gsl_rng_set(rng, 31);
    for (size_t i = 0; i < n; i++) {
        size_t point = i % 3 == 0 ? gsl_rng_uniform_int(rng, N_POINTS) : 2 * (i / 40) + i % 2;

        belief.now_seconds = 1.0 + 0.1 * (double)i;
        belief_tell(&belief, point,
                    hill(point) + 0.2 * sin(belief.now_seconds / 2.0) + gsl_ran_gaussian(rng, 0.02));
    }
    for (size_t point = 0; point < N_POINTS; point++)
        raw += gsl_pow_2(belief.moments[point].n > 1 ? belief.moments[point].mean - hill(point) : 0.0);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_true(belief.wander.variance > 0.0);
    for (size_t point = 0; point < N_POINTS; point++)
        told += gsl_pow_2(belief.moments[point].n > 1 ? belief.moments[point].mean - hill(point) : 0.0);
    assert_true(told < 0.25 * raw);
    assert_true(sqrt(belief.noise.variance) < 0.08);
}

TEST(the_latest_runs_of_a_point_are_those_told_last)
{
    AUTO(belief_done) struct belief belief;
    struct moments latest;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.2), 0);
    for (size_t i = 0; i < 6; i++) {
        belief.now_seconds = 1.0 + (double)i;
        belief_tell(&belief, 3, (double)i);
        belief_tell(&belief, 4, 9.0);
    }
    latest = belief_latest(&belief, 3, 2);
    assert_int_equal(latest.n, 2);
    assert_close(latest.mean, 4.5, 1e-12);
    belief_forget(&belief, 3);
    assert_int_equal(belief.runs.n, 6);
    assert_int_equal(belief_latest(&belief, 3, 0).n, 0);
}

/* Twenty runs within a moment share what is not known of it; far apart they do not. */
TEST(runs_at_one_time_say_less_of_a_point_on_a_disk_that_wanders)
{
    AUTO(belief_done) struct belief belief;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, 0.2), 0);
    gsl_rng_set(rng, 32);
    for (size_t i = 0; i < 300; i++) {
        bool burst = i >= 100 && i < 120;
        size_t point = burst ? 7 : i % 15 == 0 ? 9 : 10 + gsl_rng_uniform_int(rng, 40);

        belief.now_seconds = 1.0 + 0.1 * (double)i;
        belief_tell(&belief, point,
                    hill(point) + 0.2 * sin(belief.now_seconds) + gsl_ran_gaussian(rng, 0.05));
    }
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_true(belief.wander.variance > 0.0);
    assert_int_equal(belief.moments[7].n, 20);
    assert_in_range(belief.moments[9].n, 13, 20);
    assert_true(belief.robust[7].location_variance > 1.2 * belief.robust[9].location_variance);
}
