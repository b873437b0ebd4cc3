/* Penalised marginal likelihood of a Gaussian process, its analytic gradient, and the descent to its best
 * hyper-parameters. */
#include "models/evidence.h"

#include <errno.h>
#include <float.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLAMP_STDS     4.0
#define MAX_ITERATIONS 40
#define MAX_JITTERS    7

/* A loss is a log density: differences below a hundredth do not change what is predicted. */
#define LOSS_TOLERANCE 0.01

struct descent {
    struct evidence *evidence;
    int result; /* first failure that is not -EDOM */
    int known;  /* at, loss and gradient hold an evaluation */
    double at[KERNEL_MAX_LOGS], loss, gradient[KERNEL_MAX_LOGS];
};

int evidence_factorise(gsl_matrix *covariance)
{
    size_t n = covariance->size1;
    gsl_vector *diagonal = gsl_vector_alloc(n);
    double jitter = 0.0, largest;
    int result = -EDOM;

    if (!diagonal)
        return -ENOMEM;
    gsl_vector_const_view source = gsl_matrix_const_diagonal(covariance);
    gsl_vector_memcpy(diagonal, &source.vector);
    largest = gsl_vector_max(diagonal);
    for (int attempt = 0; attempt <= MAX_JITTERS && result; attempt++) {
        if (attempt > 0) {
            /* The failed attempt left the original in the upper triangle. */
            gsl_matrix_transpose_tricpy(CblasUpper, CblasUnit, covariance, covariance);
            jitter = largest * 1e-12 * pow(10.0, attempt);
        }
        for (size_t i = 0; i < n; i++)
            gsl_matrix_set(covariance, i, i, gsl_vector_get(diagonal, i) + jitter);
        if (gsl_linalg_cholesky_decomp1(covariance) == GSL_SUCCESS &&
            isfinite(gsl_matrix_get(covariance, n - 1, n - 1)))
            result = 0;
    }
    gsl_vector_free(diagonal);
    return result;
}

static void measure_apart(struct evidence *evidence, const size_t *points)
{
    const struct space *space = evidence->space;
    double *apart = evidence->apart;

    for (size_t i = 1; i < evidence->n; i++) {
        const double *a = space_row(space, points[i]);

        for (size_t j = 0; j < i; j++) {
            const double *b = space_row(space, points[j]);

            for (size_t d = 0; d < space->n_dims; d++, apart++) {
                double difference = a[d] - b[d];

                *apart = space->kind[d] == SPACE_ORDERED ? difference * difference : fabs(difference) > 0.5;
            }
        }
    }
}

int evidence_init(struct evidence *evidence, const struct space *space, const size_t *points, size_t n,
                  const double *response, const double *noise)
{
    size_t n_pairs = n * (n - 1) / 2 + 1; /* never an allocation of nothing */

    *evidence = (struct evidence){.space = space, .n = n, .response = response, .noise = noise};
    evidence->apart = malloc(n_pairs * (space->n_dims + 1) * sizeof(double));
    evidence->smooth = malloc(n_pairs * sizeof(double));
    evidence->slope = malloc(n_pairs * sizeof(double));
    evidence->covariance = gsl_matrix_alloc(n, n);
    evidence->weights = gsl_vector_alloc(n);
    if (!evidence->apart || !evidence->smooth || !evidence->slope || !evidence->covariance ||
        !evidence->weights) {
        evidence_done(evidence);
        return -ENOMEM;
    }
    measure_apart(evidence, points);
    return 0;
}

void evidence_done(struct evidence *evidence)
{
    free(evidence->apart);
    free(evidence->smooth);
    free(evidence->slope);
    gsl_matrix_free(evidence->covariance);
    gsl_vector_free(evidence->weights);
    *evidence = (struct evidence){0};
}

static void fill_covariance(struct evidence *evidence, const struct kernel *kernel)
{
    const double *apart = evidence->apart;
    size_t pair = 0;

    for (size_t i = 0; i < evidence->n; i++) {
        double *row = gsl_matrix_ptr(evidence->covariance, i, 0);

        for (size_t j = 0; j < i; j++, pair++, apart += kernel->n_dims) {
            double sum[2] = {0.0, 0.0};

            for (size_t d = 0; d < kernel->n_dims; d++)
                sum[kernel->kind[d] == SPACE_CATEGORY] += apart[d] * kernel->rate[d];
            evidence->smooth[pair] = kernel_at(kernel, sum[0], sum[1], &evidence->slope[pair]);
            row[j] = kernel->offset + evidence->smooth[pair];
        }
        row[i] = kernel->offset + kernel->signal + kernel->roughness + evidence->noise[i];
    }
}

/* Adds half the trace of (K^-1 - w w') dK/d(log parameter), equation 5.9, for all parameters in one pass over
 * the pairs. */
static void add_gradient(const struct evidence *evidence, const struct kernel *kernel, double *gradient)
{
    const double *apart = evidence->apart, *w = evidence->weights->data;
    double by_dim[SPACE_MAX_DIMS] = {0}, signal = 0.0, trace = 0.0;
    size_t pair = 0;

    for (size_t i = 0; i < evidence->n; i++) {
        const double *inverse = gsl_matrix_const_ptr(evidence->covariance, i, 0);

        for (size_t j = 0; j < i; j++, pair++, apart += kernel->n_dims) {
            double share = inverse[j] - w[i] * w[j];
            const double by_kind[2] = {share * evidence->slope[pair], -share * evidence->smooth[pair]};

            for (size_t d = 0; d < kernel->n_dims; d++)
                by_dim[d] += apart[d] * by_kind[kernel->kind[d] == SPACE_CATEGORY];
            signal += share * evidence->smooth[pair];
        }
        trace += inverse[i] - w[i] * w[i];
    }
    for (size_t d = 0; d < kernel->n_dims; d++)
        gradient[d] += by_dim[d] * kernel->rate[d];
    gradient[kernel->n_dims] += signal + 0.5 * kernel->signal * trace;
    gradient[kernel->n_dims + 1] += 0.5 * kernel->roughness * trace;
}

/* Splits logs into a clamped copy and the loss and gradient of the prior, which is never clamped: it leads
 * the descent back. */
static double apply_prior(const struct space *space, const double *logs, double *clamped,
                          double *ret_gradient)
{
    double loss = 0.0;

    for (size_t i = 0; i < kernel_n_logs(space); i++) {
        struct kernel_prior prior = kernel_prior_of(space, i);
        double z = (logs[i] - prior.mean) / prior.std;

        clamped[i] =
            fmax(prior.mean - CLAMP_STDS * prior.std, fmin(prior.mean + CLAMP_STDS * prior.std, logs[i]));
        ret_gradient[i] = z / prior.std;
        loss += 0.5 * z * z;
    }
    return loss;
}

int evidence_loss(struct evidence *evidence, const double *logs, double *ret_loss, double *ret_gradient)
{
    double clamped[KERNEL_MAX_LOGS], prior[KERNEL_MAX_LOGS], slope[KERNEL_MAX_LOGS] = {0};
    gsl_vector_const_view y = gsl_vector_const_view_array(evidence->response, evidence->n);
    double loss = apply_prior(evidence->space, logs, clamped, prior), fit;
    struct kernel kernel;
    int result;

    kernel_from_logs(&kernel, evidence->space, clamped);
    fill_covariance(evidence, &kernel);
    result = evidence_factorise(evidence->covariance);
    if (result)
        return result;
    gsl_linalg_cholesky_solve(evidence->covariance, &y.vector, evidence->weights);
    gsl_blas_ddot(&y.vector, evidence->weights, &fit);
    loss += 0.5 * fit + 0.5 * (double)evidence->n * log(2.0 * M_PI);
    for (size_t i = 0; i < evidence->n; i++)
        loss += log(gsl_matrix_get(evidence->covariance, i, i));
    gsl_linalg_cholesky_invert(evidence->covariance);
    add_gradient(evidence, &kernel, slope);
    for (size_t i = 0; i < kernel_n_logs(evidence->space); i++)
        ret_gradient[i] = prior[i] + (clamped[i] < logs[i] || clamped[i] > logs[i] ? 0.0 : slope[i]);
    *ret_loss = loss;
    return 0;
}

/* GSL asks for value and gradient of one place in separate calls: the second is answered from the first. */
static void evaluate(struct descent *descent, const gsl_vector *x)
{
    if (descent->known && !memcmp(descent->at, x->data, x->size * sizeof(double)))
        return;
    memcpy(descent->at, x->data, x->size * sizeof(double));
    descent->known = 1;
    int result = evidence_loss(descent->evidence, descent->at, &descent->loss, descent->gradient);
    if (!result)
        return;
    if (result != -EDOM)
        descent->result = result;
    descent->loss = DBL_MAX;
    memset(descent->gradient, 0, sizeof(descent->gradient));
}

static double loss_at(const gsl_vector *x, void *descent_)
{
    struct descent *descent = descent_;

    evaluate(descent, x);
    return descent->loss;
}

static void gradient_at(const gsl_vector *x, void *descent_, gsl_vector *gradient)
{
    struct descent *descent = descent_;

    evaluate(descent, x);
    memcpy(gradient->data, descent->gradient, x->size * sizeof(double));
}

static void both_at(const gsl_vector *x, void *descent, double *loss, gsl_vector *gradient)
{
    *loss = loss_at(x, descent);
    gradient_at(x, descent, gradient);
}

/* Descends from logs, which receives where it ended. */
static int descend(struct evidence *evidence, gsl_multimin_fdfminimizer *minimizer, double *logs,
                   double *ret_loss)
{
    struct descent descent = {.evidence = evidence};
    size_t n = kernel_n_logs(evidence->space);
    gsl_multimin_function_fdf function = {
        .f = loss_at, .df = gradient_at, .fdf = both_at, .n = n, .params = &descent};
    gsl_vector_view start = gsl_vector_view_array(logs, n);
    double before = DBL_MAX;

    gsl_multimin_fdfminimizer_set(minimizer, &function, &start.vector, 0.3, 0.1);
    for (int i = 0; i < MAX_ITERATIONS && before - minimizer->f > LOSS_TOLERANCE; i++) {
        before = minimizer->f;
        if (gsl_multimin_fdfminimizer_iterate(minimizer) != GSL_SUCCESS)
            break;
    }
    if (descent.result)
        return descent.result;
    if (!(minimizer->f < DBL_MAX))
        return -EDOM;
    memcpy(logs, minimizer->x->data, n * sizeof(double));
    *ret_loss = minimizer->f;
    return 0;
}

int evidence_minimise(struct evidence *evidence, int warm, size_t n_random, gsl_rng *rng, double *logs)
{
    size_t n = kernel_n_logs(evidence->space);
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, n);
    double best[KERNEL_MAX_LOGS], trial[KERNEL_MAX_LOGS], best_loss = DBL_MAX, loss;
    int result = minimizer ? 0 : -ENOMEM;

    for (size_t start = warm ? 0 : 1; !result && start < 2 + n_random; start++) {
        for (size_t i = 0; i < n; i++) {
            struct kernel_prior prior = kernel_prior_of(evidence->space, i);

            trial[i] = start == 0 ? logs[i] : prior.mean;
            if (start >= 2)
                trial[i] += gsl_ran_gaussian(rng, prior.std);
        }
        result = descend(evidence, minimizer, trial, &loss);
        if (result == -EDOM)
            result = 0;
        else if (!result && loss < best_loss) {
            best_loss = loss;
            memcpy(best, trial, n * sizeof(double));
        }
    }
    if (minimizer)
        gsl_multimin_fdfminimizer_free(minimizer);
    if (result)
        return result;
    if (!(best_loss < DBL_MAX))
        return -EDOM;
    memcpy(logs, best, n * sizeof(double));
    return 0;
}
