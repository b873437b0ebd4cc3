/* Response surface (models/surrogate/terms) fitted by weighted ridge regression.
 *
 * A ridge keeps it solvable when terms outnumber observations; its weight lambda comes from generalised
 * cross-validation (Golub, Heath and Wahba 1979). What the surface does not explain is a response of its own
 * of every point (lack of fit), of variance tau^2, found where the weighted residual sum of squares equals
 * its degrees of freedom (Paule and Mandel 1982). Read as a Bayesian linear model with prior precision
 * lambda, both give the posterior of the coefficients and of the points. */
#include "models/surrogate/surrogate.h"
#include "models/surrogate/terms.h"

#include <errno.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_OBSERVATIONS 5
#define BLOCK            256

/* Lambda relative to the sum of weights, in half decades from 1e-9 (an exact surface stays exact) to 1e2 (a
 * constant). */
#define N_LAMBDAS     23
#define LAMBDA_LOWEST 1e-9

/* Lack of fit relative to the variance of the responses. */
#define TAU2_LOWEST  1e-8
#define TAU2_HIGHEST 10.0
#define TAU2_STEPS   10

struct quadratic {
    size_t n;
    size_t *slot;   /* by point: 1 + index of its observation, or 0 */
    size_t *points; /* by observation, as data */
    struct observation *data;
    struct terms surface;
    size_t n_columns; /* 1 + n_terms of the surface */
    double lambda, tau2;
    gsl_matrix *design;  /* observations x columns */
    gsl_matrix *gram;    /* of the weighted design, lower triangle */
    gsl_vector *moments; /* weighted design times responses */
    gsl_matrix *factor;  /* Cholesky factor of the coefficients' posterior precision */
    gsl_vector *coefficients;
};

static void quadratic_done(void *state)
{
    struct quadratic *q = state;

    free(q->slot);
    free(q->data);
    free(q->points);
    terms_done(&q->surface);
    gsl_matrix_free(q->design);
    gsl_matrix_free(q->gram);
    gsl_vector_free(q->moments);
    gsl_matrix_free(q->factor);
    gsl_vector_free(q->coefficients);
    *q = (struct quadratic){0};
}

static double weight_of(const struct quadratic *q, size_t i)
{
    return 1.0 / (q->tau2 + q->data[i].mean_variance);
}

/* Weighs the observations by the present tau2. */
static void weigh(struct quadratic *q)
{
    gsl_matrix_set_zero(q->gram);
    gsl_vector_set_zero(q->moments);
    for (size_t i = 0; i < q->n; i++) {
        gsl_vector_const_view row = gsl_matrix_const_row(q->design, i);

        gsl_blas_dsyr(CblasLower, weight_of(q, i), &row.vector, q->gram);
        gsl_blas_daxpy(weight_of(q, i) * q->data[i].mean, &row.vector, q->moments);
    }
}

/* Posterior of the coefficients at the present lambda, and the tau2 of the last weighing. */
static int solve(struct quadratic *q)
{
    gsl_matrix_memcpy(q->factor, q->gram);
    gsl_vector_memcpy(q->coefficients, q->moments);
    for (size_t k = 1; k < q->n_columns; k++)
        *gsl_matrix_ptr(q->factor, k, k) += q->lambda;
    if (gsl_linalg_cholesky_decomp1(q->factor) != GSL_SUCCESS)
        return -EDOM;
    gsl_linalg_cholesky_svx(q->factor, q->coefficients);
    return 0;
}

static double residual_of(const struct quadratic *q, size_t i)
{
    gsl_vector_const_view row = gsl_matrix_const_row(q->design, i);
    double fitted;

    gsl_blas_ddot(&row.vector, q->coefficients, &fitted);
    return q->data[i].mean - fitted;
}

/* Weighted residual sum of squares of the present solution, and the degrees of freedom that it leaves.
 * inverse: room for the coefficients' covariance. */
static double residual_squares(const struct quadratic *q, gsl_matrix *inverse, double *ret_df)
{
    double squares = 0.0, penalised = 0.0;

    for (size_t i = 0; i < q->n; i++)
        squares += weight_of(q, i) * gsl_pow_2(residual_of(q, i));
    gsl_matrix_memcpy(inverse, q->factor);
    gsl_linalg_cholesky_invert(inverse);
    for (size_t k = 1; k < q->n_columns; k++)
        penalised += q->lambda * gsl_matrix_get(inverse, k, k);
    *ret_df = (double)q->n - (double)q->n_columns + penalised;
    return squares;
}

/* Sets lambda to the minimum of generalised cross-validation at the present tau2 and solves; *ret_excess:
 * weighted residual sum of squares by its degrees of freedom. Solutions that leave less than one degree of
 * freedom say nothing about their error and are passed over. */
static int choose_lambda(struct quadratic *q, gsl_matrix *inverse, double *ret_excess)
{
    double best_lambda = -1.0, best_score = INFINITY, sum = 0.0;

    weigh(q);
    for (size_t i = 0; i < q->n; i++)
        sum += weight_of(q, i);
    for (int step = 0; step < N_LAMBDAS; step++) {
        double squares, df;

        q->lambda = sum * LAMBDA_LOWEST * pow(10.0, 0.5 * step);
        if (solve(q))
            continue;
        squares = residual_squares(q, inverse, &df);
        if (df < 1.0 || squares / gsl_pow_2(df) >= best_score)
            continue;
        best_score = squares / gsl_pow_2(df);
        best_lambda = q->lambda;
        *ret_excess = squares / df;
    }
    if (best_lambda < 0.0)
        return -EDOM;
    q->lambda = best_lambda;
    return solve(q);
}

/* Bisection of log tau2 for an excess of 1: with too little lack of fit the residuals are larger than their
 * weights promise. */
static int choose_tau2(struct quadratic *q, gsl_matrix *inverse)
{
    double mean = 0.0, variance = 0.0, n = (double)q->n, low, high, excess = 0.0;
    int result = 0;

    for (size_t i = 0; i < q->n; i++)
        mean += q->data[i].mean / n;
    for (size_t i = 0; i < q->n; i++)
        variance += gsl_pow_2(q->data[i].mean - mean) / n;
    low = log(TAU2_LOWEST * fmax(variance, q->data[0].mean_variance));
    high = low + log(TAU2_HIGHEST / TAU2_LOWEST);
    q->tau2 = exp(low);
    result = choose_lambda(q, inverse, &excess);
    if (result || excess <= 1.0)
        return result;
    for (int step = 0; step < TAU2_STEPS && !result; step++) {
        q->tau2 = exp(0.5 * (low + high));
        result = choose_lambda(q, inverse, &excess);
        if (excess > 1.0)
            low = log(q->tau2);
        else
            high = log(q->tau2);
    }
    return result;
}

static int take_data(struct quadratic *next, const struct space *space, const struct observation *data)
{
    next->slot = calloc(space->n_points, sizeof(*next->slot));
    next->points = malloc(next->n * sizeof(*next->points));
    next->data = malloc(next->n * sizeof(*next->data));
    if (!next->slot || !next->points || !next->data)
        return -ENOMEM;
    memcpy(next->data, data, next->n * sizeof(*data));
    for (size_t i = 0; i < next->n; i++) {
        next->points[i] = data[i].point;
        next->slot[data[i].point] = i + 1;
    }
    return 0;
}

static int fit_terms(struct quadratic *next, int refit)
{
    gsl_matrix *inverse;
    int result = -ENOMEM;

    next->n_columns = 1 + next->surface.n_terms;
    inverse = gsl_matrix_alloc(next->n_columns, next->n_columns);
    next->design = gsl_matrix_alloc(next->n, next->n_columns);
    next->gram = gsl_matrix_alloc(next->n_columns, next->n_columns);
    next->moments = gsl_vector_alloc(next->n_columns);
    next->factor = gsl_matrix_alloc(next->n_columns, next->n_columns);
    next->coefficients = gsl_vector_alloc(next->n_columns);
    if (!inverse || !next->design || !next->gram || !next->moments || !next->factor || !next->coefficients)
        goto out;
    for (size_t i = 0; i < next->n; i++)
        terms_row(&next->surface, next->points[i], gsl_matrix_ptr(next->design, i, 0));
    if (refit) {
        result = choose_tau2(next, inverse);
    } else {
        weigh(next);
        result = solve(next);
    }
out:
    gsl_matrix_free(inverse);
    return result;
}

static int quadratic_fit(void *state, const struct space *space, const struct observation *data, size_t n,
                         int refit, gsl_rng *rng)
{
    struct quadratic *q = state, next = {.n = n, .lambda = q->lambda, .tau2 = q->tau2};
    int result;

    (void)rng;
    if (n < MIN_OBSERVATIONS)
        return -ENODATA;
    refit = refit || !q->surface.terms;
    result = take_data(&next, space, data);
    if (!result && refit)
        result = terms_init(&next.surface, space, next.points, n);
    else if (!result)
        result = terms_copy(&next.surface, &q->surface);
    if (!result)
        result = fit_terms(&next, refit);
    if (result) {
        quadratic_done(&next);
        return result;
    }
    quadratic_done(q);
    *q = next;
    return 0;
}

/* Share of the surface in the response of a point, the rest being what was measured there; *ret_own_variance:
 * of its own part given the coefficients. *ret_mean: what to add to that share of the surface. */
static double surface_share(const struct quadratic *q, size_t point, double *ret_mean,
                            double *ret_own_variance)
{
    const struct observation *seen = q->slot[point] ? &q->data[q->slot[point] - 1] : NULL;
    double share = seen ? seen->mean_variance / (q->tau2 + seen->mean_variance) : 1.0;

    *ret_mean = seen ? (1.0 - share) * seen->mean : 0.0;
    *ret_own_variance = q->tau2 * share;
    return share;
}

/* Surface values of the listed points, and their rows divided by the factor: inner products are posterior
 * covariances. */
static void surface_of(const struct quadratic *q, const size_t *points, gsl_matrix *rows, double *ret_surface)
{
    gsl_vector_view surface = gsl_vector_view_array(ret_surface, rows->size1);

    for (size_t j = 0; j < rows->size1; j++)
        terms_row(&q->surface, points[j], gsl_matrix_ptr(rows, j, 0));
    gsl_blas_dgemv(CblasNoTrans, 1.0, rows, q->coefficients, 0.0, &surface.vector);
    gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1.0, q->factor, rows);
}

static double inner_product(const gsl_matrix *a, size_t i, const gsl_matrix *b, size_t j)
{
    gsl_vector_const_view left = gsl_matrix_const_row(a, i), right = gsl_matrix_const_row(b, j);
    double product;

    gsl_blas_ddot(&left.vector, &right.vector, &product);
    return product;
}

static int quadratic_predict(const void *state, const size_t *points, size_t n, double floor,
                             double *ret_mean, double *ret_variance)
{
    const struct quadratic *q = state;
    gsl_matrix *block = gsl_matrix_alloc(BLOCK, q->n_columns);

    (void)floor; /* exact everywhere: a variance costs little more than a mean */
    if (!block)
        return -ENOMEM;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t height = GSL_MIN(BLOCK, n - first);
        gsl_matrix_view rows = gsl_matrix_submatrix(block, 0, 0, height, q->n_columns);

        surface_of(q, points + first, &rows.matrix, ret_mean + first);
        for (size_t j = 0; j < height; j++) {
            double own_mean, own_variance;
            double share = surface_share(q, points[first + j], &own_mean, &own_variance);

            ret_mean[first + j] = share * ret_mean[first + j] + own_mean;
            ret_variance[first + j] =
                gsl_pow_2(share) * inner_product(&rows.matrix, j, &rows.matrix, j) + own_variance;
        }
    }
    gsl_matrix_free(block);
    return 0;
}

static int quadratic_covariance(const void *state, size_t point, const size_t *points, size_t n,
                                double *ret_covariance)
{
    const struct quadratic *q = state;
    gsl_matrix *one = gsl_matrix_alloc(1, q->n_columns), *rows = gsl_matrix_alloc(n, q->n_columns);
    int result = one && rows ? 0 : -ENOMEM;
    double own_mean, own_variance, unused;

    if (!result) {
        double share = surface_share(q, point, &own_mean, &own_variance);

        surface_of(q, &point, one, &unused);
        surface_of(q, points, rows, ret_covariance);
        for (size_t j = 0; j < n; j++) {
            double other = surface_share(q, points[j], &own_mean, &unused);

            ret_covariance[j] = share * other * inner_product(one, 0, rows, j);
            if (points[j] == point)
                ret_covariance[j] += own_variance;
        }
    }
    gsl_matrix_free(one);
    gsl_matrix_free(rows);
    return result;
}

/* Columns of ret_draws: draws of the coefficients. */
static void draw_coefficients(const struct quadratic *q, gsl_rng *rng, gsl_matrix *ret_draws)
{
    for (size_t i = 0; i < ret_draws->size1 * ret_draws->size2; i++)
        ret_draws->data[i] = gsl_ran_gaussian_ziggurat(rng, 1.0);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 1.0, q->factor, ret_draws);
    for (size_t k = 0; k < ret_draws->size1; k++) {
        gsl_vector_view row = gsl_matrix_row(ret_draws, k);

        gsl_vector_add_constant(&row.vector, gsl_vector_get(q->coefficients, k));
    }
}

static int quadratic_sample(const void *state, const size_t *points, size_t n, size_t n_draws, gsl_rng *rng,
                            double *ret_draws)
{
    const struct quadratic *q = state;
    gsl_matrix *coefficients = gsl_matrix_alloc(q->n_columns, n_draws);
    gsl_matrix *rows = gsl_matrix_alloc(n, q->n_columns);
    gsl_matrix_view draws = gsl_matrix_view_array(ret_draws, n_draws, n);
    int result = coefficients && rows ? 0 : -ENOMEM;

    if (!result) {
        draw_coefficients(q, rng, coefficients);
        for (size_t j = 0; j < n; j++)
            terms_row(&q->surface, points[j], gsl_matrix_ptr(rows, j, 0));
        gsl_blas_dgemm(CblasTrans, CblasTrans, 1.0, coefficients, rows, 0.0, &draws.matrix);
        for (size_t j = 0; j < n; j++) {
            double own_mean, own_variance;
            double share = surface_share(q, points[j], &own_mean, &own_variance);

            for (size_t draw = 0; draw < n_draws; draw++)
                ret_draws[draw * n + j] = share * ret_draws[draw * n + j] + own_mean +
                                          gsl_ran_gaussian_ziggurat(rng, sqrt(own_variance));
        }
    }
    gsl_matrix_free(coefficients);
    gsl_matrix_free(rows);
    return result;
}

/* Through the hat matrix: an observation of leverage h misses its own prediction by residual / (1 - h), whose
 * variance is its weight's inverse / (1 - h). */
static int quadratic_leave_one_out(const void *state, double *ret_log_density, double *ret_rmse)
{
    const struct quadratic *q = state;
    gsl_matrix *rows = gsl_matrix_alloc(q->n, q->n_columns);
    double density = 0.0, squares = 0.0, n = (double)q->n;
    int result = rows ? 0 : -ENOMEM;

    if (result)
        return result;
    gsl_matrix_memcpy(rows, q->design);
    gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1.0, q->factor, rows);
    for (size_t i = 0; i < q->n && !result; i++) {
        double kept = 1.0 - weight_of(q, i) * inner_product(rows, i, rows, i);
        double residual = residual_of(q, i) / kept, variance = 1.0 / (weight_of(q, i) * kept);

        /* A leverage of 1 to rounding: the surface cannot be had without this observation. */
        if (kept < 1e-12)
            result = -EDOM;
        density += -0.5 * log(2.0 * M_PI * variance) - 0.5 * gsl_pow_2(residual) / variance;
        squares += gsl_pow_2(residual);
    }
    gsl_matrix_free(rows);
    if (result)
        return result;
    *ret_log_density = density / n;
    *ret_rmse = sqrt(squares / n);
    return 0;
}

const struct surrogate_ops surrogate_quadratic = {
    .name = "quadratic",
    .state_size = sizeof(struct quadratic),
    .fit = quadratic_fit,
    .predict = quadratic_predict,
    .covariance = quadratic_covariance,
    .sample = quadratic_sample,
    .leave_one_out = quadratic_leave_one_out,
    .done = quadratic_done,
};
