/* Penalised marginal likelihood of a Gaussian process, its analytic gradient, and the descent to its best
 * hyper-parameters. */
#include "models/surrogate/evidence.h"
#include "models/surrogate/dense.h"

#include <errno.h>
#include <float.h>
#include <gsl/gsl_errno.h>
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

int evidence_factorise(double *covariance, size_t n, double unit)
{
    double *diagonal = malloc((n + 1) * sizeof(*diagonal));
    int result = -EDOM;

    if (!diagonal)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        diagonal[i] = covariance[i * n + i];
    for (int attempt = 0; attempt <= MAX_JITTERS && result; attempt++) {
        double jitter = attempt > 0 ? unit * 1e-12 * pow(10.0, attempt) : 0.0;

        for (size_t i = 0; i < n; i++) {
            covariance[i * n + i] = diagonal[i] + jitter;
            /* A failed attempt left the original below the diagonal. */
            for (size_t j = 0; attempt > 0 && j < i; j++)
                covariance[j * n + i] = covariance[i * n + j];
        }
        result = dense_factorise(covariance, n, n);
    }
    free(diagonal);
    return result;
}

/* Every pair has a distance of its own. */
static void measure_apart(struct evidence *evidence, const size_t *points)
{
    const struct space *space = evidence->space;
    double *apart = evidence->apart;
    size_t pair = 0;

    for (size_t i = 1; i < evidence->n; i++) {
        const double *a = space_row(space, points[i]);

        for (size_t j = 0; j < i; j++, pair++) {
            const double *b = space_row(space, points[j]);

            evidence->distance[pair] = (uint32_t)pair;
            for (size_t d = 0; d < space->n_dims; d++, apart++) {
                double difference = a[d] - b[d];

                *apart = space->kind[d] == SPACE_ORDERED ? difference * difference : fabs(difference) > 0.5;
            }
        }
    }
    evidence->n_distances = pair;
}

/* Pairs share their distances; those of the lattice that occur are numbered in the order in which they do. */
static int look_up_apart(struct evidence *evidence, const struct lattice *lattice, const size_t *points)
{
    uint32_t *number = calloc(lattice->size, sizeof(*number)); /* 0: did not occur */
    size_t n_dims = evidence->space->n_dims, pair = 0;

    if (!number)
        return -ENOMEM;
    for (size_t i = 1; i < evidence->n; i++)
        for (size_t j = 0; j < i; j++, pair++) {
            size_t index = lattice_index(lattice, points[i], points[j]);

            if (number[index] == 0) {
                lattice_apart(lattice, index, evidence->apart + evidence->n_distances * n_dims);
                number[index] = (uint32_t)++evidence->n_distances;
            }
            evidence->distance[pair] = number[index] - 1;
        }
    free(number);
    return 0;
}

static int allocate_evidence(struct evidence *evidence, size_t n, size_t n_dims)
{
    size_t n_pairs = n * (n - 1) / 2 + 1; /* never an allocation of nothing */
    double *room = malloc((n_pairs * (n_dims + 4) + n * (3 * n + 1)) * sizeof(*room));

    evidence->distance = malloc(n_pairs * sizeof(*evidence->distance));
    evidence->apart = room;
    if (!room || !evidence->distance)
        return -ENOMEM;
    evidence->value = room + n_pairs * (n_dims + 1);
    evidence->slope = evidence->value + n_pairs;
    evidence->share = evidence->slope + n_pairs;
    evidence->covariance = evidence->share + n_pairs;
    evidence->inverse = evidence->covariance + n * n;
    evidence->scratch = evidence->inverse + n * n;
    evidence->weights = evidence->scratch + n * n;
    return 0;
}

int evidence_init(struct evidence *evidence, const struct space *space, const struct lattice *lattice,
                  const size_t *points, size_t n, const double *response, const double *noise)
{
    int result;

    *evidence = (struct evidence){.space = space, .n = n, .response = response, .noise = noise};
    result = allocate_evidence(evidence, n, space->n_dims);
    if (!result && lattice->size > 0)
        result = look_up_apart(evidence, lattice, points);
    else if (!result)
        measure_apart(evidence, points);
    if (result)
        evidence_done(evidence);
    return result;
}

void evidence_done(struct evidence *evidence)
{
    free(evidence->distance);
    free(evidence->apart);
    *evidence = (struct evidence){0};
}

static void fill_covariance(struct evidence *evidence, const struct kernel *kernel)
{
    const uint32_t *distance = evidence->distance;
    size_t n = evidence->n;

    for (size_t k = 0; k < evidence->n_distances; k++)
        evidence->value[k] =
            kernel_at_apart(kernel, evidence->apart + k * kernel->n_dims, &evidence->slope[k]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double covariance = kernel->offset + evidence->value[*distance++];

            evidence->covariance[i * n + j] = covariance;
            evidence->covariance[j * n + i] = covariance;
        }
        evidence->covariance[i * n + i] =
            kernel->offset + kernel->signal + kernel->roughness + evidence->noise[i];
    }
}

/* K^-1 - w w': summed over the pairs of each distance, and its trace. */
static double sum_shares(struct evidence *evidence)
{
    const double *w = evidence->weights;
    const uint32_t *distance = evidence->distance;
    size_t n = evidence->n;
    double trace = 0.0;

    memset(evidence->share, 0, evidence->n_distances * sizeof(*evidence->share));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            evidence->share[*distance++] += evidence->inverse[j * n + i] - w[i] * w[j];
        trace += evidence->inverse[i * n + i] - w[i] * w[i];
    }
    return trace;
}

/* Adds half the trace of (K^-1 - w w') dK/d(log parameter), equation 5.9, for all parameters in one pass over
 * the distances. */
static void add_gradient(struct evidence *evidence, const struct kernel *kernel, double *gradient)
{
    double by_dim[SPACE_MAX_DIMS] = {0}, signal = 0.0, trace = sum_shares(evidence);
    const double *apart = evidence->apart;

    for (size_t k = 0; k < evidence->n_distances; k++, apart += kernel->n_dims) {
        double smooth = evidence->share[k] * evidence->value[k];
        const double by_kind[2] = {evidence->share[k] * evidence->slope[k], -smooth};

        for (size_t d = 0; d < kernel->n_dims; d++)
            by_dim[d] += apart[d] * by_kind[kernel->kind[d] == SPACE_CATEGORY];
        signal += smooth;
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
    double loss = apply_prior(evidence->space, logs, clamped, prior), *weights = evidence->weights;
    size_t n = evidence->n;
    struct kernel kernel;
    int result;

    kernel_from_logs(&kernel, evidence->space, evidence->stiff, clamped);
    fill_covariance(evidence, &kernel);
    result = evidence_factorise(evidence->covariance, n, kernel.offset + kernel.signal + kernel.roughness);
    if (result)
        return result;
    memcpy(weights, evidence->response, n * sizeof(*weights));
    dense_solve_vector(evidence->covariance, n, n, weights);
    loss += 0.5 * (double)n * log(2.0 * M_PI);
    for (size_t i = 0; i < n; i++)
        loss += 0.5 * evidence->response[i] * weights[i] + log(evidence->covariance[i * n + i]);
    dense_invert(evidence->covariance, n, n, evidence->scratch, evidence->inverse);
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
