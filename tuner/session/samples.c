/* Replays of every point and the figures made from them. */
#include "tuner/session/samples.h"

#include "models/statistics/batch_means.h"
#include "models/statistics/skew.h"
#include "tuner/session/warnings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The cut does not depend on the confidence. */
#define ANY_CONFIDENCE 0.95

struct initial_transient initial_transient_of(const struct measure_result *result)
{
    const struct pump_windows *windows = &result->windows;
    struct batch_means inside;
    struct initial_transient none = {.rate_ratio = 1};
    double rates[PUMP_N_WINDOWS], all = 0, cut = 0;
    /* The last window was still open when the run ended. */
    size_t n = windows->n > 0 && windows->n <= PUMP_N_WINDOWS ? windows->n - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        all += rates[i] = (double)windows->bytes[i];
        if (windows->bytes[i] == 0)
            return none;
    }
    if (measure_was_absorbed(result) || n == 0 || batch_means_of(rates, n, ANY_CONFIDENCE, &inside) < 0)
        return none;
    for (size_t i = 0; i < inside.n_cut; i++)
        cut += rates[i];
    double seconds = (double)inside.n_cut * (double)windows->width_ns * 1e-9;
    double left = (double)(n - inside.n_cut) / (double)n;
    if (seconds >= result->seconds || !(left > 0))
        return none;
    return (struct initial_transient){.seconds = seconds, .rate_ratio = (1 - cut / all) / left};
}

/* The seconds left out count as warm-up. Latencies stay those of all requests, because they are not kept by
 * time. */
static void leave_out(struct sample *sample, struct initial_transient transient)
{
    sample->throughput_bps *= transient.rate_ratio;
    sample->iops *= transient.rate_ratio;
    sample->seconds -= transient.seconds;
    sample->bytes = (uint64_t)(sample->throughput_bps * sample->seconds + 0.5);
    sample->warmup_seconds += transient.seconds;
    sample->trimmed_seconds = transient.seconds;
}

struct sample sample_of(const struct measure_result *result, const struct histogram *latency,
                        uint64_t warning_set)
{
    struct sample sample = {
        .throughput_bps = result->throughput_bps,
        .iops = result->iops,
        .latency_mean_ns = NAN,
        .latency_p99_ns = percentiles_of_run(latency, 0.99),
        .achieved_depth = result->achieved_depth,
        .seconds = result->seconds,
        .warmup_seconds = result->warmup_seconds,
        .bytes = result->bytes_read + result->bytes_written,
        .moved_bytes = result->bytes_read + result->bytes_written,
        .warmup = result->warmup,
        .sampled = result->sampled,
        .cut = result->cut,
        .neighbour_cost = NAN,
        .warning_set = warning_set,
    };
    struct initial_transient transient = initial_transient_of(result);
    if (transient.seconds > 0)
        leave_out(&sample, transient);
    double mean_ns = 0;
    if (histogram_mean_ns(latency, &mean_ns) == 0)
        sample.latency_mean_ns = mean_ns;
    return sample;
}

static struct histogram *histogram_for(struct record *record, bool confirming)
{
    struct histogram **place = &record->latency[confirming ? 1 : 0];
    if (*place == NULL) {
        *place = malloc(sizeof **place);
        if (*place != NULL)
            histogram_init(*place);
    }
    return *place;
}

int record_add(struct record *record, const struct sample *sample, const struct histogram *latency)
{
    if (record->n == record->capacity) {
        size_t capacity = record->capacity == 0 ? 8 : 2 * record->capacity;
        struct sample *samples = realloc(record->samples, capacity * sizeof *samples);
        if (samples == NULL)
            return -ENOMEM;
        record->samples = samples;
        record->capacity = capacity;
    }
    struct histogram *into = histogram_for(record, sample->confirming);
    if (into == NULL)
        return -ENOMEM;
    histogram_merge(into, latency);
    record->samples[record->n] = *sample;
    record->samples[record->n++].latency_quantiles = latency_quantiles_of(latency);
    return 0;
}

void record_done(struct record *record)
{
    free(record->samples);
    free(record->latency[0]);
    free(record->latency[1]);
    *record = (struct record){0};
}

void record_discard(struct record *record)
{
    struct record empty = {
        .point = record->point, .warning_set = record->warning_set, .failed = record->failed};
    record_done(record);
    *record = empty;
}

void record_age(struct record *record)
{
    for (size_t i = 0; i < record->n; i++)
        record->samples[i].confirming = false;
    if (record->latency[0] == NULL) {
        record->latency[0] = record->latency[1];
    } else if (record->latency[1] != NULL) {
        histogram_merge(record->latency[0], record->latency[1]);
        free(record->latency[1]);
    }
    record->latency[1] = NULL;
}

size_t record_count(const struct record *record, bool confirming)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n; i++)
        n += !confirming || record->samples[i].confirming;
    return n;
}

uint64_t record_warnings(const struct record *record, bool confirming)
{
    size_t count[64] = {0}, n = record_count(record, confirming);
    uint64_t mostly = record->warning_set;
    for (size_t i = 0; i < record->n; i++) {
        for (unsigned bit = 0; bit < 64 && (!confirming || record->samples[i].confirming); bit++)
            count[bit] += record->samples[i].warning_set >> bit & 1;
    }
    for (unsigned bit = 0; bit < 64; bit++)
        mostly |= 2 * count[bit] > n ? UINT64_C(1) << bit : 0;
    return mostly;
}

/* A figure of a sample, by its place. */
#define FIGURE(member) offsetof(struct sample, member)

/* The figures of all replays, or of those after the choice, in the order of time; room holds record->n. */
static size_t list_figures(const struct record *record, bool confirming, size_t figure, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n; i++) {
        if (!confirming || record->samples[i].confirming)
            room[n++] = *(const double *)(const void *)((const char *)&record->samples[i] + figure);
    }
    return n;
}

struct moments record_log_moments(const struct record *record, bool confirming)
{
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        if (!confirming || record->samples[i].confirming)
            moments_add(&moments, log(record->samples[i].throughput_bps));
    }
    return moments;
}

struct moments record_neighbour_costs(const struct record *record, bool confirming)
{
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        const struct sample *sample = &record->samples[i];
        if ((sample->confirming || !confirming) && isfinite(sample->neighbour_cost))
            moments_add(&moments, sample->neighbour_cost);
    }
    return moments;
}

static int fill_percentiles(const struct record *record, bool confirming, double confidence,
                            struct latency_row *row)
{
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return -ENOMEM;
    histogram_init(latency);
    for (int i = confirming ? 1 : 0; i < 2; i++) {
        if (record->latency[i] != NULL)
            histogram_merge(latency, record->latency[i]);
    }
    if (latency->n > 0)
        row->max = (double)latency->max_ns;
    int result = percentiles_fill(record, confirming, confidence, latency, row);
    free(latency);
    return result;
}

/* Mean, scatter and interval of a figure over the replays listed in room. */
static struct moments moments_over(const struct record *record, bool confirming, size_t figure, double *room)
{
    return moments_of(room, list_figures(record, confirming, figure, room));
}

static struct interval interval_over(const struct record *record, bool confirming, size_t figure,
                                     double confidence, double *room, bool *ret_corrected)
{
    return skew_interval(room, list_figures(record, confirming, figure, room), confidence, ret_corrected);
}

int row_of(const struct record *record, bool confirming, double confidence, struct row *ret_row)
{
    if (record_count(record, confirming) == 0)
        return -ENODATA;
    double *room = malloc(record->n * sizeof *room);
    if (room == NULL)
        return -ENOMEM;
    struct moments moments = moments_over(record, confirming, FIGURE(throughput_bps), room);
    struct row row = {
        .point = record->point,
        .mean_bps = moments.mean,
        .std_bps = moments.n > 1 ? moments.std : NAN,
        .iops = moments_over(record, confirming, FIGURE(iops), room).mean,
        .replays = moments.n,
        .achieved_depth = moments_over(record, confirming, FIGURE(achieved_depth), room).mean,
        .latency_ns = {.mean = moments_over(record, confirming, FIGURE(latency_mean_ns), room).mean,
                       .max = NAN},
        .mostly = record_warnings(record, confirming),
        .warning_set = record->warning_set,
    };
    struct interval interval =
        interval_over(record, confirming, FIGURE(throughput_bps), confidence, room, &row.ci_corrected);
    row.ci_low_bps = interval.low;
    row.ci_high_bps = interval.high;
    interval = interval_over(record, confirming, FIGURE(latency_mean_ns), confidence, room,
                             &row.latency_ns.ci_corrected);
    row.latency_ns.ci_low = interval.low;
    row.latency_ns.ci_high = interval.high;
    for (size_t i = 0; i < record->n; i++) {
        if (!confirming || record->samples[i].confirming) {
            row.warning_set |= record->samples[i].warning_set;
            row.latency_ns.sampled |= record->samples[i].sampled;
        }
    }
    /* All replays, also those before the choice, tell whether the rate is pinned in the end. */
    if (warnings_pinned(room, list_figures(record, false, FIGURE(throughput_bps), room)))
        row.warning_set |= WARNINGS_BIT(WARNING_RATE_PINNED);
    free(room);
    int result = fill_percentiles(record, confirming, confidence, &row.latency_ns);
    if (result == 0)
        *ret_row = row;
    return result;
}
