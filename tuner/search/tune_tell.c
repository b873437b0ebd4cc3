/* Tells the engine of a replay. */
#include "tuner/search/tune.h"

#include <math.h>

/* A run may be faster than those before it by this factor, before the bound on its bytes makes it short. */
#define FASTER_AT_MOST 1.5

bool tune_is_of_throughput(const struct tune *tune)
{
    return tune->settings->search.objective == OBJECTIVE_THROUGHPUT &&
           tune->settings->search.profile == PROFILE_MAX_THROUGHPUT;
}

double tune_response(const struct tune *tune, const struct sample *sample)
{
    return objective_response(tune->settings, tune->reference_log_bps, sample);
}

static int tell(struct tune *tune, size_t point, const struct sample *sample)
{
    double limit_ns = tune->engine.limit_ns;
    struct engine_run run = {.point = point, .confirming = sample->confirming};
    struct engine_result result = {
        .response = tune_response(tune, sample),
        .bps = sample->throughput_bps,
        .latency_ns = sample->latency_mean_ns,
        .p99_ns = sample->latency_p99_ns,
        .seconds = sample->seconds,
        .at_seconds = sample->at_seconds,
        .n_timed = (double)sample->latency_quantiles.n,
        .n_over_limit = limit_ns > 0 ? latency_quantiles_beyond(&sample->latency_quantiles, limit_ns) : 0,
        .cut = sample->cut,
    };
    return engine_tell(&tune->engine, &run, &result);
}

int tune_tell_again(struct tune *tune)
{
    int result = 0;
    tune->engine.tails = (struct moments){0};
    for (size_t i = 0; i < tune->n_records; i++) {
        engine_forget(&tune->engine, i);
        for (size_t k = 0; k < tune->records[i].n && result == 0; k++)
            result = tell(tune, i, &tune->records[i].samples[k]);
    }
    return result;
}

/* Runs that are forgotten still say how fast the flush of those to come may be. */
static double flush_bps_seen(const struct record *record)
{
    double most_bps = 0;
    for (size_t i = 0; i < record->n; i++)
        most_bps = fmax(most_bps, FASTER_AT_MOST * record->samples[i].throughput_bps);
    return most_bps > 0 ? most_bps : record->flush_bps;
}

void tune_discard(struct tune *tune, size_t point)
{
    struct record *record = &tune->records[point];
    double flush_bps = flush_bps_seen(record);
    tune->length.n_discarded += record->n;
    record_discard(record);
    record->flush_bps = flush_bps;
}

void tune_forget(struct tune *tune, size_t point)
{
    tune_discard(tune, point);
    engine_forget(&tune->engine, point);
}

/* The engine leaves the point out, not only this replay: few requests may be due to a slow tail, and leaving
 * such replays out would favour the slow points. */
static void note_left_out(struct tune *tune, size_t point)
{
    char text[FACTORS_TEXT_SIZE];
    tune->n_unsupported++;
    notes_add(&tune->session->dropped, factors_format(&tune->records[point].point, text),
              "a run has too few requests for a p99; a longer --duration would have more");
}

/* The rate floor of low-latency is a share of the highest rate known: a new one changes every response. */
static bool is_floor_new(struct tune *tune)
{
    if (tune->settings->search.profile != PROFILE_LOW_LATENCY)
        return false;
    double before = tune->reference_log_bps;
    tune->reference_log_bps = profiles_reference(tune);
    return tune->reference_log_bps != before;
}

int tune_tell(struct tune *tune, size_t point, const struct sample *sample)
{
    bool again = is_floor_new(tune);
    bool unsupported = point < tune->space.n_points && !tune->engine.belief.excluded[point] &&
                       !isfinite(tune_response(tune, sample));
    int result = tell(tune, point, sample);
    if (unsupported)
        note_left_out(tune, point);
    if (result == 0 && again)
        result = tune_tell_again(tune);
    /* Before the race few runs tell where a slope is. */
    return result == 0 && tune->engine.phase >= ENGINE_RACE ? profiles_leave_out_steep(tune) : result;
}
