/* Which settings are worth a burst. */
#include "tuner/writes/burst.h"

#include <math.h>

#define MOST_BUFFERED 3

/* Bytes per second that a point's requests were accepted at, by Little's law: of buffered writes the
 * throughput holds the flush, too. */
static double accepted_bps(const struct record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->n; i++) {
        const struct sample *sample = &record->samples[i];
        sum += sample->achieved_depth * record->point.threads * (double)record->point.request_size_bytes /
               (sample->latency_mean_ns / 1e9);
    }
    return record->n > 0 ? sum / (double)record->n : 0;
}

/* Each thread makes a whole request at least. */
static bool fits(const struct burst *burst, const struct point *point)
{
    uint64_t call = point->request_size_bytes * (point->api == API_PVEC ? point->queue_depth : 1);
    return burst->settings->burst.bytes / point->threads >= call;
}

static bool is_known(const struct burst *burst, const struct point *point)
{
    for (size_t i = 0; i < burst->n; i++) {
        if (factors_equal(&burst->setting[i].point, point))
            return true;
    }
    return false;
}

static void add_burst_setting(struct burst *burst, const struct point *point, bool by_model,
                              double predicted_s)
{
    if (burst->n == BURST_MAX_SETTINGS || is_known(burst, point))
        return;
    burst->setting[burst->n++] =
        (struct burst_setting){.point = *point, .by_model = by_model, .predicted_s = predicted_s};
}

static bool is_usable(const struct burst *burst, const struct tune *tune, size_t i)
{
    const struct record *record = &tune->records[i];
    return record->n > 0 && record->failed == 0 && tune_distrust(tune, i) == 0 && fits(burst, &record->point);
}

static void add_if_direct(struct burst *burst, const struct tune *tune, size_t i)
{
    if (i < tune->space.n_points && tune->records[i].point.direct != 0 && is_usable(burst, tune, i))
        add_burst_setting(burst, &tune->records[i].point, false, NAN);
}

/* The direct setting of the highest throughput so far. */
static size_t fastest_direct(const struct burst *burst, const struct tune *tune)
{
    size_t found = ENGINE_NONE;
    double best = -INFINITY;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        double mean = record_log_moments(&tune->records[i], false).mean;
        if (tune->records[i].point.direct != 0 && is_usable(burst, tune, i) && mean > best) {
            found = i;
            best = mean;
        }
    }
    return found;
}

/* The buffered setting that accepts fastest, of one request size or (0) of all, not yet among them. */
static size_t fastest_buffered(const struct burst *burst, const struct tune *tune, uint64_t size_bytes)
{
    size_t found = ENGINE_NONE;
    double best = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        const struct record *record = &tune->records[i];
        if (record->point.direct != 0 || !is_usable(burst, tune, i) || is_known(burst, &record->point) ||
            (size_bytes != 0 && record->point.request_size_bytes != size_bytes))
            continue;
        double bps = accepted_bps(record);
        if (bps > best) {
            best = bps;
            found = i;
        }
    }
    return found;
}

static double predicted_s(const struct burst *burst, const struct point *point)
{
    struct cawl_advice_burst load = burst->modelled;
    struct cawl_advice_cost cost;
    load.request_bytes = point->request_size_bytes;
    if (!burst->has_model || cawl_advice_cost(&load, &cost) < 0)
        return NAN;
    return cost.seconds[burst->by_durable ? CAWL_ADVICE_FLUSHED : CAWL_ADVICE_BUFFERED];
}

/* Of the request sizes that fit, the one that the model likes best: what was measured with it, else its
 * plainest setting. */
static void add_modelled(struct burst *burst, const struct tune *tune)
{
    size_t found = ENGINE_NONE;
    double least = INFINITY;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        const struct record *record = &tune->records[i];
        if (record->point.direct != 0 || record->failed != 0 || !fits(burst, &record->point) ||
            (record->n > 0 && tune_distrust(tune, i) != 0))
            continue;
        double seconds = predicted_s(burst, &record->point);
        bool as_good = seconds == least && found != ENGINE_NONE && engine_is_cheaper(&tune->engine, i, found);
        if (seconds < least || as_good) {
            least = seconds;
            found = i;
        }
    }
    if (found == ENGINE_NONE)
        return;
    size_t measured = fastest_buffered(burst, tune, tune->records[found].point.request_size_bytes);
    add_burst_setting(burst, &tune->records[measured != ENGINE_NONE ? measured : found].point, true, least);
}

/* In order of promise. The answer for a steady load has more evidence than what led in a run or two. */
void burst_choose_settings(struct burst *burst, const struct tune *tune)
{
    static const struct cawl_options plain;
    const struct settings *settings = burst->settings;
    burst->modelled = (struct cawl_advice_burst){
        .host = &burst->host.host,
        .options = &plain,
        .bytes = settings->burst.bytes,
        .random = pattern_is_random(&settings->workload.pattern),
        .interval_s = (double)settings->burst.interval_ns / 1e9,
    };
    burst->n = 0;
    add_if_direct(burst, tune, tune->engine.chosen);
    if (burst->n == 0)
        add_if_direct(burst, tune, fastest_direct(burst, tune));
    size_t most = burst->n + MOST_BUFFERED;
    if (burst->has_model)
        add_modelled(burst, tune);
    for (size_t found; burst->n < most && (found = fastest_buffered(burst, tune, 0)) != ENGINE_NONE;)
        add_burst_setting(burst, &tune->records[found].point, false,
                          predicted_s(burst, &tune->records[found].point));
    add_if_direct(burst, tune, fastest_direct(burst, tune));
}
