/* The figures of a point of a search. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Adds a standard deviation of the mean, as a share of it, to an interval. */
static bool widen(double mean, double std_share, double confidence, double *low, double *high)
{
    double room = gsl_cdf_ugaussian_Pinv(0.5 + confidence / 2) * std_share * mean;
    if (!isfinite(*low) || !(std_share > 0))
        return false;
    *low = mean - hypot(mean - *low, room);
    *high = mean + hypot(*high - mean, room);
    return true;
}

/* The replays after the choice are made within seconds, and so may those be of a setting that took another
 * one's place at the end: where the rate wanders, their mean is that of the moment. */
static int allow_for_wander(const struct tune *tune, size_t point, bool confirming, struct row *row)
{
    const struct record *record = &tune->records[point];
    double confidence = tune->settings->runs.confidence_share, *seconds = malloc(record->n * sizeof *seconds);
    size_t n = 0;
    if (seconds == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < record->n; i++) {
        if (record->samples[i].confirming || !confirming)
            seconds[n++] = record->samples[i].at_seconds;
    }
    double std_share = sqrt(wander_mean_variance(&tune->engine.belief.wander, seconds, n));
    struct latency_row *latency = &row->latency_ns;
    row->ci_wanders = widen(row->mean_bps, std_share, confidence, &row->ci_low_bps, &row->ci_high_bps);
    latency->ci_wanders = widen(latency->mean, std_share, confidence, &latency->ci_low, &latency->ci_high);
    free(seconds);
    return 0;
}

int tune_row(const struct tune *tune, size_t point, bool confirming, struct row *ret_row)
{
    struct row row;
    int result = row_of(&tune->records[point], confirming, tune->settings->runs.confidence_share, &row);
    bool is_late = point == tune->engine.chosen && record_count(&tune->records[point], true) == 0;
    if (result == 0 && (confirming || is_late))
        result = allow_for_wander(tune, point, confirming, &row);
    if (result < 0)
        return result;
    row.disqualifying = tune_distrust(tune, point);
    row.warning_set |= row.disqualifying;
    *ret_row = row;
    return 0;
}
