/* tests/models/surrogate/surrogate_rig: the space and the made-up data that the tests of the surrogates
 * share. */
#pragma once

#include "models/surrogate/surrogate.h"
#include "tests/models/grid.h"
#include "tests/models/rng.h"

#include <gsl/gsl_math.h>

/* Request sizes x depths x three APIs. */
enum { N_SIZES = 9, N_DEPTHS = 5, N_APIS = 3, N_POINTS = N_SIZES * N_DEPTHS * N_APIS, N_DATA = 40 };

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
static struct observation data[N_DATA];

GRID_SPACE(space, kinds, N_SIZES, N_DEPTHS, N_APIS)

static inline double truth(size_t point)
{
    const double *x = space_row(&space, point);

    return 20.0 + 2.0 * x[0] - 1.5 * gsl_pow_2(x[0] - 0.7) + 0.8 * x[1] - 0.5 * x[0] * x[1] +
           (x[2] > 1.5 ? 0.4 : 0.0) - (x[2] > 0.5 ? 0.3 * x[1] : 0.0);
}

/* Every observation a different point, spread over the space, with noise of this std and a little lack of
 * fit. */
static inline void make_data(double noise_std)
{
    gsl_rng_set(rng, 7);
    for (size_t i = 0; i < N_DATA; i++) {
        size_t point = i * 37 % N_POINTS;

        data[i] = (struct observation){.point = point,
                                       .mean = truth(point) + gsl_ran_gaussian(rng, noise_std),
                                       .mean_variance = gsl_pow_2(fmax(noise_std, 1e-4))};
    }
}

static inline void *state_of(const struct surrogate_ops *ops)
{
    void *state = calloc(1, ops->state_size);

    assert_non_null(state);
    return state;
}

static inline void *drop(const struct surrogate_ops *ops, void *state)
{
    ops->done(state);
    free(state);
    return NULL;
}

static inline int draw_joint(const struct surrogate_ops *ops, const void *state, const size_t *points,
                             size_t n, size_t n_draws, double *ret_draws)
{
    AUTO(joint_done) struct joint joint;

    assert_int_equal(joint_init(&joint, n), 0);
    assert_int_equal(ops->joint(state, points, n, &joint), 0);
    return joint_draw(&joint, n_draws, rng, ret_draws);
}

static inline void predict_one(const struct surrogate_ops *ops, const void *state, size_t point, double *mean,
                               double *variance)
{
    assert_int_equal(ops->predict(state, &point, 1, -INFINITY, mean, variance), 0);
}
