/* Robust ridge regression of figures here on figures from elsewhere. */
#include "models/surrogate/transfer.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define SLOPE_STD  0.3
#define HUBER      1.345 /* 95 % efficiency with normal errors */
#define MAD_TO_STD 1.4826
#define N_FITS     8
/* Errors of less than this in log response are no errors. */
#define STD_LEAST 1e-4

struct fit {
    const double *x, *y;
    size_t n;
    double *base;   /* weights by how well each y is known; mean 1 */
    double *weight; /* base times Huber's */
    double *room;
    double mean_x, mean_y, sum, slope, std, ridge;
};

static double residual(const struct fit *fit, size_t i)
{
    return fit->y[i] - fit->mean_y - fit->slope * (fit->x[i] - fit->mean_x);
}

static double spread_of_residuals(const struct fit *fit)
{
    for (size_t i = 0; i < fit->n; i++)
        fit->room[i] = fabs(residual(fit, i));
    return fmax(STD_LEAST, MAD_TO_STD * median_of(fit->room, fit->n));
}

static void weigh(struct fit *fit)
{
    for (size_t i = 0; i < fit->n; i++) {
        double size = fabs(residual(fit, i)) / fit->std;

        fit->weight[i] = fit->base[i] * (size > HUBER ? HUBER / size : 1.0);
    }
}

/* Slope and means at the present weights and std. */
static void solve(struct fit *fit)
{
    double sxx = 0.0, sxy = 0.0;

    fit->sum = fit->mean_x = fit->mean_y = 0.0;
    for (size_t i = 0; i < fit->n; i++) {
        fit->sum += fit->weight[i];
        fit->mean_x += fit->weight[i] * fit->x[i];
        fit->mean_y += fit->weight[i] * fit->y[i];
    }
    fit->mean_x /= fit->sum;
    fit->mean_y /= fit->sum;
    for (size_t i = 0; i < fit->n; i++) {
        sxx += fit->weight[i] * gsl_pow_2(fit->x[i] - fit->mean_x);
        sxy += fit->weight[i] * (fit->x[i] - fit->mean_x) * (fit->y[i] - fit->mean_y);
    }
    fit->ridge = gsl_pow_2(fit->std / SLOPE_STD);
    fit->slope = (sxy + fit->ridge) / (sxx + fit->ridge);
    fit->ridge += sxx;
}

/* Squared errors of predicting each y from the others, at Huber's weights: with the line, or with their mean
 * alone. Without the line the scale is the same, so that points that only the line explains count in full. */
static double left_out_squares(const struct fit *fit, int with_line)
{
    double squares = 0.0;

    for (size_t i = 0; i < fit->n; i++) {
        double leverage = fit->weight[i] / fit->sum, error = fit->y[i] - fit->mean_y;

        if (with_line) {
            leverage += fit->weight[i] * gsl_pow_2(fit->x[i] - fit->mean_x) / fit->ridge;
            error = residual(fit, i);
        }
        squares += fit->weight[i] * gsl_pow_2(error / (1.0 - fmin(leverage, 0.95)));
    }
    return squares;
}

static void set_base(struct fit *fit, const double *variance)
{
    double mean = 0.0, sum = 0.0;

    for (size_t i = 0; i < fit->n; i++)
        mean += variance[i] / (double)fit->n;
    for (size_t i = 0; i < fit->n; i++) {
        fit->base[i] = mean > 0.0 ? 1.0 / (variance[i] + mean) : 1.0;
        sum += fit->base[i] / (double)fit->n;
    }
    for (size_t i = 0; i < fit->n; i++)
        fit->weight[i] = fit->base[i] /= sum;
}

static struct transfer fit_all(struct fit *fit, const double *variance)
{
    struct transfer transfer = {.n = fit->n,
                                .agreement = gsl_stats_correlation(fit->x, 1, fit->y, 1, fit->n)};
    double with_line, without;

    set_base(fit, variance);
    fit->std = 1.0;
    solve(fit);
    for (int i = 0; i < N_FITS; i++) {
        fit->std = spread_of_residuals(fit);
        weigh(fit);
        solve(fit);
    }
    transfer.slope = fit->slope;
    transfer.shift = fit->mean_y - fit->slope * fit->mean_x;
    transfer.std = spread_of_residuals(fit);
    with_line = left_out_squares(fit, 1);
    without = left_out_squares(fit, 0);
    /* A line that falls is no knowledge about which point is best, but chance or another world. */
    transfer.weight =
        without > 0.0 && fit->slope > 0.0 ? fmin(1.0, fmax(0.0, 1.0 - with_line / without)) : 0.0;
    return transfer;
}

int transfer_fit(const double *prior, const double *now, const double *variance, size_t n,
                 struct transfer *ret_transfer)
{
    struct fit fit = {.x = prior, .y = now, .n = n};

    if (n < TRANSFER_MIN_POINTS)
        return -ENODATA;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(prior[i]) || !isfinite(now[i]) || !isfinite(variance[i]) || variance[i] < 0.0)
            return -EINVAL;
    }
    fit.base = malloc(3 * n * sizeof(*fit.base));
    if (!fit.base)
        return -ENOMEM;
    fit.weight = fit.base + n;
    fit.room = fit.base + 2 * n;
    *ret_transfer = fit_all(&fit, variance);
    free(fit.base);
    return 0;
}

double transfer_predict(const struct transfer *transfer, double prior)
{
    return transfer->shift + transfer->slope * prior;
}
