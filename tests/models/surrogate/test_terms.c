/* Which terms a response surface gets, and that they are standardised. */
#include "models/surrogate/terms.h"
#include "tests/models/grid.h"

#include <stdbool.h>

/* 3 x 2 levels of ordered dimensions, 3 of a category: all combinations. */
enum { N = 18 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
static const size_t all[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

GRID_SPACE(space, kinds, 3, 2, 3)

static size_t n_terms_of(const size_t *points, size_t n)
{
    struct terms surface;
    size_t n_terms;

    assert_int_equal(terms_init(&surface, &space, points, n), 0);
    n_terms = surface.n_terms;
    terms_done(&surface);
    return n_terms;
}

TEST(full_grid_has_every_term)
{
    /* two linear, one square (the other dimension has two levels), one product; two levels, each with two
     * slopes */
    assert_int_equal(n_terms_of(all, N), 10);
}

TEST(what_does_not_vary_gets_no_term)
{
    const size_t one_category[] = {0, 1, 2, 3, 4, 5}, one_point[] = {4}, one_line[] = {0, 1, 2};
    const size_t two_levels[] = {0, 6};

    assert_int_equal(n_terms_of(one_category, 6), 4);
    assert_int_equal(n_terms_of(one_point, 1), 0);
    /* The second dimension stands still, so its product with the first is no constant but a multiple of the
     * first. */
    assert_int_equal(n_terms_of(one_line, 3), 3);
    assert_int_equal(n_terms_of(two_levels, 2), 3);
}

TEST(terms_are_standardised_over_the_points)
{
    const size_t some[] = {0, 1, 5, 7, 8, 9, 12, 16};
    AUTO(terms_done) struct terms surface;
    double row[11], sum[11] = {0}, squares[11] = {0};

    assert_int_equal(terms_init(&surface, &space, some, 8), 0);
    for (size_t i = 0; i < 8; i++) {
        terms_row(&surface, some[i], row);
        assert_close(row[0], 1.0, 0.0);
        for (size_t k = 0; k <= surface.n_terms; k++) {
            sum[k] += row[k];
            squares[k] += row[k] * row[k];
        }
    }
    for (size_t k = 1; k <= surface.n_terms; k++) {
        assert_close(sum[k], 0.0, 1e-12);
        assert_close(squares[k], 8.0, 1e-12);
    }
}

TEST(rows_of_all_points_differ)
{
    AUTO(terms_done) struct terms surface;
    double rows[N][11];

    assert_int_equal(terms_init(&surface, &space, all, N), 0);
    for (size_t i = 0; i < N; i++) {
        terms_row(&surface, i, rows[i]);
        for (size_t j = 0; j < i; j++) {
            bool differ = false;

            for (size_t k = 0; k <= surface.n_terms; k++)
                differ = differ || fabs(rows[i][k] - rows[j][k]) > 1e-9;
            assert_true(differ);
        }
    }
}

TEST(copy_gives_the_same_rows_and_outlives_its_source)
{
    struct terms surface, copy;
    double row[11], copied[11];

    assert_int_equal(terms_init(&surface, &space, all, N), 0);
    terms_row(&surface, 11, row);
    assert_int_equal(terms_copy(&copy, &surface), 0);
    terms_done(&surface);
    terms_row(&copy, 11, copied);
    for (size_t k = 0; k <= copy.n_terms; k++)
        assert_close(copied[k], row[k], 0.0);
    terms_done(&copy);
}
