/* Gaussian process: a smooth response over the space, plus a response of its own for every point.
 *
 * The observed mean of a point is offset + smooth + own + noise; all but the noise is the response that is
 * predicted. The own part lets a much replayed point stand out from the smooth fit (alignment, a cache that
 * is just large enough) without bending it. */
#include "models/surrogate/dense.h"
#include "models/surrogate/evidence.h"
#include "models/surrogate/kernel.h"
#include "models/surrogate/lattice.h"
#include "models/surrogate/surrogate.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_OBSERVATIONS 3

/* Candidates predicted together: with the covariances of CHUNK observations they stay in the first-level
 * cache, with those of all in the second. */
#define BLOCK 256
#define CHUNK 32

/* Covariances kept from one fit to the next at most: more would not stay in a cache. */
#define MAX_KEPT ((size_t)1 << 20)

/* From here on a refit costs much, and the data pin the optimum down: no random starts. */
#define N_WITHOUT_RANDOM_STARTS 100

struct gp {
    const struct space *space;
    bool stiff;
    struct lattice lattice; /* of the space; empty where that has too many levels */
    double *table;          /* of the lattice: smooth covariances */
    size_t n;
    size_t *slot;        /* by point: 1 + index of its observation, or 0 */
    size_t *points;      /* by observation, as the rest */
    double *response;    /* (mean - shift) / scale */
    double *noise;       /* mean_variance / scale^2 */
    double *rows;        /* n x points of the space: prior covariances; NULL: they are too many to keep */
    double *factor;      /* of the observations' covariance, n x n (models/surrogate/dense) */
    double *weights;     /* its inverse times response */
    double shift, scale; /* of the last refit */
    int has_logs;
    double logs[KERNEL_MAX_LOGS];
    struct kernel kernel;
};

static void data_done(struct gp *gp)
{
    free(gp->table);
    free(gp->slot);
    free(gp->points);
    free(gp->response);
    free(gp->noise);
    free(gp->rows);
    free(gp->factor);
    free(gp->weights);
}

static void gp_done(void *state)
{
    struct gp *gp = state;

    data_done(gp);
    lattice_done(&gp->lattice);
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

static int allocate_gp(struct gp *gp)
{
    size_t n = gp->n;

    gp->table = malloc((gp->lattice.size + 1) * sizeof(*gp->table));
    gp->slot = calloc(gp->space->n_points, sizeof(*gp->slot));
    gp->points = malloc(n * sizeof(*gp->points));
    gp->response = malloc(n * sizeof(*gp->response));
    gp->noise = malloc(n * sizeof(*gp->noise));
    gp->rows =
        n <= MAX_KEPT / gp->space->n_points ? malloc(n * gp->space->n_points * sizeof(*gp->rows)) : NULL;
    gp->factor = malloc(n * n * sizeof(*gp->factor));
    gp->weights = malloc(n * sizeof(*gp->weights));
    return gp->table && gp->slot && gp->points && gp->response && gp->noise && gp->factor && gp->weights
               ? 0
               : -ENOMEM;
}

/* Observations come in the order of their points. Taken in steps of the golden section any first few are
 * spread over the space, so that they alone explain much of every candidate. */
static size_t spread_step(size_t n)
{
    size_t step = GSL_MAX((size_t)(0.618 * (double)n), 1), a, b;

    do {
        for (a = n, b = ++step; b != 0;) {
            size_t rest = a % b;

            a = b;
            b = rest;
        }
    } while (a != 1);
    return step;
}

/* `next` gets copies of the data in its own units; hyper-parameters and scale come from `last` unless new
 * ones are asked for. The lattice is last's, lent. */
static int take_data(struct gp *next, const struct gp *last, const struct observation *data, size_t n,
                     int refit)
{
    size_t step = spread_step(n), from = 0;

    *next = *last;
    next->n = n;
    if (allocate_gp(next))
        return -ENOMEM;
    if (refit)
        choose_scale(next, data);
    for (size_t i = 0; i < n; i++, from = (from + step) % n) {
        next->slot[data[from].point] = i + 1;
        next->points[i] = data[from].point;
        next->response[i] = (data[from].mean - next->shift) / next->scale;
        next->noise[i] = data[from].mean_variance / gsl_pow_2(next->scale);
    }
    return 0;
}

static int choose_logs(struct gp *gp, gsl_rng *rng)
{
    struct evidence evidence;
    size_t n_random = gp->n >= N_WITHOUT_RANDOM_STARTS ? 0 : gp->has_logs ? 1 : 2;
    int result =
        evidence_init(&evidence, gp->space, &gp->lattice, gp->points, gp->n, gp->response, gp->noise);

    if (result)
        return result;
    evidence.stiff = gp->stiff;
    result = evidence_minimise(&evidence, gp->has_logs, n_random, rng, gp->logs);
    evidence_done(&evidence);
    gp->has_logs = gp->has_logs || !result;
    return result;
}

/* Covariances of the smooth part, looked up: the classes are added up axis by axis, many points at a time. */
static void look_up_row(const struct gp *gp, size_t point, const size_t *points, size_t n, double *ret_row)
{
    size_t index[BLOCK];

    for (size_t first = 0; first < n; first += BLOCK) {
        size_t width = GSL_MIN(BLOCK, n - first);

        lattice_indices(&gp->lattice, point, points + first, width, index);
        for (size_t j = 0; j < width; j++)
            ret_row[first + j] = gp->table[index[j]];
    }
}

/* Prior covariance of the response of `point` with that of each listed point. */
static void fill_row(const struct gp *gp, size_t point, const size_t *points, size_t n, double *ret_row)
{
    const double *x = space_row(gp->space, point);

    if (gp->lattice.size > 0)
        look_up_row(gp, point, points, n, ret_row);
    for (size_t j = 0; j < n; j++) {
        if (gp->lattice.size == 0)
            ret_row[j] = kernel_between(&gp->kernel, x, space_row(gp->space, points[j]));
        if (points[j] == point)
            ret_row[j] += gp->kernel.roughness;
    }
}

/* The same of an observation, i.e. of its point. */
static void fill_observed(const struct gp *gp, size_t i, const size_t *points, size_t n, double *ret_row)
{
    if (!gp->rows) {
        fill_row(gp, gp->points[i], points, n, ret_row);
        return;
    }
    for (size_t j = 0; j < n; j++)
        ret_row[j] = gp->rows[i * gp->space->n_points + points[j]];
}

/* Every observation is asked about every point several times before the next fit. */
static void keep_rows(struct gp *gp)
{
    size_t n_points = gp->space->n_points, block[BLOCK];

    for (size_t first = 0; gp->rows && first < n_points; first += BLOCK) {
        size_t width = GSL_MIN(BLOCK, n_points - first);

        for (size_t j = 0; j < width; j++)
            block[j] = first + j;
        for (size_t i = 0; i < gp->n; i++)
            fill_row(gp, gp->points[i], block, width, gp->rows + i * n_points + first);
    }
}

static double prior_variance(const struct gp *gp)
{
    return gp->kernel.offset + gp->kernel.signal + gp->kernel.roughness;
}

static int factorise(struct gp *gp)
{
    size_t n = gp->n;
    int result;

    kernel_from_logs(&gp->kernel, gp->space, gp->stiff, gp->logs);
    lattice_tabulate(&gp->lattice, &gp->kernel, gp->table);
    keep_rows(gp);
    for (size_t i = 0; i < n; i++) {
        fill_observed(gp, i, gp->points, n, gp->factor + i * n);
        gp->factor[i * n + i] += gp->noise[i];
    }
    result = evidence_factorise(gp->factor, n, prior_variance(gp));
    if (!result) {
        memcpy(gp->weights, gp->response, n * sizeof(*gp->weights));
        dense_solve_vector(gp->factor, n, n, gp->weights);
    }
    return result;
}

/* The lattice outlives the data: it is made when the space is first seen. */
static int know_space(struct gp *gp, const struct space *space)
{
    bool stiff = gp->stiff;
    int result;

    if (gp->space == space)
        return 0;
    gp_done(gp);
    gp->stiff = stiff;
    result = lattice_init(&gp->lattice, space);
    if (result == -ENOMEM)
        return result;
    gp->space = space;
    return 0;
}

static int fit(struct gp *gp, const struct space *space, const struct observation *data, size_t n, int refit,
               gsl_rng *rng)
{
    struct gp next;
    int result;

    if (n < MIN_OBSERVATIONS)
        return -ENODATA;
    result = know_space(gp, space);
    if (result)
        return result;
    refit = refit || !gp->has_logs;
    result = take_data(&next, gp, data, n, refit);
    if (!result && refit)
        result = choose_logs(&next, rng);
    if (!result)
        result = factorise(&next);
    if (result) {
        data_done(&next);
        return result;
    }
    data_done(gp);
    *gp = next;
    return 0;
}

static int gp_fit(void *state, const struct space *space, const struct observation *data, size_t n, int refit,
                  gsl_rng *rng)
{
    return fit(state, space, data, n, refit, rng);
}

static int quadratic_fit(void *state, const struct space *space, const struct observation *data, size_t n,
                         int refit, gsl_rng *rng)
{
    struct gp *gp = state;

    gp->stiff = true;
    return fit(gp, space, data, n, refit, rng);
}

/* Sum over the observations of their prior covariance with each listed point times their weight. */
static void weighted_sum(const struct gp *gp, const double *weights, const size_t *points, size_t n,
                         double *ret_sum)
{
    double row[BLOCK];

    memset(ret_sum, 0, n * sizeof(*ret_sum));
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t width = GSL_MIN(BLOCK, n - first);

        for (size_t i = 0; i < gp->n; i++) {
            fill_observed(gp, i, points + first, width, row);
            for (size_t j = 0; j < width; j++)
                ret_sum[first + j] += weights[i] * row[j];
        }
    }
}

/* Candidates whose variance is being calculated. */
struct block {
    size_t n;
    size_t points[BLOCK], place[BLOCK]; /* place: index in the caller's list */
    double variance[BLOCK];             /* prior less what the first rows of cross explain */
    double *cross; /* observations x BLOCK: solved prior covariances, as far as they are made */
};

/* Takes out of the block, of which `rows` rows are solved, what cannot reach the floor. */
static void drop_hopeless(const struct gp *gp, struct block *block, size_t rows, const double *mean,
                          double floor)
{
    size_t kept = 0;

    for (size_t j = 0; j < block->n; j++) {
        double std = gp->scale * sqrt(fmax(0.0, block->variance[j]));

        if (mean[block->place[j]] + SURROGATE_HOPELESS_STDS * std < floor)
            continue;
        if (kept < j) {
            block->points[kept] = block->points[j];
            block->place[kept] = block->place[j];
            block->variance[kept] = block->variance[j];
            for (size_t i = 0; i < rows; i++)
                block->cross[i * BLOCK + kept] = block->cross[i * BLOCK + j];
        }
        kept++;
    }
    block->n = kept;
}

static void explain_block(const struct gp *gp, struct block *block, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        fill_observed(gp, i, block->points, block->n, block->cross + i * BLOCK);
    dense_solve_rows(gp->factor, gp->n, first, last, block->cross, block->n, BLOCK);
    for (size_t i = first; i < last; i++) {
        const double *solved = block->cross + i * BLOCK;

        for (size_t j = 0; j < block->n; j++)
            block->variance[j] -= solved[j] * solved[j];
    }
}

/* A few observations at a time, so that a candidate can be given up as soon as they explain enough of it:
 * what the others explain would only lower its variance. */
static void block_variances(const struct gp *gp, struct block *block, const double *mean, double floor,
                            double *ret_variance)
{
    for (size_t first = 0; first < gp->n && block->n > 0; first += CHUNK) {
        size_t last = GSL_MIN(first + CHUNK, gp->n);

        explain_block(gp, block, first, last);
        for (size_t j = 0; j < block->n; j++)
            ret_variance[block->place[j]] = gsl_pow_2(gp->scale) * fmax(0.0, block->variance[j]);
        if (floor > -INFINITY && last < gp->n)
            drop_hopeless(gp, block, last, mean, floor);
    }
}

static int gp_predict(const void *state, const size_t *points, size_t n, double floor, double *ret_mean,
                      double *ret_variance)
{
    const struct gp *gp = state;
    double prior = prior_variance(gp);
    struct block block = {.cross = malloc(gp->n * BLOCK * sizeof(*block.cross))};

    if (!block.cross)
        return -ENOMEM;
    weighted_sum(gp, gp->weights, points, n, ret_mean);
    for (size_t j = 0; j < n; j++)
        ret_mean[j] = gp->shift + gp->scale * ret_mean[j];
    for (size_t first = 0; first < n; first += BLOCK) {
        block.n = GSL_MIN(BLOCK, n - first);
        for (size_t j = 0; j < block.n; j++) {
            block.points[j] = points[first + j];
            block.place[j] = first + j;
            block.variance[j] = prior;
        }
        block_variances(gp, &block, ret_mean, floor, ret_variance);
    }
    free(block.cross);
    return 0;
}

static int gp_covariance(const void *state, size_t point, const size_t *points, size_t n,
                         double *ret_covariance)
{
    const struct gp *gp = state;
    double *share = malloc(gp->n * sizeof(*share)), prior[BLOCK];

    if (!share)
        return -ENOMEM;
    fill_row(gp, point, gp->points, gp->n, share);
    dense_solve_vector(gp->factor, gp->n, gp->n, share);
    weighted_sum(gp, share, points, n, ret_covariance);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t width = GSL_MIN(BLOCK, n - first);

        fill_row(gp, point, points + first, width, prior);
        for (size_t j = 0; j < width; j++)
            ret_covariance[first + j] = gsl_pow_2(gp->scale) * (prior[j] - ret_covariance[first + j]);
    }
    free(share);
    return 0;
}

/* Cholesky factor of the joint posterior covariance of the listed points, in own units. cross: solved. */
static int factorise_posterior(const struct gp *gp, const size_t *points, size_t n, const double *cross,
                               double *posterior)
{
    for (size_t i = 0; i < n; i++)
        fill_row(gp, points[i], points + i, n - i, posterior + i * n + i);
    dense_add_gram(-1.0, n, gp->n, cross, n, posterior, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            posterior[i * n + j] = posterior[j * n + i];
    return evidence_factorise(posterior, n, prior_variance(gp));
}

static int gp_joint(const void *state, const size_t *points, size_t n, struct joint *joint)
{
    const struct gp *gp = state;
    double *cross = malloc(gp->n * n * sizeof(*cross));
    int result;

    if (!cross)
        return -ENOMEM;
    for (size_t i = 0; i < gp->n; i++)
        fill_observed(gp, i, points, n, cross + i * n);
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0;

        for (size_t i = 0; i < gp->n; i++)
            sum += gp->weights[i] * cross[i * n + j];
        joint->mean[j] = gp->shift + gp->scale * sum;
    }
    joint->scale = gp->scale;
    dense_solve_rows(gp->factor, gp->n, 0, gp->n, cross, n, n);
    result = factorise_posterior(gp, points, n, cross, joint->factor);
    free(cross);
    for (size_t i = 0; i < n && !result; i++)
        memset(joint->factor + i * n, 0, i * sizeof(*joint->factor));
    return result;
}

/* Rasmussen and Williams 2006, equations 5.10 to 5.12: the inverse covariance holds all n predictions, noise
 * included. */
static int gp_leave_one_out(const void *state, double *ret_log_density, double *ret_rmse)
{
    const struct gp *gp = state;
    size_t size = gp->n * gp->n;
    double *inverse = malloc(2 * size * sizeof(*inverse));
    double density = 0.0, squares = 0.0, n = (double)gp->n;

    if (!inverse)
        return -ENOMEM;
    dense_invert(gp->factor, gp->n, gp->n, inverse + size, inverse);
    for (size_t i = 0; i < gp->n; i++) {
        double variance = 1.0 / inverse[i * gp->n + i];
        double residual = gp->weights[i] * variance;

        density += -0.5 * log(2.0 * M_PI * variance) - 0.5 * gsl_pow_2(residual) / variance;
        squares += gsl_pow_2(residual);
    }
    free(inverse);
    *ret_log_density = density / n - log(gp->scale);
    *ret_rmse = gp->scale * sqrt(squares / n);
    return 0;
}

#define SURROGATE(label, fits)                                                                               \
    {                                                                                                        \
        .name = label, .state_size = sizeof(struct gp), .fit = fits, .predict = gp_predict,                  \
        .covariance = gp_covariance, .joint = gp_joint, .leave_one_out = gp_leave_one_out, .done = gp_done,  \
    }

const struct surrogate_ops surrogate_gp = SURROGATE("gp", gp_fit);
const struct surrogate_ops surrogate_quadratic = SURROGATE("quadratic", quadratic_fit);
