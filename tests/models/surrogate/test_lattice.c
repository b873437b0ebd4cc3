/* What is looked up is what the kernel says of the coordinates. */
#include "models/surrogate/lattice.h"
#include "tests/test.h"

#include <errno.h>

enum { MOST = 4000 };

static double raw[MOST * 4];

/* Sizes that are no powers of two, so that differences seldom repeat; depths 1, 2, 4 ... that do; gaps in the
 * values of a category; one dimension that does not vary. */
static void make_uneven(struct space *space)
{
    static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_CATEGORY, SPACE_ORDERED, SPACE_ORDERED};
    static const double sizes[] = {3, 4, 5, 7, 11}, apis[] = {0, 2, 5};
    size_t n = 0;

    for (size_t i = 0; i < 60; i++) {
        if (i % 7 == 3)
            continue;
        raw[4 * n] = log2(sizes[i % 5]);
        raw[4 * n + 1] = apis[i / 5 % 3];
        raw[4 * n + 2] = (double)(i / 15);
        raw[4 * n++ + 3] = 2.0;
    }
    assert_int_equal(space_init(space, raw, n, 4, kinds), 0);
}

TEST(table_holds_the_kernel_of_every_pair)
{
    const double logs[] = {-0.5, 0.2, 0.4, -1.0, 0.3, -3.0};
    AUTO(space_done) struct space space;
    AUTO(lattice_done) struct lattice lattice;
    struct kernel kernel;
    AUTO(auto_free) double *table;

    make_uneven(&space);
    kernel_from_logs(&kernel, &space, false, logs);
    assert_int_equal(lattice_init(&lattice, &space), 0);
    table = malloc(lattice.size * sizeof(*table));
    assert_non_null(table);
    lattice_tabulate(&lattice, &kernel, table);
    for (size_t i = 0; i < space.n_points; i++)
        for (size_t j = 0; j < space.n_points; j++) {
            size_t index = lattice_index(&lattice, i, j);
            double apart[SPACE_MAX_DIMS], direct;

            assert_true(index < lattice.size);
            direct = kernel_between(&kernel, space_row(&space, i), space_row(&space, j));
            assert_close(table[index], direct, 1e-7);
            lattice_apart(&lattice, index, apart);
            assert_close(kernel.offset + kernel_at_apart(&kernel, apart, NULL), direct, 1e-7);
        }
}

TEST(even_levels_have_as_many_classes_as_levels)
{
    static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_CATEGORY};
    AUTO(space_done) struct space space;
    AUTO(lattice_done) struct lattice lattice;

    for (size_t i = 0; i < 44; i++) {
        raw[2 * i] = (double)(i % 11);
        raw[2 * i + 1] = (double)(i / 11);
    }
    assert_int_equal(space_init(&space, raw, 44, 2, kinds), 0);
    assert_int_equal(lattice_init(&lattice, &space), 0);
    assert_int_equal(lattice.size, 11 * 2); /* another category is another category */
}

TEST(one_point_has_one_class)
{
    const enum space_kind kind = SPACE_ORDERED;
    AUTO(space_done) struct space space;
    struct lattice lattice;

    raw[0] = 7.0;
    assert_int_equal(space_init(&space, raw, 1, 1, &kind), 0);
    assert_int_equal(lattice_init(&lattice, &space), 0);
    assert_int_equal(lattice.size, 1);
    assert_int_equal(lattice_index(&lattice, 0, 0), 0);
    lattice_done(&lattice);
    lattice_done(&lattice);
}

TEST(too_many_levels_are_erange)
{
    static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED};
    struct space space;
    struct lattice lattice;

    for (size_t i = 0; i < MOST; i++)
        raw[i] = (double)i;
    assert_int_equal(space_init(&space, raw, MOST, 1, kinds), 0);
    assert_int_equal(lattice_init(&lattice, &space), -ERANGE);
    assert_int_equal(lattice.size, 0);
    space_done(&space);
    /* Few levels, but hardly a difference that repeats in either dimension. */
    for (size_t i = 0; i < 900; i++) {
        raw[2 * i] = sqrt((double)(i % 30));
        raw[2 * i + 1] = exp(0.1 * (double)(i / 30));
    }
    assert_int_equal(space_init(&space, raw, 900, 2, kinds), 0);
    assert_int_equal(lattice_init(&lattice, &space), 0);
    lattice_done(&lattice);
    space_done(&space);
    for (size_t i = 0; i < 3600; i++) {
        raw[2 * i] = sqrt((double)(i % 60));
        raw[2 * i + 1] = exp(0.1 * (double)(i / 60));
    }
    space_init(&space, raw, 1800, 2, kinds);
    assert_int_equal(lattice_init(&lattice, &space), -ERANGE);
    space_done(&space);
}
