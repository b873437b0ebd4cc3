/* Tests of models/surrogate/design: every design passes one conformance test; Sobol's spreads better than
 * chance. */
#include "models/surrogate/design.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

enum { N_DESIGNS = 4, GRID = 32, N_SIZES = 11, N_DEPTHS = 7, MAX_POINTS = 1024 };

static const struct design_ops *const designs[N_DESIGNS] = {&design_random, &design_sobol, &design_latin,
                                                            &design_fraction};

/* request size x queue depth x direct x api (values 0, 2, 3, 4), where api 0 exists at depth 1 only. */
static struct space mixed;

static const enum space_kind square_kind[] = {SPACE_ORDERED, SPACE_ORDERED};
GRID_SPACE(square, square_kind, GRID, GRID)

FIXTURE(setup)
{
    static const enum space_kind mixed_kind[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY,
                                                 SPACE_CATEGORY};
    static const int apis[] = {0, 2, 3, 4};
    static double raw[MAX_POINTS * 4];
    size_t n = 0;

    for (int i = 0; i < N_SIZES * N_DEPTHS * 2 * 4; i++) {
        const double row[] = {12 + i % N_SIZES, i / N_SIZES % N_DEPTHS, i / (N_SIZES * N_DEPTHS) % 2,
                              apis[i / (N_SIZES * N_DEPTHS * 2)]};

        if (row[3] <= 0.0 && row[1] > 0.0)
            continue;
        memcpy(raw + 4 * n, row, sizeof(row));
        n++;
    }
    return space_init(&mixed, raw, n, 4, mixed_kind);
}

FIXTURE(teardown)
{
    space_done(&mixed);
    return 0;
}

GROUP(setup, teardown);

static size_t draw(const struct design_ops *design, const struct space *space, size_t n, unsigned long seed,
                   size_t *ret_points)
{
    size_t n_drawn = SIZE_MAX;

    gsl_rng_set(rng, seed);
    assert_int_equal(design->draw(space, n, rng, ret_points, &n_drawn), 0);
    return n_drawn;
}

static bool all_distinct(const size_t *points, size_t n, size_t n_points)
{
    bool seen[MAX_POINTS] = {false};

    for (size_t i = 0; i < n; i++) {
        if (points[i] >= n_points || seen[points[i]])
            return false;
        seen[points[i]] = true;
    }
    return true;
}

TEST(points_are_distinct_and_as_many_as_asked)
{
    static const size_t counts[] = {0, 1, 2, 7, 64, 400};
    size_t points[MAX_POINTS];

    for (size_t d = 0; d < N_DESIGNS; d++) {
        for (size_t c = 0; c < 6; c++) {
            assert_int_equal(draw(designs[d], &mixed, counts[c], c, points), counts[c]);
            assert_true(all_distinct(points, counts[c], mixed.n_points));
        }
    }
}

TEST(asking_for_all_or_more_returns_every_point)
{
    size_t points[MAX_POINTS + 100];

    for (size_t d = 0; d < N_DESIGNS; d++) {
        assert_int_equal(draw(designs[d], &mixed, mixed.n_points, 1, points), mixed.n_points);
        assert_true(all_distinct(points, mixed.n_points, mixed.n_points));
        assert_int_equal(draw(designs[d], &mixed, mixed.n_points + 100, 1, points), mixed.n_points);
        assert_true(all_distinct(points, mixed.n_points, mixed.n_points));
    }
}

TEST(nothing_is_written_beyond_what_was_drawn)
{
    size_t points[9];

    for (size_t d = 0; d < N_DESIGNS; d++) {
        points[8] = 4711;
        draw(designs[d], &mixed, 8, 3, points);
        assert_int_equal(points[8], 4711);
    }
}

TEST(same_seed_same_design_and_another_seed_another)
{
    size_t first[20], again[20], other[20];

    for (size_t d = 0; d < N_DESIGNS; d++) {
        draw(designs[d], &mixed, 20, 5, first);
        draw(designs[d], &mixed, 20, 5, again);
        draw(designs[d], &mixed, 20, 6, other);
        assert_memory_equal(first, again, sizeof(first));
        assert_memory_not_equal(first, other, sizeof(first));
    }
}

TEST(one_point_space_is_drawn)
{
    const double raw[] = {5.0, 3.0};
    const enum space_kind kind[] = {SPACE_ORDERED, SPACE_CATEGORY};
    AUTO(space_done) struct space space;
    size_t point;

    assert_int_equal(space_init(&space, raw, 1, 2, kind), 0);
    for (size_t d = 0; d < N_DESIGNS; d++) {
        point = 99;
        assert_int_equal(draw(designs[d], &space, 10, 1, &point), 1);
        assert_int_equal(point, 0);
    }
}

/* Every first point comes about equally often: chi-square with 9 degrees of freedom stays below its 99.9 %
 * quantile. */
TEST(random_is_uniform)
{
    double raw[10], counts[10] = {0}, chi_square = 0.0;
    const enum space_kind kind = SPACE_ORDERED;
    struct space space;
    size_t points[3];

    for (int i = 0; i < 10; i++)
        raw[i] = i;
    assert_int_equal(space_init(&space, raw, 10, 1, &kind), 0);
    for (unsigned long seed = 1; seed <= 2000; seed++) {
        draw(&design_random, &space, 3, seed, points);
        counts[points[2]]++;
    }
    for (size_t i = 0; i < 10; i++)
        chi_square += (counts[i] - 200.0) * (counts[i] - 200.0) / 200.0;
    space_done(&space);
    assert_true(chi_square < 27.88);
}

/* How often each category of a dimension was drawn, by its value. */
static void count_categories(const size_t *points, size_t n, size_t dim, size_t counts[5])
{
    memset(counts, 0, 5 * sizeof(*counts));
    for (size_t i = 0; i < n; i++)
        counts[(size_t)space_row(&mixed, points[i])[dim]]++;
}

TEST(sobol_gives_every_category_its_share)
{
    size_t points[16], counts[5];

    for (unsigned long seed = 1; seed <= 50; seed++) {
        draw(&design_sobol, &mixed, 16, seed, points);
        count_categories(points, 16, 2, counts);
        assert_int_equal(counts[0], 8);
        assert_int_equal(counts[1], 8);
        count_categories(points, 16, 3, counts);
        assert_int_equal(counts[0], 4);
        assert_int_equal(counts[1], 0);
        assert_int_equal(counts[2], 4);
        assert_int_equal(counts[3], 4);
        assert_int_equal(counts[4], 4);
    }
}

TEST(sobol_covers_the_categories_with_as_few_points_as_there_are)
{
    size_t points[4], counts[5];

    for (unsigned long seed = 1; seed <= 50; seed++) {
        draw(&design_sobol, &mixed, 4, seed, points);
        count_categories(points, 4, 3, counts);
        assert_true(counts[0] == 1 && counts[2] == 1 && counts[3] == 1 && counts[4] == 1);
    }
}

/* Sum over the 64 cells of 4 x 4 points of (drawn - expected)^2: 59 on average for 64 random points. */
static double unevenness(const size_t *points, size_t n)
{
    double cells[64] = {0}, sum = 0.0;

    for (size_t i = 0; i < n; i++)
        cells[points[i] / GRID / 4 * 8 + points[i] % GRID / 4]++;
    for (size_t i = 0; i < 64; i++)
        sum += (cells[i] - (double)n / 64.0) * (cells[i] - (double)n / 64.0);
    return sum;
}

TEST(sobol_spreads_more_evenly_than_random)
{
    static const size_t counts[] = {64, 100, 200};
    size_t points[200];

    for (size_t c = 0; c < 3; c++) {
        double random = 0.0, sobol = 0.0;

        for (unsigned long seed = 1; seed <= 40; seed++) {
            draw(&design_random, &square, counts[c], seed, points);
            random += unevenness(points, counts[c]);
            draw(&design_sobol, &square, counts[c], seed, points);
            sobol += unevenness(points, counts[c]);
        }
        assert_true(random / 40.0 > 40.0);
        assert_true(sobol < 0.5 * random);
    }
}

TEST(sobol_puts_one_point_into_each_of_64_squares)
{
    size_t points[64];

    for (unsigned long seed = 1; seed <= 40; seed++) {
        draw(&design_sobol, &square, 64, seed, points);
        assert_close(unevenness(points, 64), 0.0, 0.0);
    }
}

TEST(sobol_balances_combinations_of_categories)
{
    size_t points[32];

    for (unsigned long seed = 1; seed <= 20; seed++) {
        size_t counts[2][5] = {{0}};

        draw(&design_sobol, &mixed, 32, seed, points);
        for (size_t i = 0; i < 32; i++) {
            const double *row = space_row(&mixed, points[i]);

            counts[(size_t)row[2]][(size_t)row[3]]++;
        }
        for (size_t direct = 0; direct < 2; direct++) {
            assert_in_range(counts[direct][0], 2, 6);
            assert_in_range(counts[direct][2], 2, 6);
            assert_in_range(counts[direct][3], 2, 6);
            assert_in_range(counts[direct][4], 2, 6);
        }
    }
}

/* Rounding to the nearest level would halve the share of the outermost ones. */
TEST(sobol_does_not_neglect_the_edges)
{
    const double raw[] = {0, 1, 2, 3, 4};
    const enum space_kind kind = SPACE_ORDERED;
    double counts[5] = {0};
    struct space space;
    size_t point;

    assert_int_equal(space_init(&space, raw, 5, 1, &kind), 0);
    for (unsigned long seed = 1; seed <= 2000; seed++) {
        draw(&design_sobol, &space, 1, seed, &point);
        counts[point]++;
    }
    space_done(&space);
    for (size_t i = 0; i < 5; i++)
        assert_close(counts[i] / 400.0, 1.0, 0.2);
}

/* 32 points on 32 x 32: every row and every column is met once, but where a nearest free point was the second
 * best. */
TEST(latin_meets_every_level_of_a_square_once)
{
    size_t points[GRID];

    for (unsigned long seed = 1; seed <= 40; seed++) {
        bool row[GRID] = {false}, column[GRID] = {false};

        draw(&design_latin, &square, GRID, seed, points);
        for (size_t i = 0; i < GRID; i++) {
            assert_false(row[points[i] / GRID]);
            assert_false(column[points[i] % GRID]);
            row[points[i] / GRID] = column[points[i] % GRID] = true;
        }
    }
}

TEST(the_fraction_is_half_of_a_square_and_every_level_keeps_its_share)
{
    size_t points[MAX_POINTS], n, row[GRID] = {0}, column[GRID] = {0};

    assert_int_equal(design_fraction_size(&square, &n), 0);
    assert_int_equal(n, GRID * GRID / 2);
    assert_int_equal(draw(&design_fraction, &square, n, 1, points), n);
    assert_true(all_distinct(points, n, GRID * GRID));
    for (size_t i = 0; i < n; i++) {
        row[points[i] / GRID]++;
        column[points[i] % GRID]++;
        assert_int_equal((points[i] / GRID + points[i] % GRID) % 2, 0);
    }
    for (size_t i = 0; i < GRID; i++)
        assert_true(row[i] == GRID / 2 && column[i] == GRID / 2);
}
