/* Shares of variance by least squares. The additive fit is solved for its coefficients, because its parts are
 * wanted singly; what pairs add is a projection on an orthonormal basis of indicator columns. */
#include "models/search/importance.h"

#include <errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column of which less than this share is new depends on those before it. */
#define NEW_SHARE 1e-9

/* Orthonormal columns, one after the other; the first one is constant. */
struct basis {
    size_t n, rank;
    double *q; /* n * n */
};

/* Everything that is worked on. Levels are counted from 0 in ascending order. */
struct work {
    size_t n, n_draws, n_dims, n_active;
    size_t active[SPACE_MAX_DIMS];   /* dimensions that vary */
    size_t n_levels[SPACE_MAX_DIMS]; /* by active dimension */
    size_t *level;                   /* n_active rows of n */
    double *responses;               /* centred; n_draws rows of n */
    double *variance;                /* by draw: sum of squares of its row */
    double *part;                    /* n_active rows of n_draws: covariance with that part, times n */
    double *share;                   /* n_draws: room for one share */
    struct basis basis;
    double *column;
    size_t *group;
};

static void count_levels(struct work *work, const struct space *space, const size_t *points)
{
    for (size_t dim = 0; dim < work->n_dims; dim++) {
        size_t n_levels =
            space_levels(space, dim, points, work->n, work->column, work->level + work->n_active * work->n);

        if (n_levels < 2)
            continue;
        work->n_levels[work->n_active] = n_levels;
        work->active[work->n_active++] = dim;
    }
}

static void centre(struct work *work, const double *draws)
{
    for (size_t draw = 0; draw < work->n_draws; draw++) {
        const double *from = draws + draw * work->n;
        double *to = work->responses + draw * work->n;
        double mean = gsl_stats_mean(from, 1, work->n), scale = 0.0;

        work->variance[draw] = 0.0;
        for (size_t i = 0; i < work->n; i++) {
            to[i] = from[i] - mean;
            work->variance[draw] += gsl_pow_2(to[i]);
            scale = fmax(scale, fabs(from[i]));
        }
        /* The responses are constant but for rounding. */
        if (work->variance[draw] <= (double)work->n * gsl_pow_2(1e-13 * scale))
            work->variance[draw] = 0.0;
    }
}

static void work_done(struct work *work)
{
    free(work->level);
    free(work->responses);
    free(work->variance);
    free(work->part);
    free(work->share);
    free(work->basis.q);
    free(work->column);
    free(work->group);
}

static int work_init(struct work *work, const struct space *space, const size_t *points, size_t n,
                     const double *draws, size_t n_draws)
{
    *work = (struct work){.n = n, .n_draws = n_draws, .n_dims = space->n_dims, .basis = {.n = n}};
    work->level = malloc(n * space->n_dims * sizeof(*work->level));
    work->responses = malloc(n * n_draws * sizeof(*work->responses));
    work->variance = malloc(n_draws * sizeof(*work->variance));
    work->share = malloc(n_draws * sizeof(*work->share));
    work->basis.q = malloc(n * n * sizeof(*work->basis.q));
    work->column = malloc(n * sizeof(*work->column));
    work->group = malloc(n * sizeof(*work->group));
    if (!work->level || !work->responses || !work->variance || !work->share || !work->basis.q ||
        !work->column || !work->group)
        return -ENOMEM;
    count_levels(work, space, points);
    centre(work, draws);
    work->part = calloc(n_draws * (work->n_active + 1), sizeof(*work->part));
    return work->part ? 0 : -ENOMEM;
}

/* Adds what is new in work->column. Twice, because once leaves rounding errors of what was taken away. */
static void add_column(struct work *work)
{
    struct basis *basis = &work->basis;
    double *column = work->column, before = 0.0, left = 0.0;

    for (size_t i = 0; i < basis->n; i++)
        before += gsl_pow_2(column[i]);
    for (size_t k = 0; k < 2 * basis->rank; k++) {
        const double *q = basis->q + k % basis->rank * basis->n;
        double product = 0.0;

        for (size_t i = 0; i < basis->n; i++)
            product += q[i] * column[i];
        for (size_t i = 0; i < basis->n; i++)
            column[i] -= product * q[i];
    }
    for (size_t i = 0; i < basis->n; i++)
        left += gsl_pow_2(column[i]);
    if (basis->rank == basis->n || left <= NEW_SHARE * before)
        return;
    for (size_t i = 0; i < basis->n; i++)
        basis->q[basis->rank * basis->n + i] = column[i] / sqrt(left);
    basis->rank++;
}

static void add_constant(struct work *work)
{
    work->basis.rank = 0;
    for (size_t i = 0; i < work->n; i++)
        work->column[i] = 1.0;
    add_column(work);
}

/* One column per level of the factor. */
static void add_factor(struct work *work, size_t a)
{
    const size_t *level = work->level + a * work->n;

    for (size_t value = 0; value < work->n_levels[a]; value++) {
        for (size_t i = 0; i < work->n; i++)
            work->column[i] = level[i] == value;
        add_column(work);
    }
}

static void add_pair(struct work *work, size_t a, size_t b)
{
    const size_t *first = work->level + a * work->n, *second = work->level + b * work->n;

    for (size_t value = 0; value < work->n_levels[a] * work->n_levels[b]; value++) {
        size_t n_ones = 0;

        for (size_t i = 0; i < work->n; i++) {
            work->column[i] = first[i] * work->n_levels[b] + second[i] == value;
            n_ones += work->column[i] > 0.0;
        }
        if (n_ones > 0)
            add_column(work);
    }
}

/* Adds what the basis explains of every draw with its columns from `first` on; the constant one explains
 * nothing of a centred response. */
static void project(const struct work *work, size_t first, double *sums)
{
    const struct basis *basis = &work->basis;

    for (size_t draw = 0; draw < work->n_draws; draw++) {
        const double *response = work->responses + draw * work->n;

        for (size_t k = GSL_MAX(first, 1); k < basis->rank; k++) {
            const double *q = basis->q + k * basis->n;
            double product = 0.0;

            for (size_t i = 0; i < basis->n; i++)
                product += q[i] * response[i];
            sums[draw] += gsl_pow_2(product);
        }
    }
}

/* Quantiles and mean of work->share, which is sorted. */
static struct importance_share summarise(struct work *work, double confidence)
{
    double tail = (1.0 - confidence) / 2.0;

    gsl_sort(work->share, 1, work->n_draws);
    return (struct importance_share){
        .mean = gsl_stats_mean(work->share, 1, work->n_draws),
        .low = gsl_stats_quantile_from_sorted_data(work->share, 1, work->n_draws, tail),
        .high = gsl_stats_quantile_from_sorted_data(work->share, 1, work->n_draws, 1.0 - tail),
    };
}

/* Sums of squares in work->share become shares of their draws' variances. */
static struct importance_share summarise_squares(struct work *work, double confidence)
{
    for (size_t draw = 0; draw < work->n_draws; draw++)
        work->share[draw] =
            work->variance[draw] > 0.0 ? fmin(1.0, fmax(0.0, work->share[draw] / work->variance[draw])) : 0.0;
    return summarise(work, confidence);
}

/* Every level of every factor is a column of the additive fit: which one of point i. */
static size_t column_of(const struct work *work, size_t a, size_t i)
{
    size_t first = 0;

    for (size_t b = 0; b < a; b++)
        first += work->n_levels[b];
    return first + work->level[a * work->n + i];
}

/* Singular values of a column for every level of every factor. Each factor's columns sum to the same, so that
 * some are 0; of all solutions this one is the smallest, which prefers no factor. left: receives the columns.
 */
static int decompose_levels(const struct work *work, gsl_matrix *left, gsl_matrix *right, gsl_vector *values)
{
    gsl_vector *room = gsl_vector_alloc(values->size);

    gsl_matrix_set_zero(left);
    for (size_t i = 0; i < work->n; i++)
        for (size_t a = 0; a < work->n_active; a++)
            gsl_matrix_set(left, i, column_of(work, a, i), 1.0);
    int result = !room ? -ENOMEM : gsl_linalg_SV_decomp(left, right, values, room) ? -EDOM : 0;

    for (size_t k = 0; k < values->size && !result; k++)
        if (gsl_vector_get(values, k) < NEW_SHARE * gsl_vector_get(values, 0))
            gsl_vector_set(values, k, 0.0);
    gsl_vector_free(room);
    return result;
}

/* A part's product with the response is that of its coefficients at the levels of the points. */
static void fit_draw(struct work *work, size_t draw, const gsl_vector *coefficients)
{
    for (size_t a = 0; a < work->n_active; a++)
        for (size_t i = 0; i < work->n; i++)
            work->part[a * work->n_draws + draw] +=
                work->responses[draw * work->n + i] * gsl_vector_get(coefficients, column_of(work, a, i));
}

static int fit_additive(struct work *work)
{
    size_t n_columns = 0;

    for (size_t a = 0; a < work->n_active; a++)
        n_columns += work->n_levels[a];
    if (n_columns == 0)
        return 0;
    /* No fewer rows than columns are asked for: the rows beyond the points are 0. */
    gsl_vector *response = gsl_vector_calloc(GSL_MAX(work->n, n_columns)),
               *values = gsl_vector_alloc(n_columns), *coefficients = gsl_vector_alloc(n_columns);
    gsl_matrix *left = gsl_matrix_alloc(GSL_MAX(work->n, n_columns), n_columns),
               *right = gsl_matrix_alloc(n_columns, n_columns);
    int result = response && values && coefficients && left && right
                     ? decompose_levels(work, left, right, values)
                     : -ENOMEM;

    for (size_t draw = 0; !result && draw < work->n_draws; draw++) {
        memcpy(response->data, work->responses + draw * work->n, work->n * sizeof(double));
        gsl_linalg_SV_solve(left, right, values, response, coefficients);
        fit_draw(work, draw, coefficients);
    }
    gsl_vector_free(response);
    gsl_vector_free(values);
    gsl_vector_free(coefficients);
    gsl_matrix_free(left);
    gsl_matrix_free(right);
    return result;
}

static struct importance_share own_share(struct work *work, size_t a, double confidence)
{
    memcpy(work->share, work->part + a * work->n_draws, work->n_draws * sizeof(*work->share));
    return summarise_squares(work, confidence);
}

static bool alike_but_for(const struct work *work, size_t a, size_t i, size_t j)
{
    for (size_t b = 0; b < work->n_active; b++)
        if (b != a && work->level[b * work->n + i] != work->level[b * work->n + j])
            return false;
    return true;
}

/* group[i]: the first point that differs from point i in factor a alone, or i. */
static void group_without(struct work *work, size_t a)
{
    for (size_t i = 0; i < work->n; i++) {
        size_t first = 0;

        while (first < i && !alike_but_for(work, a, first, i))
            first++;
        work->group[i] = first;
    }
}

static struct importance_share total_share(struct work *work, size_t a, double confidence)
{
    double sum[IMPORTANCE_MAX_POINTS], count[IMPORTANCE_MAX_POINTS];

    group_without(work, a);
    for (size_t draw = 0; draw < work->n_draws; draw++) {
        const double *response = work->responses + draw * work->n;

        memset(sum, 0, sizeof(sum));
        memset(count, 0, sizeof(count));
        for (size_t i = 0; i < work->n; i++) {
            sum[work->group[i]] += response[i];
            count[work->group[i]] += 1.0;
        }
        work->share[draw] = 0.0;
        for (size_t i = 0; i < work->n; i++)
            work->share[draw] += gsl_pow_2(response[i] - sum[work->group[i]] / count[work->group[i]]);
    }
    return summarise_squares(work, confidence);
}

static size_t add_all_factors(struct work *work)
{
    add_constant(work);
    for (size_t a = 0; a < work->n_active; a++)
        add_factor(work, a);
    return work->basis.rank;
}

static struct importance_share pair_share(struct work *work, size_t a, size_t b, double confidence)
{
    size_t additive = add_all_factors(work);

    add_pair(work, a, b);
    memset(work->share, 0, work->n_draws * sizeof(*work->share));
    project(work, additive, work->share);
    return summarise_squares(work, confidence);
}

static struct importance_share unexplained_share(struct work *work, double confidence)
{
    add_all_factors(work);
    for (size_t b = 1; b < work->n_active; b++)
        for (size_t a = 0; a < b; a++)
            add_pair(work, a, b);
    memset(work->share, 0, work->n_draws * sizeof(*work->share));
    project(work, 1, work->share);
    for (size_t draw = 0; draw < work->n_draws; draw++)
        work->share[draw] = work->variance[draw] - work->share[draw];
    return summarise_squares(work, confidence);
}

static struct importance_share spread_of(struct work *work, double confidence)
{
    for (size_t draw = 0; draw < work->n_draws; draw++)
        work->share[draw] = sqrt(work->variance[draw] / (double)work->n);
    return summarise(work, confidence);
}

static void fill(struct work *work, double confidence, struct importance *importance)
{
    *importance = (struct importance){.n_points = work->n, .n_dims = work->n_dims, .known_share = 1.0};
    for (size_t b = 0; b < work->n_active; b++) {
        size_t dim = work->active[b];

        importance->varies[dim] = true;
        importance->own[dim] = own_share(work, b, confidence);
        importance->total[dim] = total_share(work, b, confidence);
        for (size_t a = 0; a < b; a++)
            importance->pair[work->active[a]][dim] = pair_share(work, a, b, confidence);
    }
    importance->unexplained = unexplained_share(work, confidence);
    importance->spread = spread_of(work, confidence);
}

int importance_decompose(const struct space *space, const size_t *points, size_t n, const double *draws,
                         size_t n_draws, double confidence, struct importance *ret_importance)
{
    struct work work;
    int result;

    if (n < 2 || n > IMPORTANCE_MAX_POINTS || n_draws == 0)
        return -EINVAL;
    result = work_init(&work, space, points, n, draws, n_draws);
    if (!result)
        result = fit_additive(&work);
    if (!result)
        fill(&work, confidence, ret_importance);
    work_done(&work);
    return result;
}
