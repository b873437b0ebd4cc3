/* Draws from a normal distribution by a factor of its covariance. */
#include "models/surrogate/joint.h"
#include "models/surrogate/dense.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the factor taken together: all of them end at the diagonal of the last. */
#define CHUNK 32

int joint_init(struct joint *joint, size_t n)
{
    *joint = (struct joint){
        .n = n, .mean = malloc(n * sizeof(*joint->mean)), .factor = malloc(n * n * sizeof(*joint->factor))};
    if (joint->mean && joint->factor)
        return 0;
    joint_done(joint);
    return -ENOMEM;
}

void joint_done(struct joint *joint)
{
    free(joint->mean);
    free(joint->factor);
    *joint = (struct joint){0};
}

int joint_draw(const struct joint *joint, size_t n_draws, gsl_rng *rng, double *ret_draws)
{
    size_t n = joint->n;
    double *normals = malloc(n * n_draws * sizeof(*normals));

    if (!normals)
        return -ENOMEM;
    for (size_t i = 0; i < n * n_draws; i++)
        normals[i] = gsl_ran_gaussian_ziggurat(rng, 1.0);
    for (size_t draw = 0; draw < n_draws; draw++)
        memcpy(ret_draws + draw * n, joint->mean, n * sizeof(*ret_draws));
    for (size_t first = 0; first < n; first += CHUNK) {
        size_t last = GSL_MIN(first + CHUNK, n);

        dense_add_product(joint->scale, n_draws, last - first, last, normals, n_draws, joint->factor + first,
                          n, ret_draws + first, n);
    }
    free(normals);
    return 0;
}
