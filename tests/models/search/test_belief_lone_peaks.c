/* Points that nobody expects anything of: how often they come, which ones may be some, and what that takes
 * from the probability of being the best. */
#include "models/search/belief.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <gsl/gsl_math.h>

enum { N_POINTS = 60, N_FINE = 1600 };

#define NOISE_STD   0.1
#define TOP         15.3
#define PRIOR_SHARE (0.25 / 100.0)
#define N_TOLD      30 /* every other point */
#define NEEDLE      30 /* of those ... */
#define NEVER       31 /* ... and of the others */

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_CATEGORY};
static struct belief belief;

GRID_SPACE(space, kinds, N_POINTS / 4, 4)
GRID_SPACE(fine, kinds, N_FINE / 4, 4)

static double hill(const struct space *over, size_t point)
{
    const double *x = space_row(over, point);

    return 15.0 - 2.0 * gsl_pow_2(x[0] - 0.6) + 0.1 * x[1];
}

static void tell(size_t point, double above, size_t replays)
{
    for (size_t i = 0; i < replays; i++)
        belief_tell(&belief, point, hill(belief.space, point) + above + gsl_ran_gaussian(rng, NOISE_STD));
}

/* Every other point three times, but the needle. */
static void tell_hill(void)
{
    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, NOISE_STD), 0);
    gsl_rng_set(rng, 5);
    for (size_t point = 0; point < N_POINTS; point += 2)
        tell(point, 0.0, point == NEEDLE ? 0 : 3);
}

static void update(void)
{
    assert_int_equal(belief_update(&belief, true, rng), 0);
}

/* The needle's runs lie so far above what the others say. */
static void believe_in_needle(double above, size_t replays)
{
    tell_hill();
    tell(NEEDLE, above, replays);
    update();
}

/* --- how often --- */

/* So many came as lone peaks of so many points; ordinary ones count a little, too. */
static void check_share(double n_lone_peaks, double n_points)
{
    assert_true(belief.lone_peaks_share >= n_lone_peaks / n_points);
    assert_true(belief.lone_peaks_share < (n_lone_peaks + 0.1) / n_points);
}

TEST(ordinary_points_make_surprises_rarer)
{
    double before = PRIOR_SHARE;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, NOISE_STD), 0);
    gsl_rng_set(rng, 5);
    for (size_t n = 10; n <= N_POINTS; n += 10) {
        for (size_t point = n - 10; point < n; point++)
            tell(point, 0.0, 3);
        update();
        check_share(0.25, 100.0 + (double)n);
        assert_true(belief.lone_peaks_share < before);
        assert_close(belief.lone_peaks_std, 0.5, 0.05);
        before = belief.lone_peaks_share;
    }
    belief_done(&belief);
}

TEST(points_far_above_the_others_make_them_more_frequent)
{
    believe_in_needle(1.0, 3);
    check_share(1.05, 100.0 + N_TOLD); /* the fit explains a part of it */
    double came = belief.lone_peaks_share * (100.0 + N_TOLD) - 0.25;
    assert_close(belief.lone_peaks_std, sqrt((0.25 + came) / (1.0 + came)), 0.1);
    belief_done(&belief);
}

TEST(points_far_below_the_others_are_none)
{
    believe_in_needle(-1.0, 3);
    check_share(0.25, 100.0 + N_TOLD);
    assert_close(belief.lone_peaks_std, 0.5, 0.05);
    belief_done(&belief);
}

TEST(what_was_excluded_teaches_nothing)
{
    tell_hill();
    tell(NEEDLE, 1.0, 3);
    belief_exclude(&belief, NEEDLE);
    update();
    check_share(0.25, 100.0 + N_TOLD - 1);
    belief_done(&belief);
}

/* Their expected number in the space is that of 400 points. */
TEST(steps_so_fine_share_their_surprises)
{
    assert_int_equal(belief_init(&belief, &fine, &surrogate_gp, NOISE_STD), 0);
    gsl_rng_set(rng, 5);
    for (size_t point = 0; point < N_FINE; point += 80)
        tell(point, 0.0, 3);
    update();
    check_share(0.25, 120.0 * N_FINE / 400.0);
    belief_done(&belief);
}

/* --- which ones --- */

TEST(of_a_point_never_measured_it_is_the_share_that_reaches_so_far)
{
    double last, share;

    believe_in_needle(0.0, 3);
    share = belief.lone_peaks_share;
    last = share;
    for (double response = hill(&space, NEVER) + 0.3; response < 17.0; response += 0.2) {
        double lone_peaks = belief_lone_peaks(&belief, NEVER, response);

        assert_true(lone_peaks > 0.0 && lone_peaks < last);
        last = lone_peaks;
    }
    assert_true(last < 0.01 * share);
    belief_done(&belief);
}

TEST(it_grows_with_what_is_expected_of_the_point)
{
    believe_in_needle(0.0, 3);
    for (size_t a = 1; a < N_POINTS; a += 2) {
        double of_a = belief_lone_peaks(&belief, a, TOP + 0.3);

        assert_true(of_a <= belief.lone_peaks_share);
        for (size_t b = 1; b < N_POINTS; b += 2) {
            if (belief.mean[b] < belief.mean[a] - 0.1)
                assert_true(belief_lone_peaks(&belief, b, TOP + 0.3) < of_a);
        }
    }
    belief_done(&belief);
}

TEST(excluded_points_do_not_surprise)
{
    tell_hill();
    tell(NEEDLE, 1.0, 1);
    update();
    assert_true(belief_lone_peaks(&belief, NEEDLE, TOP) > 0.1);
    assert_true(belief_lone_peaks(&belief, NEVER, TOP) > 0.0);
    belief_exclude(&belief, NEEDLE);
    belief_exclude(&belief, NEVER);
    assert_close(belief_lone_peaks(&belief, NEEDLE, TOP), 0.0, 0.0);
    assert_close(belief_lone_peaks(&belief, NEVER, TOP), 0.0, 0.0);
    belief_done(&belief);
}

/* It may be an outlier as well, and the farther off the run is, the less is the surrogate told of it. */
TEST(a_single_run_far_above_the_others_may_well_be_one)
{
    static const double above[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        double middle = hill(&space, NEEDLE) + above[i] / 2.0, lone_peaks;

        believe_in_needle(above[i], 1);
        assert_true(belief.single_weight[NEEDLE] < 0.8);
        lone_peaks = belief_lone_peaks(&belief, NEEDLE, middle);
        assert_true(lone_peaks > 0.3 && lone_peaks < 0.9);
        assert_true(belief_lone_peaks(&belief, NEEDLE, middle + 2.0) < 0.01);
        belief_done(&belief);
    }
}

/* The surrogate grants it by itself then. */
TEST(replays_that_agree_settle_it)
{
    double response = hill(&space, NEEDLE) + 0.5;

    believe_in_needle(1.0, 1);
    for (size_t i = 0; i < 4; i++)
        tell(NEEDLE, 1.0, 1);
    update();
    assert_true(belief.mean[NEEDLE] > response + 0.3);
    assert_close(belief_lone_peaks(&belief, NEEDLE, response), 0.0, 1e-3);
    belief_done(&belief);
}

TEST(replays_at_an_ordinary_rate_settle_it)
{
    double response = hill(&space, NEEDLE) + 0.5, once;

    believe_in_needle(0.0, 1);
    once = belief_lone_peaks(&belief, NEEDLE, response);
    assert_true(once < belief_lone_peaks(&belief, NEVER, response));
    belief_done(&belief);
    believe_in_needle(0.0, 16);
    assert_close(belief_lone_peaks(&belief, NEEDLE, response), 0.0, 1e-9);
    belief_done(&belief);
}

TEST(what_is_worse_than_expected_is_none)
{
    believe_in_needle(-0.4, 1);
    assert_close(belief_lone_peaks(&belief, NEEDLE, hill(&space, NEEDLE) - 1.0), 0.0, 0.0);
    assert_close(belief_lone_peaks(&belief, NEEDLE, TOP), 0.0, 0.0);
    belief_done(&belief);
}

/* --- what follows --- */

TEST(that_there_is_none_is_the_product_over_all_but_one)
{
    double all = 1.0;

    believe_in_needle(0.8, 1);
    for (size_t point = 0; point < N_POINTS; point++)
        all *= 1.0 - belief_lone_peaks(&belief, point, TOP);
    assert_close(belief_no_lone_peaks(&belief, N_POINTS, TOP), all, 1e-12);
    for (size_t but = 0; but < N_POINTS; but++)
        assert_close(belief_no_lone_peaks(&belief, but, TOP),
                     all / (1.0 - belief_lone_peaks(&belief, but, TOP)), 1e-12);
    belief_done(&belief);
}

/* Of the best of a hill, by itself and with the doubt about a single run taken off again. */
TEST(surprises_lower_the_probability_of_being_the_best)
{
    const double margin = 0.1;
    struct belief_claim with, without;
    double share;
    size_t best;

    believe_in_needle(0.0, 3);
    best = belief_best(&belief, 3);
    gsl_rng_set(rng, 7);
    assert_int_equal(belief_claim(&belief, best, NULL, margin, 0.95, 4000, rng, &with), 0);
    share = belief.lone_peaks_share;
    belief.lone_peaks_share = 0.0;
    gsl_rng_set(rng, 7);
    assert_int_equal(belief_claim(&belief, best, NULL, margin, 0.95, 4000, rng, &without), 0);
    belief.lone_peaks_share = share;
    assert_true(with.probability_within < without.probability_within);
    /* A ceiling, which is hardly believed in on a hill, would rule them out. */
    double expected =
        without.probability_within * belief_no_lone_peaks(&belief, best, belief.mean[best] + margin);
    assert_close(with.probability_within, expected, 1e-4);
    assert_true(with.probability_within >= expected);
    /* Some thirty points, and two in a thousand. */
    assert_true(with.probability_within > 0.95 * without.probability_within);
    belief_done(&belief);
}

TEST(where_all_is_measured_often_nothing_surprises)
{
    size_t best;

    assert_int_equal(belief_init(&belief, &space, &surrogate_gp, NOISE_STD), 0);
    gsl_rng_set(rng, 5);
    for (size_t point = 0; point < N_POINTS; point++)
        tell(point, 0.0, 8);
    update();
    best = belief_best(&belief, 3);
    assert_true(belief_no_lone_peaks(&belief, best, belief.mean[best] + 0.05) > 0.99);
    belief_done(&belief);
}
