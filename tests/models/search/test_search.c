/* One conformance suite over all search strategies, and searches of a made-up response with a known best. */
#include "models/search/search.h"
#include "models/surrogate/design.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <gsl/gsl_math.h>

/* Ten request sizes, five depths, direct or not, four APIs. */
enum { N_SIZES = 10, N_DEPTHS = 5, N_DIRECT = 2, N_APIS = 4, N_POINTS = 400, N_FIRST = 12, N_BATCH = 4 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY, SPACE_CATEGORY};
static double truth[N_POINTS], top;

/* Log throughput that saturates with the bytes in flight and falls again when they no longer fit a cache; the
 * first API cannot use depth. */
static double response_of(double size, double depth, double direct, size_t api)
{
    static const double api_factor[N_APIS] = {0.0, -0.05, 0.08, 0.15};
    double in_flight = size + depth * (api == 0 ? 0.3 : 1.0);

    return 20.0 - log1p(exp2(8.0 - in_flight)) - 0.03 * gsl_pow_2(fmax(0.0, in_flight - 10.0)) +
           api_factor[api] + direct * 0.024 * (size - 4.0);
}

GRID_SPACE(space, kinds, N_SIZES, N_DEPTHS, N_DIRECT, N_APIS)

FIXTURE(setup)
{
    top = -INFINITY;
    for (size_t i = 0; i < N_POINTS; i++) {
        truth[i] =
            response_of((double)(i % N_SIZES), (double)(i / N_SIZES % N_DEPTHS),
                        (double)(i / (N_SIZES * N_DEPTHS) % N_DIRECT), i / (N_SIZES * N_DEPTHS * N_DIRECT));
        top = fmax(top, truth[i]);
    }
    return 0;
}

GROUP(setup, NULL);

/* A search under way. */
struct run {
    const struct search_ops *ops;
    struct belief belief;
    void *state;
    gsl_rng *rng;
    bool asked[N_POINTS];
};

static struct run started(const struct search_ops *ops, unsigned long seed)
{
    struct run run = {.ops = ops, .state = calloc(1, ops->state_size), .rng = gsl_rng_alloc(gsl_rng_mt19937)};
    assert_non_null(run.state);
    gsl_rng_set(run.rng, seed);
    assert_int_equal(belief_init(&run.belief, &space, ops->surrogate, 0.05), 0);
    assert_int_equal(ops->init(run.state, &space, N_FIRST, run.rng), 0);
    return run;
}

static void finish(struct run *run)
{
    run->ops->done(run->state);
    free(run->state);
    belief_done(&run->belief);
    gsl_rng_free(run->rng);
}

/* Asks, checks that every point is new and allowed, and tells noisy values; how many points there were. */
static size_t step(struct run *run, size_t want, size_t *ret_points)
{
    size_t n = 999;

    assert_int_equal(run->ops->ask(run->state, &run->belief, want, run->rng, ret_points, &n), 0);
    assert_true(n <= want);
    for (size_t i = 0; i < n; i++) {
        assert_true(ret_points[i] < N_POINTS);
        assert_false(run->asked[ret_points[i]]);
        assert_false(run->belief.excluded[ret_points[i]]);
        run->asked[ret_points[i]] = true;
        belief_tell(&run->belief, ret_points[i], truth[ret_points[i]] + gsl_ran_gaussian(run->rng, 0.05));
    }
    belief_update(&run->belief, true, run->rng);
    return n;
}

TEST(table_finds_every_strategy_by_its_name)
{
    size_t n = 0;

    for (; search_table[n]; n++)
        assert_ptr_equal(search_find(search_table[n]->name), search_table[n]);
    assert_int_equal(n, 5);
    assert_ptr_equal(search_find("auto"), &search_auto);
    assert_null(search_find("annealing"));
    assert_null(search_find(""));
}

/* --- every strategy --- */

TEST(ask_never_repeats_and_never_returns_excluded_points)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points[16];

        AUTO(finish) struct run run = started(search_table[s], 5);
        for (size_t i = 0; i < N_POINTS; i += 3)
            belief_exclude(&run.belief, i);
        belief_tell(&run.belief, 1, truth[1]); /* measured by somebody else */
        run.asked[1] = true;
        for (int batch = 0; batch < 12; batch++)
            step(&run, N_BATCH, points);
    }
}

TEST(points_asked_for_but_not_yet_told_are_not_asked_again)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points[16], n;

        AUTO(finish) struct run run = started(search_table[s], 6);
        for (int batch = 0; batch < 3; batch++)
            step(&run, N_FIRST, points);
        for (int batch = 0; batch < 3; batch++) {
            assert_int_equal(run.ops->ask(run.state, &run.belief, 3, run.rng, points, &n), 0);
            for (size_t i = 0; i < n; i++) {
                assert_false(run.asked[points[i]]);
                run.asked[points[i]] = true;
            }
        }
    }
}

TEST(a_point_that_was_given_back_is_asked_for_again)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points[16], given, n = 1;
        bool again = false;

        if (!search_table[s]->give_back)
            continue;
        AUTO(finish) struct run run = started(search_table[s], 7);
        assert_int_equal(run.ops->ask(run.state, &run.belief, 1, run.rng, &given, &n), 0);
        run.ops->give_back(run.state, given);
        while (n > 0 && !again) {
            assert_int_equal(run.ops->ask(run.state, &run.belief, 16, run.rng, points, &n), 0);
            for (size_t i = 0; i < n; i++)
                again = again || points[i] == given;
        }
        assert_true(again);
    }
}

TEST(first_design_ends_after_its_points)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points[16];

        AUTO(finish) struct run run = started(search_table[s], 7);
        assert_true(run.ops->in_first_design(run.state));
        assert_int_equal(step(&run, N_FIRST - 2, points), N_FIRST - 2);
        assert_true(run.ops->in_first_design(run.state));
        step(&run, 2, points);
        /* The grid is one first design. */
        assert_int_equal(run.ops->in_first_design(run.state), run.ops == &search_grid);
    }
}

TEST(equal_seeds_ask_for_equal_points)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points_a[16], points_b[16];

        AUTO(finish) struct run a = started(search_table[s], 8);
        AUTO(finish) struct run b = started(search_table[s], 8);
        for (int batch = 0; batch < 6; batch++) {
            size_t n = step(&a, N_BATCH, points_a);

            assert_int_equal(step(&b, N_BATCH, points_b), n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(points_a[i], points_b[i]);
        }
    }
}

TEST(other_seeds_start_elsewhere)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points_a[16], points_b[16], n_equal = 0;

        AUTO(finish) struct run a = started(search_table[s], 8);
        AUTO(finish) struct run b = started(search_table[s], 9);
        assert_int_equal(step(&a, N_FIRST, points_a), N_FIRST);
        assert_int_equal(step(&b, N_FIRST, points_b), N_FIRST);
        for (size_t i = 0; i < N_FIRST; i++)
            n_equal += points_a[i] == points_b[i];
        assert_true(n_equal < N_FIRST / 2);
    }
}

TEST(nothing_is_left_when_every_point_was_told)
{
    for (size_t s = 0; search_table[s]; s++) {
        size_t points[16];

        AUTO(finish) struct run run = started(search_table[s], 10);
        for (size_t i = 0; i < N_POINTS; i++)
            belief_exclude(&run.belief, i);
        assert_int_equal(step(&run, N_BATCH, points), 0);
    }
}

/* --- random and grid --- */

TEST(random_and_grid_hand_out_every_point_once)
{
    const struct search_ops *const strategies[] = {&search_random, &search_grid};

    for (size_t s = 0; s < 2; s++) {
        size_t *points = malloc(N_POINTS * sizeof(*points)), total = 0, n;

        AUTO(finish) struct run run = started(strategies[s], 11);
        do {
            assert_int_equal(run.ops->ask(run.state, &run.belief, 7, run.rng, points, &n), 0);
            for (size_t i = 0; i < n; i++) {
                assert_false(run.asked[points[i]]);
                run.asked[points[i]] = true;
            }
            total += n;
        } while (n > 0);
        assert_int_equal(total, N_POINTS);
        free(points);
    }
}

TEST(what_is_measured_or_excluded_is_passed_over)
{
    AUTO(finish) struct run first = started(&search_random, 5);
    AUTO(finish) struct run run = started(&search_random, 5); /* the same order */
    size_t points[N_POINTS], order[6], n;

    assert_int_equal(first.ops->ask(first.state, &first.belief, 6, first.rng, order, &n), 0);
    belief_exclude(&run.belief, order[0]);
    belief_tell(&run.belief, order[2], 1.0);
    assert_int_equal(run.ops->ask(run.state, &run.belief, 2, run.rng, points, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(points[0], order[1]);
    assert_int_equal(points[1], order[3]);
    assert_int_equal(run.ops->ask(run.state, &run.belief, N_POINTS, run.rng, points, &n), 0);
    assert_int_equal(n, N_POINTS - 4);
    assert_int_equal(run.ops->ask(run.state, &run.belief, N_POINTS, run.rng, points, &n), 0);
    assert_int_equal(n, 0);
}

/* --- model-based --- */

TEST(without_a_surrogate_model_search_asks_at_random)
{
    size_t points[N_FIRST], n;

    AUTO(finish) struct run run = started(&search_auto, 12);
    assert_int_equal(run.ops->ask(run.state, &run.belief, N_FIRST, run.rng, points, &n), 0);
    for (size_t i = 0; i < n; i++) { /* the whole design failed */
        belief_exclude(&run.belief, points[i]);
        run.asked[points[i]] = true;
    }
    assert_int_equal(step(&run, 4, points), 4);
}

TEST(a_flat_response_known_well_leaves_nothing_to_ask)
{
    size_t points[N_FIRST], n;

    AUTO(finish) struct run run = started(&search_gp, 13);
    for (size_t i = 0; i < N_POINTS; i += 2)
        for (int replay = 0; replay < 3; replay++)
            belief_tell(&run.belief, i, 20.0 + 1e-7 * (replay - 1));
    assert_int_equal(belief_update(&run.belief, true, run.rng), 0);
    while (run.ops->in_first_design(run.state))
        assert_int_equal(run.ops->ask(run.state, &run.belief, N_FIRST, run.rng, points, &n), 0);
    assert_int_equal(run.ops->ask(run.state, &run.belief, 4, run.rng, points, &n), 0);
    assert_int_equal(n, 0);
}

/* Without believers a batch would be the n best single points, which are neighbours of each other. */
TEST(a_batch_differs_from_the_best_single_points)
{
    size_t n_differ = 0;

    for (unsigned long seed = 0; seed < 10; seed++) {
        size_t of_batch[16], of_single[16], n;

        AUTO(finish) struct run batch = started(&search_gp, 30 + seed);
        AUTO(finish) struct run single = started(&search_gp, 30 + seed);
        step(&batch, N_FIRST, of_batch);
        step(&single, N_FIRST, of_single);
        assert_int_equal(step(&batch, 4, of_batch), 4);
        for (size_t i = 0; i < 4; i++) { /* as if each were asked for alone, and nothing believed */
            assert_int_equal(single.ops->ask(single.state, &single.belief, 1, single.rng, of_single + i, &n),
                             0);
            assert_int_equal(n, 1);
        }
        assert_int_equal(of_batch[0], of_single[0]);
        for (size_t i = 1; i < 4; i++)
            n_differ += of_batch[i] != of_single[i];
    }
    assert_true(n_differ >= 15); /* of 30 */
}

/* Searches of 12 + 8 x 4 points that end at a point within 5 % of the best. */
static size_t n_successes(const struct search_ops *ops, size_t n_seeds)
{
    size_t n = 0;

    for (unsigned long seed = 1; seed <= n_seeds; seed++) {
        size_t points[N_FIRST];

        AUTO(finish) struct run run = started(ops, seed);
        step(&run, N_FIRST, points);
        for (int batch = 0; batch < 8; batch++)
            step(&run, N_BATCH, points);
        n += truth[belief_best(&run.belief, 1)] >= top + log(0.95);
    }
    return n;
}

TEST(model_search_finds_a_point_within_5_percent_and_random_does_not)
{
    size_t n_within = 0;

    for (size_t i = 0; i < N_POINTS; i++)
        n_within += truth[i] >= top + log(0.95);
    assert_true(n_within <= 8); /* of 400: not to be hit by luck */
    assert_true(n_successes(&search_auto, 20) >= 18);
    assert_true(n_successes(&search_gp, 20) >= 16);
    assert_true(n_successes(&search_quadratic, 20) >= 14);
    assert_true(n_successes(&search_random, 20) <= 12);
}
