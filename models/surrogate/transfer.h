/* models/surrogate/transfer: how well figures from elsewhere (another run, host or pattern) predict those
 * measured here.
 *
 * now = shift + slope * prior + error, over the points known both here and there. The shift is free; the
 * slope is near 1 unless the data say otherwise (ridge, Hoerl and Kennard 1970: normal prior with mean 1 and
 * std 0.3); errors may have outliers (Huber's weights, found by repeated fits). How far to believe it comes
 * from leaving each point out: weight = 1 - (squared errors with the prior) / (squared errors without it), 0
 * where the prior does not help. */
#pragma once

#include <stddef.h>

#define TRANSFER_MIN_POINTS 3

struct transfer {
    size_t n; /* points compared */
    double shift, slope;
    double std;       /* of the errors, robust (median of the absolute ones); noise of `now` included */
    double agreement; /* correlation of prior and now; NaN where one of them does not vary */
    double weight;    /* 0: of no use .. 1: predicts exactly */
};

/* now[i] is a mean with variance[i] >= 0. 0; -ENODATA for fewer than TRANSFER_MIN_POINTS; -EINVAL for a value
 * that is not finite; -ENOMEM. */
int transfer_fit(const double *prior, const double *now, const double *variance, size_t n,
                 struct transfer *ret_transfer);

/* What the prior's figure stands for here. */
double transfer_predict(const struct transfer *transfer, double prior);
