/* The active-set method: coefficients enter while that lowers the sum of squares, and leave at 0. */
#include "models/impact/non_negative.h"

#include <errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ITERATIONS_EACH 10    /* of a coefficient, before it is given up */
#define TOLERANCE       1e-12 /* of a gradient, relative to its column and the target */

struct active {
    const double *a, *b;
    size_t n, k;
    bool *free;        /* [k] may differ from 0 */
    double *x, *trial; /* [k] */
    double *residual;  /* [n] */
};

/* Least squares of the free columns alone, by QR; the others are 0. */
static int solve_free(const struct active *active, double *ret_x)
{
    size_t p = 0, column = 0;
    int result = -ENOMEM;
    for (size_t j = 0; j < active->k; j++)
        p += active->free[j];
    gsl_matrix *matrix = gsl_matrix_alloc(active->n, p);
    gsl_vector *tau = gsl_vector_alloc(p), *x = gsl_vector_alloc(p), *rest = gsl_vector_alloc(active->n);
    if (matrix == NULL || tau == NULL || x == NULL || rest == NULL)
        goto out;
    for (size_t j = 0; j < active->k; j++) {
        for (size_t i = 0; active->free[j] && i < active->n; i++)
            gsl_matrix_set(matrix, i, column, active->a[i * active->k + j]);
        column += active->free[j];
    }
    gsl_vector_const_view b = gsl_vector_const_view_array(active->b, active->n);
    result =
        gsl_linalg_QR_decomp(matrix, tau) == 0 && gsl_linalg_QR_lssolve(matrix, tau, &b.vector, x, rest) == 0
            ? 0
            : -EDOM;
    column = 0;
    for (size_t j = 0; j < active->k && result == 0; j++)
        ret_x[j] = active->free[j] ? gsl_vector_get(x, column++) : 0;
out:
    gsl_matrix_free(matrix);
    gsl_vector_free(tau);
    gsl_vector_free(x);
    gsl_vector_free(rest);
    return result;
}

/* The column that lowers the sum of squares fastest; k: none does. */
static size_t best_column(const struct active *active)
{
    size_t best = active->k;
    double steepest = TOLERANCE, target = 0;
    for (size_t i = 0; i < active->n; i++) {
        active->residual[i] = active->b[i];
        target += active->b[i] * active->b[i];
        for (size_t j = 0; j < active->k; j++)
            active->residual[i] -= active->a[i * active->k + j] * active->x[j];
    }
    for (size_t j = 0; j < active->k; j++) {
        double gradient = 0, size = 0;
        for (size_t i = 0; i < active->n; i++) {
            gradient += active->a[i * active->k + j] * active->residual[i];
            size += active->a[i * active->k + j] * active->a[i * active->k + j];
        }
        const double slope = size > 0 && target > 0 ? gradient / sqrt(size * target) : 0;
        if (!active->free[j] && slope > steepest) {
            steepest = slope;
            best = j;
        }
    }
    return best;
}

/* Goes from x towards trial until the first coefficient would be below 0; those that are 0 leave. */
static void step_back(struct active *active)
{
    double share = 1;
    for (size_t j = 0; j < active->k; j++) {
        if (active->free[j] && active->trial[j] <= 0)
            share = fmin(share, active->x[j] / (active->x[j] - active->trial[j]));
    }
    for (size_t j = 0; j < active->k; j++) {
        active->x[j] += share * (active->trial[j] - active->x[j]);
        if (active->free[j] && active->trial[j] <= 0 && active->x[j] <= TOLERANCE) {
            active->free[j] = false;
            active->x[j] = 0;
        }
    }
}

static bool is_feasible(const struct active *active)
{
    for (size_t j = 0; j < active->k; j++) {
        if (active->free[j] && active->trial[j] <= 0)
            return false;
    }
    return true;
}

static int iterate(struct active *active)
{
    for (size_t i = 0; i < ITERATIONS_EACH * (active->k + 1); i++) {
        const size_t column = best_column(active);
        if (column == active->k)
            return 0;
        active->free[column] = true;
        int result = solve_free(active, active->trial);
        while (result == 0 && !is_feasible(active)) {
            step_back(active);
            result = solve_free(active, active->trial);
        }
        if (result < 0)
            return result;
        for (size_t j = 0; j < active->k; j++)
            active->x[j] = active->trial[j];
    }
    return -EDOM;
}

int non_negative_fit(const double *a, const double *b, size_t n, size_t k, double *ret_x)
{
    struct active active = {.a = a,
                            .b = b,
                            .n = n,
                            .k = k,
                            .free = calloc(k, sizeof *active.free),
                            .x = calloc(2 * k, sizeof *active.x),
                            .residual = calloc(n, sizeof *active.residual)};
    int result = -ENOMEM;
    if (active.free != NULL && active.x != NULL && active.residual != NULL) {
        active.trial = active.x + k;
        result = iterate(&active);
    }
    for (size_t j = 0; j < k && result == 0; j++)
        ret_x[j] = active.x[j];
    free(active.free);
    free(active.x);
    free(active.residual);
    return result;
}
