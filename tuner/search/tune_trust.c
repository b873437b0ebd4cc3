/* Which points of a search are not to be trusted, and why. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* A permanent verdict wants more than one replay. */
#define EXCLUDE_REPLAYS 2

uint64_t tune_distrust(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    return session_disqualifying(tune->session, record_warnings(record, false), &record->point);
}

void tune_tell_trust(struct tune *tune)
{
    for (size_t i = 0; i < tune->n_records; i++)
        tune->engine.points[i].distrusted = tune_distrust(tune, i) != 0;
}

void tune_exclude_distrusted(struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune_distrust(tune, i) != 0)
            belief_exclude(&tune->engine.belief, i);
    }
}

void tune_weigh_trust(struct tune *tune, size_t point)
{
    bool distrusted = tune_distrust(tune, point) != 0;
    tune->engine.points[point].distrusted = distrusted;
    if (point < tune->space.n_points && tune->records[point].n >= EXCLUDE_REPLAYS && distrusted)
        belief_exclude(&tune->engine.belief, point);
}

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

/* The replays after the choice are made within seconds: where the rate wanders, their mean is that of the
 * moment. */
static int allow_for_wander(const struct tune *tune, size_t point, struct row *row)
{
    const struct record *record = &tune->records[point];
    double confidence = tune->settings->runs.confidence_share, *seconds = malloc(record->n * sizeof *seconds);
    size_t n = 0;
    if (seconds == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < record->n; i++) {
        if (record->samples[i].confirming)
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
    if (result == 0 && confirming)
        result = allow_for_wander(tune, point, &row);
    if (result < 0)
        return result;
    row.disqualifying = tune_distrust(tune, point);
    row.warning_set |= row.disqualifying;
    *ret_row = row;
    return 0;
}

void tune_note_distrust(struct tune *tune)
{
    size_t n_points[WARNING_N] = {0};
    for (size_t i = 0; i < tune->space.n_points; i++) {
        uint64_t against = tune_distrust(tune, i);
        for (unsigned warning = 0; warning < WARNING_N; warning++)
            n_points[warning] += against >> warning & 1;
    }
    for (unsigned warning = 0; warning < WARNING_N; warning++) {
        if (n_points[warning] == 0)
            continue;
        const struct warnings_row *row = &warnings_table[warning];
        notes_disqualify(&tune->session->warnings, row->code,
                         "%s (%zu of %zu settings cannot be recommended; --accept %s lets them)", row->text,
                         n_points[warning], tune->space.n_points, row->code);
    }
}
