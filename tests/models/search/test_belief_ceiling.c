/* A ceiling that nobody told of: from which runs it is learnt, and what is then claimed. */
#include "models/search/belief.h"
#include "models/search/belief_internal.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <gsl/gsl_math.h>

enum { N_POINTS = 11 * 7 * 4 };

#define NOISE_STD 0.05
#define LIMIT     15.0
#define MARGIN    0.1

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
static struct belief belief;

GRID_SPACE(space, kinds, 11, 7, 4)

/* Rises along both dimensions, unless a limit is in its way. */
static double slope(size_t point, double limit)
{
    const double *x = space_row(&space, point);

    return fmin(13.0 + 2.0 * x[0] + 2.0 * x[1] + 0.1 * x[2], limit);
}

static double flat(size_t point, double limit)
{
    (void)point;
    return limit;
}

/* Every third point has one run. */
static void believe(double (*response)(size_t, double), double limit)
{
    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, NOISE_STD), 0);
    gsl_rng_set(rng, 5);
    for (size_t point = 0; point < N_POINTS; point++)
        if (point % 3 == 0)
            belief_tell(&belief, point, response(point, limit) + gsl_ran_gaussian(rng, NOISE_STD));
    assert_int_equal(belief_update(&belief, true, rng), 0);
}

static double believed(const struct belief_ceiling *ceiling)
{
    double sum = 0.0;

    for (size_t i = 0; i < BELIEF_CEILING_LEVELS; i++)
        sum += ceiling->probability[i];
    return sum;
}

TEST(many_points_at_one_rate_show_a_ceiling_where_others_rise)
{
    struct belief_ceiling ceiling;
    double drawn = 0.0;
    size_t n = 0;

    believe(slope, LIMIT);
    belief_ceiling_learn(&belief, &ceiling);
    assert_true(believed(&ceiling) > 0.5);
    for (size_t i = 0; i < 4000; i++) {
        double level = belief_ceiling_draw(&ceiling, rng);

        drawn += isfinite(level) ? level : 0.0;
        n += isfinite(level);
    }
    assert_close(drawn / (double)n, LIMIT, 0.03);
    assert_close((double)n / 4000.0, believed(&ceiling), 0.03);
    assert_close(belief_likely_ceiling(&belief, 0.5), LIMIT, 0.03);
    assert_true(isinf(belief_likely_ceiling(&belief, believed(&ceiling) + 1e-6)));
    belief_done(&belief);
}

TEST(what_rises_to_the_end_has_none)
{
    struct belief_ceiling ceiling;

    believe(slope, INFINITY);
    belief_ceiling_learn(&belief, &ceiling);
    assert_true(believed(&ceiling) < 0.05);
    belief_done(&belief);
}

/* Nothing there says that rates should differ. */
TEST(a_flat_response_says_little_of_one)
{
    struct belief_ceiling ceiling;

    believe(flat, LIMIT);
    belief_ceiling_learn(&belief, &ceiling);
    assert_true(believed(&ceiling) < 0.35);
    belief_done(&belief);
}

TEST(before_anything_is_told_there_is_none)
{
    struct belief_ceiling ceiling;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, NOISE_STD), 0);
    belief_ceiling_learn(&belief, &ceiling);
    assert_close(believed(&ceiling), 0.0, 0.0);
    assert_true(isinf(belief_ceiling_draw(&ceiling, rng)));
    assert_true(isinf(belief_likely_ceiling(&belief, 0.5)));
    assert_close(belief_ceiling_up_to(&ceiling, 1e9, 0.0), 0.0, 0.0);
    belief_done(&belief);
}

/* Isolated fast points are feared less below a ceiling, so more is claimed of a point that reaches it. */
TEST(more_is_claimed_of_a_point_at_the_ceiling)
{
    struct belief_claim claim;
    double open;
    size_t best;

    believe(slope, LIMIT);
    best = belief_best(&belief, 1);
    assert_int_equal(belief_claim(&belief, best, NULL, MARGIN, 0.95, 2000, rng, &claim), 0);
    open = belief_no_lone_peaks(&belief, best, belief.mean[best] + MARGIN);
    assert_true(open < 1.0);
    assert_true(claim.probability_within > open);
    belief_done(&belief);
}

/* The highest probability that belief_is_within says is reached. */
static double reached(size_t point, double margin)
{
    double low = 0.0, high = 1.0;

    while (high - low > 1e-4) {
        double enough = 0.5 * (low + high);
        bool within;

        assert_int_equal(belief_is_within(&belief, point, margin, enough, &within), 0);
        *(within ? &low : &high) = enough;
    }
    return low;
}

/* The sum of the chances of all rivals is more than the chance of any, here not twice as much. Some standard
 * deviations of a share of 2000 draws are left to both sides. */
static void check_within(size_t point, double margin)
{
    struct belief_claim claim;

    assert_int_equal(belief_claim(&belief, point, NULL, margin, 0.95, 2000, rng, &claim), 0);
    double missing = 1.0 - claim.probability_within, by_sum = 1.0 - reached(point, margin);

    assert_true(by_sum >= missing - 0.05);
    assert_true(by_sum <= 2.0 * missing + 0.05);
}

TEST(whether_a_point_is_within_is_near_what_is_claimed_of_it)
{
    static const double margins[] = {0.001, 0.01, MARGIN, 0.2};
    static const double limits[] = {LIMIT, INFINITY};

    for (size_t limit = 0; limit < N_OF(limits); limit++) {
        believe(slope, limits[limit]);
        for (size_t i = 0; i < N_OF(margins); i++)
            check_within(belief_best(&belief, 1), margins[i]);
        /* A known ceiling lowers what was measured, too. */
        belief.ceiling = belief.mean[belief_best(&belief, 1)] - 0.05;
        for (size_t i = 0; i < N_OF(margins); i++)
            check_within(belief_best(&belief, 1), margins[i]);
        belief_done(&belief);
    }
}

TEST(a_learnt_ceiling_lowers_what_was_not_measured_and_a_known_one_everything)
{
    static const size_t points[] = {0, 1}; /* every third point was measured */
    double draw[] = {20.0, 20.0};

    believe(slope, LIMIT);
    belief_ceiling_lower(&belief, points, 2, INFINITY, draw);
    assert_close(draw[0], 20.0, 0.0);
    assert_close(draw[1], 20.0, 0.0);
    belief_ceiling_lower(&belief, points, 2, 18.0, draw);
    assert_close(draw[0], 20.0, 0.0);
    assert_close(draw[1], 18.0, 0.0);
    belief.ceiling = 17.0;
    belief_ceiling_lower(&belief, points, 2, 18.0, draw);
    assert_close(draw[0], 17.0, 0.0);
    assert_close(draw[1], 17.0, 0.0);
    belief_done(&belief);
}
