/* models/statistics/prediction_error: predicted against measured. */
#include "models/statistics/prediction_error.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct prediction_error prediction_error_of(const double *predicted, const double *measured, size_t n)
{
    double shares = 0, misses = 0, total_predicted = 0, total_measured = 0;
    struct prediction_error error = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        double miss = fabs(predicted[i] - measured[i]);
        misses += miss;
        total_predicted += predicted[i];
        total_measured += measured[i];
        if (measured[i] > 0) {
            shares += miss / measured[i];
            error.n++;
        }
    }
    error.chunk_share = error.n > 0 ? shares / (double)error.n : NAN;
    error.weighted_share = total_measured > 0 ? misses / total_measured : NAN;
    error.total_share = total_measured > 0 ? fabs(total_predicted - total_measured) / total_measured : NAN;
    return error;
}

/* Without the repetition `but`; n_repetitions: none is left out. */
static void medians_without(const double *const *repetitions, size_t n_repetitions, size_t but, size_t n,
                            double *values, double *ret_medians)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_values = 0;
        for (size_t j = 0; j < n_repetitions; j++)
            if (j != but)
                values[n_values++] = repetitions[j][i];
        ret_medians[i] = median_of(values, n_values);
    }
}

int prediction_error_medians(const double *const *repetitions, size_t n_repetitions, size_t n,
                             double *ret_medians)
{
    double *values = malloc((n_repetitions + 1) * sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    medians_without(repetitions, n_repetitions, n_repetitions, n, values, ret_medians);
    free(values);
    return 0;
}

int prediction_error_scatter(const double *const *repetitions, size_t n_repetitions, size_t n,
                             struct prediction_error *ret)
{
    struct prediction_error mean = {.n = n, .chunk_share = NAN, .weighted_share = NAN, .total_share = NAN};
    double *values = malloc((n_repetitions + 1) * sizeof *values);
    double *medians = malloc((n + 1) * sizeof *medians);
    int code = values == NULL || medians == NULL ? -ENOMEM : 0;
    if (code == 0 && n_repetitions >= 2)
        mean = (struct prediction_error){.n = n};
    for (size_t j = 0; code == 0 && n_repetitions >= 2 && j < n_repetitions; j++) {
        medians_without(repetitions, n_repetitions, j, n, values, medians);
        struct prediction_error one = prediction_error_of(repetitions[j], medians, n);
        mean.n = one.n < mean.n ? one.n : mean.n;
        mean.chunk_share += one.chunk_share / (double)n_repetitions;
        mean.weighted_share += one.weighted_share / (double)n_repetitions;
        mean.total_share += one.total_share / (double)n_repetitions;
    }
    free(values);
    free(medians);
    if (code == 0)
        *ret = mean;
    return code;
}

double prediction_error_improvement(double error, double other)
{
    return other > 0 && isfinite(error) && isfinite(other) ? 1 - error / other : NAN;
}
