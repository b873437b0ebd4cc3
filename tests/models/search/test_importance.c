/* Shares of variance against surfaces whose shares are known, on full and on nested spaces. */
#include "models/search/importance.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <errno.h>
#include <gsl/gsl_math.h>

enum { N_SIZES = 6, N_DEPTHS = 4, N_APIS = 3, N_FULL = N_SIZES * N_DEPTHS * N_APIS, SIZE = 0, DEPTH, API };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
static struct space full, nested; /* nested: api 0 at depth 0 only */
static size_t all[N_FULL];
static struct importance found;

static size_t make_space(struct space *space, int without_deep_psync)
{
    double raw[N_FULL * 3];
    size_t n = 0;

    for (size_t i = 0; i < N_FULL; i++) {
        size_t api = i / (N_SIZES * N_DEPTHS), depth = i / N_SIZES % N_DEPTHS;

        if (without_deep_psync && api == 0 && depth > 0)
            continue;
        raw[3 * n] = (double)(i % N_SIZES);
        raw[3 * n + 1] = (double)depth;
        raw[3 * n + 2] = (double)api;
        n++;
    }
    assert_int_equal(space_init(space, raw, n, 3, kinds), 0);
    return n;
}

FIXTURE(setup)
{
    make_space(&full, 0);
    make_space(&nested, 1);
    for (size_t i = 0; i < N_FULL; i++)
        all[i] = i;
    return 0;
}

FIXTURE(teardown)
{
    space_done(&full);
    space_done(&nested);
    return 0;
}

GROUP(setup, teardown);

/* Coordinates centred over the full space: depth and api have mean 0 there, and variance 1 by construction.
 */
static double depth_part(const double *x)
{
    return (x[DEPTH] - 0.5) / sqrt(5.0 / 36.0);
}

static double api_part(const double *x)
{
    return (x[API] - 1.0) / sqrt(2.0 / 3.0);
}

static double additive(const double *x)
{
    return 20.0 + 2.0 * depth_part(x) + api_part(x);
}

static double with_interaction(const double *x)
{
    return additive(x) + 3.0 * depth_part(x) * api_part(x);
}

static double interaction_only(const double *x)
{
    return depth_part(x) * api_part(x);
}

static double all_three(const double *x)
{
    return (x[SIZE] > 0.5 ? 1.0 : -1.0) * depth_part(x) * api_part(x);
}

static double depth_only(const double *x)
{
    return 7.0 + 0.3 * depth_part(x);
}

static double flat(const double *x)
{
    (void)x;
    return 21.3;
}

static void decompose(const struct space *space, double (*response)(const double *x))
{
    double draw[N_FULL];

    for (size_t i = 0; i < space->n_points; i++)
        draw[i] = response(space_row(space, i));
    assert_int_equal(importance_decompose(space, all, space->n_points, draw, 1, 0.9, &found), 0);
}

TEST(an_additive_surface_has_its_factors_shares_and_no_pairs)
{
    decompose(&full, additive);
    assert_close(found.own[DEPTH].mean, 0.8, 1e-9);
    assert_close(found.own[API].mean, 0.2, 1e-9);
    assert_close(found.own[SIZE].mean, 0.0, 1e-9);
    assert_close(found.total[DEPTH].mean, 0.8, 1e-9);
    assert_close(found.total[SIZE].mean, 0.0, 1e-9);
    assert_close(found.pair[DEPTH][API].mean, 0.0, 1e-9);
    assert_close(found.unexplained.mean, 0.0, 1e-9);
    assert_close(found.spread.mean, sqrt(5.0), 1e-9);
}

TEST(shares_of_a_full_product_are_sobols_and_sum_to_one)
{
    decompose(&full, with_interaction);
    assert_close(found.own[DEPTH].mean, 4.0 / 14.0, 1e-9);
    assert_close(found.own[API].mean, 1.0 / 14.0, 1e-9);
    assert_close(found.pair[DEPTH][API].mean, 9.0 / 14.0, 1e-9);
    assert_close(found.pair[SIZE][API].mean, 0.0, 1e-9);
    assert_close(found.total[API].mean, 10.0 / 14.0, 1e-9);
    assert_close(found.unexplained.mean, 0.0, 1e-9);
}

TEST(what_two_factors_do_together_only_is_the_pairs)
{
    decompose(&full, interaction_only);
    assert_close(found.own[DEPTH].mean, 0.0, 1e-9);
    assert_close(found.own[API].mean, 0.0, 1e-9);
    assert_close(found.pair[DEPTH][API].mean, 1.0, 1e-9);
    assert_close(found.total[DEPTH].mean, 1.0, 1e-9);
}

TEST(what_three_factors_do_together_only_is_unexplained)
{
    decompose(&full, all_three);
    assert_close(found.pair[DEPTH][API].mean, 0.0, 1e-9);
    assert_close(found.unexplained.mean, 1.0, 1e-9);
    assert_close(found.total[SIZE].mean, 1.0, 1e-9);
}

TEST(a_flat_surface_has_no_shares)
{
    decompose(&full, flat);
    for (size_t dim = 0; dim < 3; dim++) {
        assert_close(found.own[dim].high, 0.0, 0.0);
        assert_close(found.total[dim].high, 0.0, 0.0);
    }
    assert_close(found.unexplained.high, 0.0, 0.0);
    assert_close(found.spread.mean, 0.0, 0.0);
}

/* psync's points are slow because they have depth 1, not because they are psync's. */
TEST(a_factor_that_goes_with_another_gets_nothing_of_it)
{
    assert_int_equal(nested.n_points, N_SIZES * (1 + 2 * N_DEPTHS));
    decompose(&nested, depth_only);
    assert_close(found.own[DEPTH].mean, 1.0, 1e-6);
    assert_close(found.own[API].mean, 0.0, 1e-6);
    assert_close(found.total[API].mean, 0.0, 1e-9);
    assert_close(found.pair[DEPTH][API].mean, 0.0, 1e-9);
}

TEST(an_additive_surface_on_a_nested_space_has_no_pairs)
{
    decompose(&nested, additive);
    assert_close(found.own[DEPTH].mean + found.own[API].mean, 1.0, 1e-6);
    assert_close(found.pair[DEPTH][API].mean, 0.0, 1e-9);
    assert_close(found.unexplained.mean, 0.0, 1e-9);
    assert_true(found.own[DEPTH].mean > found.own[API].mean && found.own[API].mean > 0.05);
}

TEST(factors_that_no_point_tells_apart_share_evenly)
{
    const double raw[] = {0, 0, 0, 1, 1, 0, 2, 2, 0};
    const double draw[] = {1.0, 2.0, 4.0};
    AUTO(space_done) struct space space;

    assert_int_equal(space_init(&space, raw, 3, 3, kinds), 0);
    assert_int_equal(importance_decompose(&space, all, 3, draw, 1, 0.9, &found), 0);
    assert_close(found.own[SIZE].mean, 0.5, 1e-9);
    assert_close(found.own[DEPTH].mean, 0.5, 1e-9);
    assert_false(found.varies[API]);
}

TEST(intervals_hold_the_share_of_the_draws_asked_for)
{
    enum { N_DRAWS = 101 };
    static double draws[N_DRAWS * N_FULL];

    /* Depth's share of draw k is k %. */
    for (size_t k = 0; k < N_DRAWS; k++)
        for (size_t i = 0; i < N_FULL; i++) {
            const double *x = space_row(&full, i);

            draws[k * N_FULL + i] =
                sqrt((double)k) * depth_part(x) + sqrt((double)(N_DRAWS - 1 - k)) * api_part(x);
        }
    assert_int_equal(importance_decompose(&full, all, N_FULL, draws, N_DRAWS, 0.9, &found), 0);
    assert_close(found.own[DEPTH].mean, 0.5, 1e-9);
    assert_close(found.own[DEPTH].low, 0.05, 1e-9);
    assert_close(found.own[DEPTH].high, 0.95, 1e-9);
}

TEST(too_few_or_too_many_points_are_einval)
{
    const double draw[2] = {1.0, 2.0};

    assert_int_equal(importance_decompose(&full, all, 1, draw, 1, 0.9, &found), -EINVAL);
    assert_int_equal(importance_decompose(&full, all, IMPORTANCE_MAX_POINTS + 1, draw, 1, 0.9, &found),
                     -EINVAL);
    assert_int_equal(importance_decompose(&full, all, 2, draw, 0, 0.9, &found), -EINVAL);
}

/* --- from a belief --- */

static void tell(struct belief *belief, const struct space *space, double (*response)(const double *x),
                 size_t stride, double noise_std)
{
    gsl_rng_set(rng, 5);
    assert_int_equal(belief_init(belief, space, &surrogate_gp, 0.1), 0);
    for (size_t point = 0; point < space->n_points; point += stride)
        for (size_t i = 0; i < 3; i++)
            belief_tell(belief, point, response(space_row(space, point)) + gsl_ran_gaussian(rng, noise_std));
    assert_int_equal(belief_update(belief, true, rng), 0);
}

TEST(a_belief_that_saw_half_the_points_knows_the_shares)
{
    AUTO(belief_done) struct belief belief;

    tell(&belief, &nested, additive, 2, 0.02);
    assert_int_equal(importance_of(&belief, 200, 0.9, rng, &found), 0);
    assert_true(found.own[DEPTH].low > 0.6 && found.own[DEPTH].low < found.own[DEPTH].high);
    assert_true(found.own[SIZE].high < 0.05);
    assert_true(found.known_share > 0.95);
}

TEST(noise_alone_is_known_to_be_unknown)
{
    AUTO(belief_done) struct belief belief;

    tell(&belief, &nested, flat, 4, 0.3);
    assert_int_equal(importance_of(&belief, 200, 0.9, rng, &found), 0);
    assert_true(found.known_share < 0.5);
}

TEST(without_a_surrogate_nothing_is_known)
{
    struct importance_change changes[N_FULL];
    AUTO(belief_done) struct belief belief;
    size_t n;

    assert_int_equal(belief_init(&belief, &full, &surrogate_gp, 0.1), 0);
    assert_int_equal(importance_of(&belief, 10, 0.9, rng, &found), -ENODATA);
    assert_int_equal(importance_changes(&belief, 0, SIZE, changes, &n), -ENODATA);
}

TEST(a_change_to_a_level_is_what_the_surface_says)
{
    struct importance_change changes[N_DEPTHS];
    size_t n, from = nested.n_points - N_SIZES; /* deepest, api 2 */
    AUTO(belief_done) struct belief belief;

    tell(&belief, &nested, additive, 1, 0.02);
    assert_int_equal(importance_changes(&belief, from, DEPTH, changes, &n), 0);
    assert_int_equal(n, N_DEPTHS);
    assert_int_equal(changes[3].point, from);
    assert_close(changes[3].difference, 0.0, 0.0);
    assert_close(changes[3].deviation, 0.0, 0.0);
    assert_close(changes[0].difference, -2.0 / sqrt(5.0 / 36.0), 0.1);
    assert_true(changes[0].deviation > 0.001 && changes[0].deviation < 0.1);
    assert_false(changes[0].also[API]);
}

/* Half of the points unseen, so that errors of neighbours have much in common. */
TEST(the_deviation_of_a_change_is_that_of_joint_draws)
{
    enum { N_DRAWS = 2000 };
    struct importance_change changes[N_SIZES];
    static double draws[2 * N_DRAWS];
    size_t n, from = 1, pair[2] = {from, 0};
    AUTO(belief_done) struct belief belief;
    double mean = 0.0, squares = 0.0;

    tell(&belief, &full, additive, 5, 0.3);
    assert_int_equal(importance_changes(&belief, from, SIZE, changes, &n), 0);
    pair[1] = changes[2].point;
    assert_int_equal(belief_sample(&belief, pair, 2, N_DRAWS, rng, draws), 0);
    for (size_t k = 0; k < N_DRAWS; k++) {
        mean += (draws[2 * k + 1] - draws[2 * k]) / N_DRAWS;
        squares += gsl_pow_2(draws[2 * k + 1] - draws[2 * k]) / N_DRAWS;
    }
    assert_close(changes[2].deviation / sqrt(squares - gsl_pow_2(mean)), 1.0, 0.1);
}

TEST(a_level_without_such_a_point_changes_as_little_else_as_it_can)
{
    struct importance_change changes[N_APIS];
    size_t n, from = nested.n_points - 1; /* largest, deepest, api 2 */
    AUTO(belief_done) struct belief belief;

    tell(&belief, &nested, additive, 1, 0.02);
    assert_int_equal(importance_changes(&belief, from, API, changes, &n), 0);
    assert_int_equal(n, N_APIS);
    assert_int_equal(changes[0].point, N_SIZES - 1);
    assert_true(changes[0].also[DEPTH]);
    assert_false(changes[0].also[SIZE] || changes[0].also[API] || changes[1].also[DEPTH]);
}

TEST(excluded_points_take_no_part)
{
    struct importance_change changes[N_APIS];
    AUTO(belief_done) struct belief belief;
    size_t n;

    tell(&belief, &full, additive, 1, 0.02);
    for (size_t i = 0; i < N_SIZES * N_DEPTHS; i++)
        belief_exclude(&belief, i);
    assert_int_equal(belief_update(&belief, true, rng), 0);
    assert_int_equal(importance_of(&belief, 10, 0.9, rng, &found), 0);
    assert_int_equal(found.n_points, N_FULL - N_SIZES * N_DEPTHS);
    assert_int_equal(importance_changes(&belief, N_FULL - 1, API, changes, &n), 0);
    assert_int_equal(n, N_APIS - 1);
}

TEST(a_large_space_keeps_its_ends_of_categories)
{
    AUTO(space_done) struct space space;
    AUTO(belief_done) struct belief belief;

    GRID_INIT(&space, kinds, 32, 16, 4);
    tell(&belief, &space, depth_only, 37, 0.01);
    assert_int_equal(importance_of(&belief, 50, 0.9, rng, &found), 0);
    assert_int_equal(found.n_points, 256);
    assert_true(found.varies[SIZE] && found.varies[DEPTH] && found.varies[API]);
    assert_true(found.own[DEPTH].low > 0.8);
}
