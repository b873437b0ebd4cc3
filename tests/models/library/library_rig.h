/* A space of three factors and a hill over it, for the tests of libfstune. */
#pragma once

#include "models/library/fstune.h"
#include "tests/models/rng.h"

#define RIG_POINTS 108 /* 9 sizes, 6 depths, direct or not */

/* A block size and a depth, and a choice that doubles the rate. */
static inline struct fst_space *rig_space(void)
{
    static const double depths[] = {1, 2, 4, 8, 16, 32};
    struct fst_space *space = fst_space_new();
    assert_non_null(space);
    assert_int_equal(fst_space_add_sizes(space, "block", 4096, 1 << 20), 0);
    assert_int_equal(fst_space_add_levels(space, "depth", depths, 6), 0);
    assert_int_equal(fst_space_add_choices(space, "direct", 2), 0);
    return space;
}

/* Best at 128 KiB x 8, direct. */
static inline double rig_rate(const double *values)
{
    double size = log2(values[0]) - 17, depth = log2(values[1]) - 3;
    return 1e9 * exp(-0.08 * size * size - 0.1 * depth * depth) * (values[2] > 0 ? 2 : 1);
}

static inline double rig_bytes(const double *values)
{
    return values[0] * values[1];
}

static inline double rig_price(const double *values, void *context)
{
    assert_null(context);
    return rig_bytes(values);
}

/* A search over the rig's space; the noise begins anew. */
static inline struct fst_search *rig_search(const struct fst_options *options)
{
    struct fst_space *space = rig_space();
    struct fst_search *search = fst_search_new(space, options);
    fst_space_free(space);
    assert_non_null(search);
    gsl_rng_set(rng, 1);
    return search;
}

static inline double rig_noise(double cv)
{
    return exp(gsl_ran_gaussian(rng, cv));
}

/* Asks and tells to the end, the costs being the clock; how many measurements that were. */
static inline size_t rig_to_the_end(struct fst_search *search, double (*value_of)(const double *values),
                                    double cv)
{
    struct fst_run run;
    size_t n = 0;
    int asked;
    while ((asked = fst_ask(search, FST_USED_COSTS, &run)) == 1) {
        assert_true(run.setting < fst_search_size(search));
        assert_int_equal(fst_tell(search, &run, value_of(run.values) * rig_noise(cv), 0.1), 0);
        n++;
    }
    assert_int_equal(asked, 0);
    return n;
}
