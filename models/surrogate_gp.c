/* Gaussian process: a smooth response over the space, plus a response of its own for every point.
 *
 * The observed mean of a point is offset + smooth + own + noise; all but the noise is the response that is
 * predicted. The own part lets a much replayed point stand out from the smooth fit (alignment, a cache that
 * is just large enough) without bending it. */
#include "models/evidence.h"
#include "models/kernel.h"
#include "models/surrogate.h"

#include <errno.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_OBSERVATIONS 3

/* Candidates predicted together: the block and the factor stay in the second-level cache. */
#define BLOCK 256

/* From here on a refit costs a second or so, and the data pin the optimum down: no random starts. */
#define N_WITHOUT_RANDOM_STARTS 100

struct gp {
    const struct space *space;
    size_t n;
    size_t *slot;        /* by point: 1 + index of its observation, or 0 */
    size_t *points;      /* by observation, as the rest */
    double *response;    /* (mean - shift) / scale */
    double *noise;       /* mean_variance / scale^2 */
    gsl_matrix *factor;  /* Cholesky factor of the observations' covariance */
    gsl_vector *weights; /* its inverse times response */
    double shift, scale; /* of the last refit */
    int has_logs;
    double logs[KERNEL_MAX_LOGS];
    struct kernel kernel;
};

static void gp_done(void *state)
{
    struct gp *gp = state;

    free(gp->slot);
    free(gp->points);
    free(gp->response);
    free(gp->noise);
    gsl_matrix_free(gp->factor);
    gsl_vector_free(gp->weights);
    *gp = (struct gp){0};
}

/* The scale is never less than the noise: differences that noise explains are not to be blown up. */
static void choose_scale(struct gp *gp, const struct observation *data)
{
    double n = (double)gp->n, sum = 0.0, squares = 0.0, noise = 0.0;

    for (size_t i = 0; i < gp->n; i++) {
        sum += data[i].mean / n;
        noise += data[i].mean_variance / n;
    }
    for (size_t i = 0; i < gp->n; i++)
        squares += gsl_pow_2(data[i].mean - sum) / (n - 1.0);
    gp->shift = sum;
    gp->scale = sqrt(fmax(squares, noise));
    if (!(gp->scale > 0.0))
        gp->scale = 1.0;
}

/* `next` gets copies of the data in its own units; hyper-parameters and scale come from `last` unless new
 * ones are asked for. */
static int take_data(struct gp *next, const struct gp *last, const struct space *space,
                     const struct observation *data, size_t n, int refit)
{
    *next = (struct gp){
        .space = space, .n = n, .shift = last->shift, .scale = last->scale, .has_logs = last->has_logs};
    memcpy(next->logs, last->logs, sizeof(next->logs));
    next->slot = calloc(space->n_points, sizeof(*next->slot));
    next->points = malloc(n * sizeof(*next->points));
    next->response = malloc(n * sizeof(*next->response));
    next->noise = malloc(n * sizeof(*next->noise));
    next->factor = gsl_matrix_alloc(n, n);
    next->weights = gsl_vector_alloc(n);
    if (!next->slot || !next->points || !next->response || !next->noise || !next->factor || !next->weights)
        return -ENOMEM;
    if (refit)
        choose_scale(next, data);
    for (size_t i = 0; i < n; i++) {
        next->slot[data[i].point] = i + 1;
        next->points[i] = data[i].point;
        next->response[i] = (data[i].mean - next->shift) / next->scale;
        next->noise[i] = data[i].mean_variance / gsl_pow_2(next->scale);
    }
    return 0;
}

static int choose_logs(struct gp *gp, gsl_rng *rng)
{
    struct evidence evidence;
    size_t n_random = gp->n >= N_WITHOUT_RANDOM_STARTS ? 0 : gp->has_logs ? 1 : 2;
    int result = evidence_init(&evidence, gp->space, gp->points, gp->n, gp->response, gp->noise);

    if (result)
        return result;
    result = evidence_minimise(&evidence, gp->has_logs, n_random, rng, gp->logs);
    evidence_done(&evidence);
    gp->has_logs = gp->has_logs || !result;
    return result;
}

/* Prior covariance of the responses of two points. */
static double response_covariance(const struct gp *gp, size_t a, size_t b)
{
    double smooth = kernel_between(&gp->kernel, space_row(gp->space, a), space_row(gp->space, b));

    return a == b ? smooth + gp->kernel.roughness : smooth;
}

static int factorise(struct gp *gp)
{
    gsl_vector_const_view response = gsl_vector_const_view_array(gp->response, gp->n);
    int result;

    kernel_from_logs(&gp->kernel, gp->space, gp->logs);
    for (size_t i = 0; i < gp->n; i++) {
        for (size_t j = 0; j < i; j++)
            gsl_matrix_set(gp->factor, i, j, response_covariance(gp, gp->points[i], gp->points[j]));
        gsl_matrix_set(gp->factor, i, i,
                       response_covariance(gp, gp->points[i], gp->points[i]) + gp->noise[i]);
    }
    result = evidence_factorise(gp->factor);
    if (!result)
        gsl_linalg_cholesky_solve(gp->factor, &response.vector, gp->weights);
    return result;
}

static int gp_fit(void *state, const struct space *space, const struct observation *data, size_t n, int refit,
                  gsl_rng *rng)
{
    struct gp *gp = state, next;
    int result;

    if (n < MIN_OBSERVATIONS)
        return -ENODATA;
    refit = refit || !gp->has_logs;
    result = take_data(&next, gp, space, data, n, refit);
    if (!result && refit)
        result = choose_logs(&next, rng);
    if (!result)
        result = factorise(&next);
    if (result) {
        gp_done(&next);
        return result;
    }
    gp_done(gp);
    *gp = next;
    return 0;
}

/* Prior covariance of every observation (row) with each listed point (column). */
static void fill_cross(const struct gp *gp, const size_t *points, gsl_matrix *cross)
{
    for (size_t i = 0; i < gp->n; i++)
        for (size_t j = 0; j < cross->size2; j++)
            gsl_matrix_set(cross, i, j, response_covariance(gp, gp->points[i], points[j]));
}

/* Means of the listed points from cross, which becomes its solution by the factor: half of the explained
 * covariance. */
static void solve_cross(const struct gp *gp, gsl_matrix *cross, double *ret_mean)
{
    gsl_vector_view mean = gsl_vector_view_array(ret_mean, cross->size2);

    gsl_blas_dgemv(CblasTrans, 1.0, cross, gp->weights, 0.0, &mean.vector);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1.0, gp->factor, cross);
    for (size_t j = 0; j < cross->size2; j++)
        ret_mean[j] = gp->shift + gp->scale * ret_mean[j];
}

static int gp_predict(const void *state, const size_t *points, size_t n, double *ret_mean,
                      double *ret_variance)
{
    const struct gp *gp = state;
    double prior = gp->kernel.offset + gp->kernel.signal + gp->kernel.roughness;
    gsl_matrix *block = gsl_matrix_alloc(gp->n, BLOCK);

    if (!block)
        return -ENOMEM;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t width = GSL_MIN(BLOCK, n - first);
        gsl_matrix_view cross = gsl_matrix_submatrix(block, 0, 0, gp->n, width);
        double *variance = ret_variance + first;

        fill_cross(gp, points + first, &cross.matrix);
        solve_cross(gp, &cross.matrix, ret_mean + first);
        for (size_t j = 0; j < width; j++)
            variance[j] = prior;
        for (size_t i = 0; i < gp->n; i++)
            for (size_t j = 0; j < width; j++)
                variance[j] -= gsl_pow_2(gsl_matrix_get(&cross.matrix, i, j));
        for (size_t j = 0; j < width; j++)
            variance[j] = gsl_pow_2(gp->scale) * fmax(0.0, variance[j]);
    }
    gsl_matrix_free(block);
    return 0;
}

static int gp_covariance(const void *state, size_t point, const size_t *points, size_t n,
                         double *ret_covariance)
{
    const struct gp *gp = state;
    gsl_vector *share = gsl_vector_alloc(gp->n);

    if (!share)
        return -ENOMEM;
    for (size_t i = 0; i < gp->n; i++)
        gsl_vector_set(share, i, response_covariance(gp, gp->points[i], point));
    gsl_linalg_cholesky_svx(gp->factor, share);
    for (size_t j = 0; j < n; j++) {
        double left = response_covariance(gp, point, points[j]);

        for (size_t i = 0; i < gp->n; i++)
            left -= gsl_vector_get(share, i) * response_covariance(gp, gp->points[i], points[j]);
        ret_covariance[j] = gsl_pow_2(gp->scale) * left;
    }
    gsl_vector_free(share);
    return 0;
}

/* Cholesky factor of the joint posterior covariance of the listed points, in own units. cross: solved. */
static int factorise_posterior(const struct gp *gp, const size_t *points, const gsl_matrix *cross,
                               gsl_matrix *posterior)
{
    for (size_t i = 0; i < posterior->size1; i++)
        for (size_t j = 0; j <= i; j++)
            gsl_matrix_set(posterior, i, j, response_covariance(gp, points[i], points[j]));
    gsl_blas_dsyrk(CblasLower, CblasTrans, -1.0, cross, 1.0, posterior);
    return evidence_factorise(posterior);
}

static int gp_sample(const void *state, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                     double *ret_draws)
{
    const struct gp *gp = state;
    gsl_matrix *cross = gsl_matrix_alloc(gp->n, n), *posterior = gsl_matrix_alloc(n, n),
               *normals = gsl_matrix_alloc(n, n_draws);
    double *mean = malloc(n * sizeof(*mean));
    int result = cross && posterior && normals && mean ? 0 : -ENOMEM;

    if (result)
        goto out;
    fill_cross(gp, points, cross);
    solve_cross(gp, cross, mean);
    result = factorise_posterior(gp, points, cross, posterior);
    if (result)
        goto out;
    for (size_t i = 0; i < n * n_draws; i++)
        normals->data[i] = gsl_ran_gaussian_ziggurat(rng, 1.0);
    gsl_blas_dtrmm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, gp->scale, posterior, normals);
    for (size_t draw = 0; draw < n_draws; draw++)
        for (size_t i = 0; i < n; i++)
            ret_draws[draw * n + i] = mean[i] + gsl_matrix_get(normals, i, draw);
out:
    gsl_matrix_free(cross);
    gsl_matrix_free(posterior);
    gsl_matrix_free(normals);
    free(mean);
    return result;
}

/* Rasmussen and Williams 2006, equations 5.10 to 5.12: the inverse covariance holds all n predictions, noise
 * included. */
static int gp_leave_one_out(const void *state, double *ret_log_density, double *ret_rmse)
{
    const struct gp *gp = state;
    gsl_matrix *inverse = gsl_matrix_alloc(gp->n, gp->n);
    double density = 0.0, squares = 0.0, n = (double)gp->n;

    if (!inverse)
        return -ENOMEM;
    gsl_matrix_memcpy(inverse, gp->factor);
    gsl_linalg_cholesky_invert(inverse);
    for (size_t i = 0; i < gp->n; i++) {
        double variance = 1.0 / gsl_matrix_get(inverse, i, i);
        double residual = gsl_vector_get(gp->weights, i) * variance;

        density += -0.5 * log(2.0 * M_PI * variance) - 0.5 * gsl_pow_2(residual) / variance;
        squares += gsl_pow_2(residual);
    }
    gsl_matrix_free(inverse);
    *ret_log_density = density / n - log(gp->scale);
    *ret_rmse = gp->scale * sqrt(squares / n);
    return 0;
}

const struct surrogate_ops surrogate_gp = {
    .name = "gp",
    .state_size = sizeof(struct gp),
    .fit = gp_fit,
    .predict = gp_predict,
    .covariance = gp_covariance,
    .sample = gp_sample,
    .leave_one_out = gp_leave_one_out,
    .done = gp_done,
};
