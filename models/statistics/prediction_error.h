/* models/statistics/prediction_error: how far predicted costs are from measured ones.
 *
 * Source: the mean relative error of Gholami and Schintke, section 6 (delta), with what it
 * needs on a machine that scatters: medians over repetitions, and the error that a repetition would have as a
 * prediction of the others, below which no model can be judged. */
#pragma once

#include <stddef.h>

/* Shares, >= 0; NaN where there is nothing to relate to. */
struct prediction_error {
    size_t n;              /* chunks whose measured cost is above 0; only they count for chunk_share */
    double chunk_share;    /* mean of |predicted - measured| / measured */
    double weighted_share; /* sum of |predicted - measured| / sum of measured */
    double total_share;    /* |sum of predicted - sum of measured| / sum of measured */
};

struct prediction_error prediction_error_of(const double *predicted, const double *measured, size_t n);

/* Medians over repetitions, chunk by chunk: repetitions[i] holds n costs. 0 or -ENOMEM. */
int prediction_error_medians(const double *const *repetitions, size_t n_repetitions, size_t n,
                             double *ret_medians);

/* The mean error of each repetition as a prediction of the medians of the others. All NaN for fewer than two.
 * 0 or -ENOMEM. */
int prediction_error_scatter(const double *const *repetitions, size_t n_repetitions, size_t n,
                             struct prediction_error *ret);

/* By how much less `error` errs than `other`, as a share: 0.9 is a tenth of it; negative: more. NaN where
 * other is 0 or either is NaN. */
double prediction_error_improvement(double error, double other);
