/* Straight lines through costs over sizes. */
#include "models/statistics/line_fit.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In a normal sample, the standard deviation over the median of the absolute values. */
#define MAD_TO_STD 1.4826

struct points {
    const double *x, *y;
    size_t n;
    double *scales, *work; /* n each: what a relative residual is relative to */
};

static double fitted(const struct line_fit *fit, double x)
{
    return fit->intercept + fit->slope * x;
}

/* A line may pass below 0 where costs are small; the cost itself is then the better scale. */
static void set_scales(const struct points *points, const struct line_fit *fit)
{
    for (size_t i = 0; i < points->n; i++)
        points->scales[i] = fmax(fitted(fit, points->x[i]), points->y[i] / 4);
}

static double relative_residual(const struct points *points, const struct line_fit *fit, size_t i)
{
    return (points->y[i] - fitted(fit, points->x[i])) / points->scales[i];
}

static int fit_ordinary(const struct points *points, struct line_fit *fit)
{
    double c00, c01, c11, squares;
    if (gsl_fit_linear(points->x, 1, points->y, 1, points->n, &fit->intercept, &fit->slope, &c00, &c01, &c11,
                       &squares) != 0)
        return -EDOM;
    set_scales(points, fit);
    for (size_t i = 0; i < points->n; i++)
        points->work[i] = 1 / (points->scales[i] * points->scales[i]);
    if (gsl_fit_wlinear(points->x, 1, points->work, 1, points->y, 1, points->n, &fit->intercept, &fit->slope,
                        &c00, &c01, &c11, &squares) != 0)
        return -EDOM;
    /* The weights are known up to a factor only, which the residuals tell. */
    double variance = squares / (double)(points->n - 2);
    fit->intercept_error = sqrt(c00 * variance);
    fit->slope_error = sqrt(c11 * variance);
    return isfinite(fit->intercept) && isfinite(fit->slope) ? 0 : -EDOM;
}

static size_t count_outliers(const struct points *points, const struct line_fit *fit)
{
    size_t n = 0;
    for (size_t i = 0; i < points->n; i++)
        points->work[i] = fabs(relative_residual(points, fit, i));
    double limit = LINE_FIT_HEAVY * MAD_TO_STD * median_of(points->work, points->n);
    for (size_t i = 0; i < points->n; i++)
        n += fabs(relative_residual(points, fit, i)) > limit;
    return n;
}

static void fill_rows(const struct points *points, gsl_matrix *rows, gsl_vector *costs)
{
    for (size_t i = 0; i < points->n; i++) {
        gsl_matrix_set(rows, i, 0, 1 / points->scales[i]);
        gsl_matrix_set(rows, i, 1, points->x[i] / points->scales[i]);
        gsl_vector_set(costs, i, points->y[i] / points->scales[i]);
    }
}

static int fit_robust(const struct points *points, struct line_fit *fit)
{
    gsl_matrix *rows = gsl_matrix_alloc(points->n, 2), *covariance = gsl_matrix_alloc(2, 2);
    gsl_vector *costs = gsl_vector_alloc(points->n), *line = gsl_vector_alloc(2);
    gsl_multifit_robust_workspace *work =
        gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, points->n, 2);
    int result = -ENOMEM;
    if (rows != NULL && covariance != NULL && costs != NULL && line != NULL && work != NULL) {
        fill_rows(points, rows, costs);
        result = gsl_multifit_robust(rows, costs, line, covariance, work) == 0 ? 0 : -EDOM;
    }
    if (result == 0) {
        fit->intercept = gsl_vector_get(line, 0);
        fit->slope = gsl_vector_get(line, 1);
        fit->intercept_error = sqrt(gsl_matrix_get(covariance, 0, 0));
        fit->slope_error = sqrt(gsl_matrix_get(covariance, 1, 1));
        fit->robust = true;
    }
    gsl_multifit_robust_free(work);
    gsl_vector_free(line);
    gsl_vector_free(costs);
    gsl_matrix_free(covariance);
    gsl_matrix_free(rows);
    return result;
}

static bool is_valid(const double *x, const double *y, size_t n)
{
    bool varies = false;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !(y[i] > 0) || !isfinite(y[i]))
            return false;
        varies |= x[i] != x[0];
    }
    return n >= 3 && varies;
}

static int fit_points(const struct points *points, struct line_fit *fit)
{
    double squares = 0;
    int result = fit_ordinary(points, fit);
    if (result < 0)
        return result;
    fit->n_outliers = count_outliers(points, fit);
    /* An estimator that does not settle leaves the ordinary line, which is worse but a line. */
    if (fit->n_outliers > 0 && points->n > 4 && fit_robust(points, fit) == -ENOMEM)
        return -ENOMEM;
    if (fit->robust)
        fit->n_outliers = count_outliers(points, fit);
    for (size_t i = 0; i < points->n; i++)
        squares += pow(relative_residual(points, fit, i), 2);
    fit->residual_share = sqrt(squares / (double)points->n);
    return 0;
}

int line_fit(const double *x, const double *y, size_t n, struct line_fit *ret)
{
    if (!is_valid(x, y, n))
        return -EINVAL;
    struct line_fit fit = {.n = n};
    double *memory = calloc(2 * n, sizeof *memory);
    if (memory == NULL)
        return -ENOMEM;
    const struct points points = {.x = x, .y = y, .n = n, .scales = memory, .work = memory + n};
    int result = fit_points(&points, &fit);
    if (result == 0)
        *ret = fit;
    free(memory);
    return result;
}
