/* Linear models by GSL, with what makes them trustworthy: collinearity, leaving out, the trained range. */
#include "models/impact/regression.h"

#include "models/impact/non_negative.h"

#include <errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_SPARE_ROWS 2 /* degrees of freedom that must be left */

/* Below this share of its size a spread is what rounding left of a constant. */
#define ROUNDING 1e-20

/* A problem as GSL wants it; without the row `skip` (n: with all). */
struct design {
    gsl_matrix *x, *covariance;
    gsl_vector *y, *c;
};

static void free_design(struct design *design)
{
    gsl_matrix_free(design->x);
    gsl_matrix_free(design->covariance);
    gsl_vector_free(design->y);
    gsl_vector_free(design->c);
}

static int make_design(const struct regression_rows *rows, size_t skip, struct design *ret)
{
    const size_t n = rows->n - (skip < rows->n), p = rows->k + 1;
    struct design design = {.x = gsl_matrix_alloc(n, p),
                            .covariance = gsl_matrix_alloc(p, p),
                            .y = gsl_vector_alloc(n),
                            .c = gsl_vector_alloc(p)};
    if (design.x == NULL || design.covariance == NULL || design.y == NULL || design.c == NULL) {
        free_design(&design);
        return -ENOMEM;
    }
    for (size_t row = 0, i = 0; row < rows->n; row++) {
        if (row == skip)
            continue;
        gsl_vector_set(design.y, i, rows->targets[row]);
        gsl_matrix_set(design.x, i, 0, 1);
        for (size_t j = 0; j < rows->k; j++)
            gsl_matrix_set(design.x, i, j + 1, rows->metrics[row * rows->k + j]);
        i++;
    }
    *ret = design;
    return 0;
}

static int fit_squares(struct design *design)
{
    double squares;
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(design->x->size1, design->x->size2);
    if (work == NULL)
        return -ENOMEM;
    int code = gsl_multifit_linear(design->x, design->y, design->c, design->covariance, &squares, work);
    gsl_multifit_linear_free(work);
    return code == 0 ? 0 : -EDOM;
}

static int fit_robust(struct design *design)
{
    gsl_multifit_robust_workspace *work =
        gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, design->x->size1, design->x->size2);
    if (work == NULL)
        return -ENOMEM;
    int code = gsl_multifit_robust(design->x, design->y, design->c, design->covariance, work);
    gsl_multifit_robust_free(work);
    return code == 0 || code == GSL_EMAXITER ? 0 : -EDOM;
}

/* Costs of activities have no constant: a program that does nothing loses nothing. */
static int fit_non_negative(struct design *design)
{
    const size_t n = design->x->size1, k = design->x->size2 - 1;
    double *a = calloc(n * k + k, sizeof *a);
    if (a == NULL)
        return -ENOMEM;
    double *x = a + n * k;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < k; j++)
            a[i * k + j] = gsl_matrix_get(design->x, i, j + 1);
    }
    int result = non_negative_fit(a, design->y->data, n, k, x);
    gsl_vector_set(design->c, 0, 0);
    for (size_t j = 0; j < k; j++)
        gsl_vector_set(design->c, j + 1, x[j]);
    gsl_matrix_set_all(design->covariance, NAN);
    free(a);
    return result;
}

static int fit_design(struct design *design, enum regression_method method)
{
    return method == REGRESSION_NON_NEGATIVE ? fit_non_negative(design)
           : method == REGRESSION_ROBUST     ? fit_robust(design)
                                             : fit_squares(design);
}

static double predicted_by(const gsl_vector *c, const double *metrics, size_t k)
{
    double value = gsl_vector_get(c, 0);
    for (size_t j = 0; j < k; j++)
        value += gsl_vector_get(c, j + 1) * metrics[j];
    return value;
}

/* 1 - what the sum of squares around the fit is of that around the mean; 1 for a constant. */
static double explained_share(const struct regression_rows *rows, const gsl_vector *c, double *ret_squares)
{
    double mean = 0, total = 0, squares = 0, size = 0;
    for (size_t i = 0; i < rows->n; i++)
        mean += rows->targets[i] / (double)rows->n;
    for (size_t i = 0; i < rows->n; i++) {
        const double rest = rows->targets[i] - predicted_by(c, rows->metrics + i * rows->k, rows->k);
        squares += rest * rest;
        total += (rows->targets[i] - mean) * (rows->targets[i] - mean);
        size += rows->targets[i] * rows->targets[i];
    }
    *ret_squares = squares;
    return total > ROUNDING * size ? 1 - squares / total : 1;
}

/* Metric `target` from the others, each in units of its own spread. */
static int told_by_others(const struct regression_rows *rows, size_t target, double *ret_share)
{
    double *memory = calloc(rows->n * rows->k, sizeof *memory), squares;
    double *others = memory, *own = memory != NULL ? memory + rows->n * (rows->k - 1) : NULL;
    struct design design;
    if (memory == NULL)
        return -ENOMEM;
    for (size_t j = 0, column = 0; j < rows->k; j++) {
        double most = 0;
        for (size_t i = 0; i < rows->n; i++)
            most = fmax(most, fabs(rows->metrics[i * rows->k + j]));
        for (size_t i = 0; i < rows->n; i++) {
            const double scaled = most > 0 ? rows->metrics[i * rows->k + j] / most : 0;
            *(j == target ? &own[i] : &others[i * (rows->k - 1) + column]) = scaled;
        }
        column += j != target;
    }
    const struct regression_rows scaled = {others, own, rows->n, rows->k - 1};
    int result = make_design(&scaled, rows->n, &design);
    if (result == 0) {
        result = fit_squares(&design);
        if (result == 0)
            *ret_share = explained_share(&scaled, design.c, &squares);
        free_design(&design);
    }
    free(memory);
    return result;
}

static int find_collinear(const struct regression_rows *rows, size_t *ret_collinear)
{
    for (size_t j = 0; j < rows->k; j++) {
        double share = 0;
        int result = told_by_others(rows, j, &share);
        if (result < 0)
            return result;
        if (share >= REGRESSION_COLLINEAR_R2) {
            *ret_collinear = j;
            return -EDOM;
        }
    }
    return 0;
}

/* The median of what rows are mispredicted by that the fit did not see. */
static int leave_out_each(const struct regression_rows *rows, enum regression_method method,
                          double *ret_error)
{
    double *errors = calloc(rows->n, sizeof *errors);
    int result = errors == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < rows->n && result == 0; i++) {
        struct design design;
        result = make_design(rows, i, &design);
        if (result < 0)
            break;
        result = fit_design(&design, method);
        if (result == 0) {
            const double value = predicted_by(design.c, rows->metrics + i * rows->k, rows->k);
            errors[i] = fabs(value - rows->targets[i]) / fabs(rows->targets[i]);
        }
        free_design(&design);
    }
    if (result == 0)
        *ret_error = median_of(errors, rows->n);
    free(errors);
    return result;
}

static void take_ranges(const struct regression_rows *rows, struct regression *regression)
{
    for (size_t j = 0; j < rows->k; j++) {
        regression->least[j] = regression->most[j] = rows->metrics[j];
        for (size_t i = 1; i < rows->n; i++) {
            regression->least[j] = fmin(regression->least[j], rows->metrics[i * rows->k + j]);
            regression->most[j] = fmax(regression->most[j], rows->metrics[i * rows->k + j]);
        }
    }
}

static void take_fit(const struct regression_rows *rows, const struct design *design, double confidence_share,
                     struct regression *regression)
{
    const size_t p = rows->k + 1;
    const double df = (double)(rows->n - p), t = student_quantile((1 + confidence_share) / 2, df);
    double squares;
    regression->r_squared = explained_share(rows, design->c, &squares);
    regression->residual_std = sqrt(squares / df);
    for (size_t j = 0; j < p; j++) {
        const double half = t * sqrt(gsl_matrix_get(design->covariance, j, j));
        regression->coefficient[j] = gsl_vector_get(design->c, j);
        regression->interval[j] =
            (struct interval){regression->coefficient[j] - half, regression->coefficient[j] + half};
        for (size_t i = 0; i < p; i++)
            regression->covariance[j * p + i] = gsl_matrix_get(design->covariance, j, i);
    }
}

int regression_fit(const struct regression_rows *rows, enum regression_method method, double confidence_share,
                   struct regression *ret, size_t *ret_collinear)
{
    struct design design;
    if (rows->k == 0 || rows->k > REGRESSION_MAX_METRICS || rows->n < rows->k + 1 + LEAST_SPARE_ROWS)
        return -EINVAL;
    int result = find_collinear(rows, ret_collinear);
    if (result < 0)
        return result;
    result = make_design(rows, rows->n, &design);
    if (result < 0)
        return result;
    *ret = (struct regression){.method = method, .n = rows->n, .k = rows->k};
    result = fit_design(&design, method);
    if (result == 0)
        take_fit(rows, &design, confidence_share, ret);
    free_design(&design);
    take_ranges(rows, ret);
    return result == 0 ? leave_out_each(rows, method, &ret->left_out_error) : result;
}

/* x' C x of the row with its 1 for the constant. */
static double variance_at(const struct regression *regression, const double *metrics)
{
    const size_t p = regression->k + 1;
    double variance = 0;
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++)
            variance += (i > 0 ? metrics[i - 1] : 1) * (j > 0 ? metrics[j - 1] : 1) *
                        regression->covariance[i * p + j];
    }
    return variance;
}

struct regression_prediction regression_predict(const struct regression *regression, const double *metrics,
                                                double confidence_share)
{
    struct regression_prediction prediction = {.value = regression->coefficient[0]};
    const double df = (double)(regression->n - regression->k - 1);
    for (size_t j = 0; j < regression->k; j++) {
        prediction.value += regression->coefficient[j + 1] * metrics[j];
        if (!prediction.extrapolates &&
            (metrics[j] < regression->least[j] || metrics[j] > regression->most[j])) {
            prediction.extrapolates = true;
            prediction.beyond = j;
        }
    }
    const double half =
        student_quantile((1 + confidence_share) / 2, df) *
        sqrt(variance_at(regression, metrics) + regression->residual_std * regression->residual_std);
    prediction.interval = (struct interval){prediction.value - half, prediction.value + half};
    return prediction;
}
