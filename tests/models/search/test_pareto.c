/* Tests of models/search/pareto: known fronts and knees, what noise does to them, and cliffs. */
#include "models/search/pareto.h"
#include "tests/models/rng.h"

#include <errno.h>

enum { N_CURVE = 13, N_DRAWS = 2000 };

static const struct pareto_score knee = {.log_enough = INFINITY, .delay_weight = 1};

static struct contender contender_of(double mean, double std, size_t n)
{
    return (struct contender){
        .moments = {.n = n, .mean = mean, .std = std}, .run_variance = std * std, .run_df = 20};
}

static struct pareto_point point_of(double rate, double delay, double std)
{
    return (struct pareto_point){.rate = contender_of(log(rate), std, 5),
                                 .delay = contender_of(log(delay), std, 5)};
}

/* A device with depth 1, 2, 4, ... whose rate is n / (n + 15): half of the highest at n = 16 nearly. */
static void make_curve(struct pareto_point *points, double std)
{
    for (size_t i = 0; i < N_CURVE; i++) {
        double depth = pow(2, (double)i), rate = depth / (depth + 15);
        points[i] = point_of(rate, depth / rate, std);
    }
}

static struct pareto_draws draws_of(double correlation)
{
    gsl_rng_set(rng, 7);
    return (struct pareto_draws){.correlation = correlation, .n_draws = N_DRAWS, .rng = rng};
}

TEST(the_knee_of_a_queue_is_at_half_of_its_highest_rate)
{
    struct pareto_point points[N_CURVE];
    size_t best = 0;
    make_curve(points, 0.01);
    for (size_t i = 1; i < N_CURVE; i++) {
        if (pareto_score_of(knee, points[i].rate.moments.mean, points[i].delay.moments.mean) >
            pareto_score_of(knee, points[best].rate.moments.mean, points[best].delay.moments.mean))
            best = i;
    }
    assert_int_equal(best, 4);
    assert_close(exp(points[best].rate.moments.mean), 0.5, 0.02);
}

TEST(beyond_enough_only_the_delay_counts)
{
    struct pareto_score enough = {.log_enough = log(100.0), .delay_weight = 1};
    assert_close(pareto_score_of(enough, log(400.0), log(2.0)), log(50.0), 1e-12);
    assert_close(pareto_score_of(enough, log(50.0), log(2.0)), log(25.0), 1e-12);
    assert_close(pareto_score_of((struct pareto_score){.log_enough = INFINITY}, 3, 1e9), 3, 0);
}

TEST(a_point_worse_in_both_is_dominated_and_a_trade_is_not)
{
    struct pareto_point points[] = {point_of(100, 10, 0.01), point_of(200, 20, 0.01), point_of(90, 15, 0.01),
                                    point_of(150, 25, 0.01)};
    bool dominated[4];
    pareto_dominated(points, 4, 0.95, dominated);
    assert_false(dominated[0]);
    assert_false(dominated[1]);
    assert_true(dominated[2]);
    assert_true(dominated[3]);
}

TEST(a_tie_in_one_of_both_keeps_a_point)
{
    struct pareto_point points[] = {point_of(200, 10.0, 0.05), point_of(100, 10.1, 0.05)};
    bool dominated[2];
    pareto_dominated(points, 2, 0.95, dominated);
    assert_false(dominated[0] || dominated[1]);
    points[1] = point_of(100, 20, 0.05);
    pareto_dominated(points, 2, 0.95, dominated);
    assert_true(dominated[1] && !dominated[0]);
}

TEST(noise_keeps_what_it_hides)
{
    struct pareto_point quiet[] = {point_of(110, 9, 0.01), point_of(100, 10, 0.01)},
                        noisy[] = {point_of(110, 9, 0.5), point_of(100, 10, 0.5)};
    bool dominated[2];
    pareto_dominated(quiet, 2, 0.95, dominated);
    assert_true(dominated[1]);
    pareto_dominated(noisy, 2, 0.95, dominated);
    assert_false(dominated[1]);
}

TEST(all_of_a_quiet_curve_is_on_the_front)
{
    struct pareto_point points[N_CURVE + 1];
    double share[N_CURVE + 1];
    make_curve(points, 0.005);
    points[N_CURVE] = point_of(0.4, 40, 0.005); /* depth 16 moves 0.52 in 31 */
    assert_int_equal(pareto_shares(points, N_CURVE + 1, draws_of(-1), NULL, 0.03, share), 0);
    for (size_t i = 0; i < N_CURVE; i++)
        assert_true(share[i] > 0.95);
    assert_true(share[N_CURVE] < 0.01);
}

TEST(inside_the_margin_nothing_is_beaten)
{
    struct pareto_point points[] = {point_of(102, 9.8, 1e-4), point_of(100, 10, 1e-4)};
    double share[2];
    assert_int_equal(pareto_shares(points, 2, draws_of(-1), NULL, 0.03, share), 0);
    assert_close(share[1], 1, 0);
    assert_int_equal(pareto_shares(points, 2, draws_of(-1), NULL, 0.001, share), 0);
    assert_close(share[1], 0, 0);
    /* Far better in one and inside the margin in the other is not better in both. */
    points[0] = point_of(200, 9.9, 1e-4);
    assert_int_equal(pareto_shares(points, 2, draws_of(-1), NULL, 0.03, share), 0);
    assert_close(share[1], 1, 0);
    points[0] = point_of(101, 5, 1e-4);
    assert_int_equal(pareto_shares(points, 2, draws_of(-1), NULL, 0.03, share), 0);
    assert_close(share[1], 1, 0);
}

/* Two equals: without a margin each is beaten in both in about half of the draws when a fast run is fast in
 * both, and in none when a run is fast in one at the expense of the other. */
TEST(correlation_decides_how_often_equals_beat_each_other)
{
    struct pareto_point points[] = {point_of(100, 10, 0.1), point_of(100, 10, 0.1)};
    double share[2];
    assert_int_equal(pareto_shares(points, 2, draws_of(-1), NULL, 0, share), 0);
    assert_close(share[0], 0.5, 0.05);
    assert_close(share[0] + share[1], 1, 1e-9);
    assert_int_equal(pareto_shares(points, 2, draws_of(1), NULL, 0, share), 0);
    assert_close(share[0], 1, 0);
    assert_int_equal(pareto_shares(points, 2, draws_of(0), NULL, 0, share), 0);
    assert_close(share[0], 0.75, 0.05);
}

TEST(the_knee_is_sure_without_noise_and_shared_between_equals)
{
    struct pareto_point points[N_CURVE];
    double share[N_CURVE];
    make_curve(points, 0.001);
    assert_int_equal(pareto_shares(points, N_CURVE, draws_of(-1), &knee, 0, share), 0);
    assert_close(share[4], 1, 0);
    points[9] = points[4];
    assert_int_equal(pareto_shares(points, N_CURVE, draws_of(-1), &knee, 0, share), 0);
    assert_close(share[4], 0.5, 0.05);
    assert_close(share[4] + share[9], 1, 1e-9);
    assert_int_equal(pareto_shares(points, N_CURVE, draws_of(-1), &knee, 0.05, share), 0);
    assert_close(share[4], 1, 0);
    assert_close(share[9], 1, 0);
}

/* Of 95 % claims about the knee at least 93 % must be right, whatever the noise. */
TEST(claims_about_the_knee_hold)
{
    size_t n_claims = 0, n_right = 0;
    for (unsigned seed = 0; seed < 400; seed++) {
        struct pareto_point points[N_CURVE];
        double share[N_CURVE];
        make_curve(points, 0.04);
        gsl_rng_set(rng, 1000 + seed);
        for (size_t i = 0; i < N_CURVE; i++) {
            double luck = gsl_ran_gaussian(rng, 0.04 / sqrt(5));
            points[i].rate.moments.mean += luck;
            points[i].delay.moments.mean -= luck;
        }
        struct pareto_draws draws = {.correlation = -1, .n_draws = 200, .rng = rng};
        assert_int_equal(pareto_shares(points, N_CURVE, draws, &knee, 0.03, share), 0);
        for (size_t i = 0; i < N_CURVE; i++) {
            n_claims += share[i] >= 0.95;
            n_right += share[i] >= 0.95 && i == 4;
        }
    }
    assert_true(n_claims > 100);
    assert_true((double)n_right >= 0.93 * (double)n_claims);
}

TEST(a_saturation_is_no_cliff_and_a_cliff_is_one)
{
    struct contender top = contender_of(0, 0.02, 5), half = contender_of(-M_LN2, 0.02, 5),
                     far_below = contender_of(-3 * M_LN2, 0.02, 5), unsure = contender_of(-3 * M_LN2, 1, 3);
    assert_false(pareto_is_steep(&top, &half, 1, 0.95));
    assert_true(pareto_is_steep(&top, &far_below, 1, 0.95));
    assert_false(pareto_is_steep(&top, &far_below, 2, 0.95));
    assert_false(pareto_is_steep(&top, &unsure, 1, 0.95));
    assert_false(pareto_is_steep(&far_below, &top, 1, 0.95));
}

TEST(no_points_and_one_point_are_fine)
{
    struct pareto_point point = point_of(1, 1, 0.1);
    double share = -1;
    bool dominated = true;
    assert_int_equal(pareto_shares(&point, 0, draws_of(0), NULL, 0.03, &share), 0);
    assert_close(share, -1, 0);
    assert_int_equal(pareto_shares(&point, 1, draws_of(0), NULL, 0.03, &share), 0);
    assert_close(share, 1, 0);
    assert_int_equal(pareto_shares(&point, 1, draws_of(0), &knee, 0, &share), 0);
    assert_close(share, 1, 0);
    pareto_dominated(&point, 1, 0.95, &dominated);
    assert_false(dominated);
}
