/* Replays of every point and the figures made from them. */
#include "tuner/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define DEPTH_SHARE      0.8
#define SELF_CHECK_SHARE 0.10
/* Requests that must lie beyond a quantile before it is printed. */
#define BEYOND_QUANTILE 5

const struct caution_row caution_table[] = {
    {CAUTION_WARMUP_LIMIT, "warmup_not_stable",
     "batch latencies were still scattering when the warm-up's time was over"},
    {CAUTION_DEPTH, "depth_not_achieved",
     "fewer requests were in flight than asked for: the API or the file system does not "
     "run them side by side"},
    {CAUTION_SELF_CHECK, "latency_self_check",
     "mean latency x IOPS differs from the achieved depth by more than 10 %: requests "
     "wait inside the submitting call"},
    {CAUTION_NOT_COLD, "not_cold", "pages of the file stayed in the page cache although it was dropped"},
    {CAUTION_UNVERIFIED, "cache_state_unverified",
     "the kernel does not tell whether the file was out of the page cache"},
    {CAUTION_NOT_SETTLED, "not_settled",
     "the device was still busy after the run: something else uses it, or it is very slow"},
    {CAUTION_PVEC_CONTIGUOUS, "pvec_contiguous",
     "the requests of one preadv/pwritev lie side by side and share its latency"},
};
const size_t caution_n = sizeof caution_table / sizeof caution_table[0];

static unsigned cautions_of(const struct measure_plan *plan, const struct measure_result *result, bool cold)
{
    unsigned cautions = 0;
    const struct point *point = &plan->point;
    if (result->warmup == MEASURE_WARMUP_LIMIT)
        cautions |= CAUTION_WARMUP_LIMIT;
    if (result->achieved_depth < DEPTH_SHARE * point->queue_depth)
        cautions |= CAUTION_DEPTH;
    if (result->littles_law_error > SELF_CHECK_SHARE)
        cautions |= CAUTION_SELF_CHECK;
    if (cold && pattern_reads(&plan->pattern) && result->cold == TARGET_COLD_NOT)
        cautions |= CAUTION_NOT_COLD;
    if (cold && pattern_reads(&plan->pattern) && result->cold == TARGET_COLD_UNVERIFIED)
        cautions |= CAUTION_UNVERIFIED;
    if (!result->settled)
        cautions |= CAUTION_NOT_SETTLED;
    if (point->api == API_PVEC && pattern_is_random(&plan->pattern))
        cautions |= CAUTION_PVEC_CONTIGUOUS;
    return cautions;
}

static double quantile_or_nan(const struct histogram *latency, double share)
{
    uint64_t ns = 0;
    if ((double)latency->n * (1 - share) < BEYOND_QUANTILE * (share > 0.5 ? 1 : 0) || latency->n == 0)
        return NAN;
    return histogram_quantile_ns(latency, share, &ns) == 0 ? (double)ns : NAN;
}

struct sample sample_of(const struct measure_plan *plan, const struct measure_result *result,
                        const struct histogram *latency, bool cold)
{
    struct sample sample = {
        .throughput_bps = result->throughput_bps,
        .iops = result->iops,
        .latency_mean_ns = NAN,
        .latency_p99_ns = quantile_or_nan(latency, 0.99),
        .achieved_depth = result->achieved_depth,
        .seconds = result->seconds,
        .warmup_seconds = result->warmup_seconds,
        .bytes = result->bytes_read + result->bytes_written,
        .warmup = result->warmup,
        .sampled = result->sampled,
        .cautions = cautions_of(plan, result, cold),
    };
    double mean_ns = 0;
    if (histogram_mean_ns(latency, &mean_ns) == 0)
        sample.latency_mean_ns = mean_ns;
    return sample;
}

static struct histogram *histogram_for(struct record *record, bool fresh)
{
    struct histogram **place = &record->latency[fresh ? 1 : 0];
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
    struct histogram *into = histogram_for(record, sample->fresh);
    if (into == NULL)
        return -ENOMEM;
    histogram_merge(into, latency);
    record->samples[record->n++] = *sample;
    return 0;
}

void record_done(struct record *record)
{
    free(record->samples);
    free(record->latency[0]);
    free(record->latency[1]);
    *record = (struct record){0};
}

void record_age(struct record *record)
{
    for (size_t i = 0; i < record->n; i++)
        record->samples[i].fresh = false;
    if (record->latency[0] == NULL) {
        record->latency[0] = record->latency[1];
    } else if (record->latency[1] != NULL) {
        histogram_merge(record->latency[0], record->latency[1]);
        free(record->latency[1]);
    }
    record->latency[1] = NULL;
}

size_t record_count(const struct record *record, bool fresh)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n; i++)
        n += !fresh || record->samples[i].fresh;
    return n;
}

static struct moments moments_over(const struct record *record, bool fresh,
                                   double (*value)(const struct sample *sample))
{
    /* Welford's recurrence: no array is needed. */
    struct moments moments = {0};
    double m2 = 0;
    for (size_t i = 0; i < record->n; i++) {
        if (fresh && !record->samples[i].fresh)
            continue;
        double x = value(&record->samples[i]);
        double delta = x - moments.mean;
        moments.n++;
        moments.mean += delta / (double)moments.n;
        m2 += delta * (x - moments.mean);
    }
    moments.std = moments.n > 1 ? sqrt(fmax(m2, 0) / (double)(moments.n - 1)) : 0;
    return moments;
}

static double log_throughput(const struct sample *sample)
{
    return log(sample->throughput_bps);
}

static double throughput(const struct sample *sample)
{
    return sample->throughput_bps;
}

static double iops(const struct sample *sample)
{
    return sample->iops;
}

static double latency_mean(const struct sample *sample)
{
    return sample->latency_mean_ns;
}

static double depth(const struct sample *sample)
{
    return sample->achieved_depth;
}

struct moments record_log_moments(const struct record *record, bool fresh)
{
    return moments_over(record, fresh, log_throughput);
}

static struct latency_row latency_row_of(const struct record *record, bool fresh, double confidence,
                                         const struct histogram *latency)
{
    struct moments moments = moments_over(record, fresh, latency_mean);
    struct interval interval = student_interval(moments, confidence);
    struct latency_row row = {
        .mean = moments.mean,
        .ci_low = interval.low,
        .ci_high = interval.high,
        .p50 = quantile_or_nan(latency, 0.5),
        .p99 = quantile_or_nan(latency, 0.99),
        .p999 = quantile_or_nan(latency, 0.999),
        .max = latency->n > 0 ? (double)latency->max_ns : NAN,
    };
    return row;
}

int row_of(const struct record *record, bool fresh, double confidence, struct row *ret_row)
{
    struct moments moments = moments_over(record, fresh, throughput);
    if (moments.n == 0)
        return -ENODATA;
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return -ENOMEM;
    histogram_init(latency);
    for (int i = fresh ? 1 : 0; i < 2; i++) {
        if (record->latency[i] != NULL)
            histogram_merge(latency, record->latency[i]);
    }
    struct interval interval = student_interval(moments, confidence);
    struct row row = {
        .point = record->point,
        .mean_bps = moments.mean,
        .ci_low_bps = interval.low,
        .ci_high_bps = interval.high,
        .std_bps = moments.n > 1 ? moments.std : NAN,
        .iops = moments_over(record, fresh, iops).mean,
        .replays = moments.n,
        .achieved_depth = moments_over(record, fresh, depth).mean,
        .latency_ns = latency_row_of(record, fresh, confidence, latency),
    };
    free(latency);
    for (size_t i = 0; i < record->n; i++) {
        if (!fresh || record->samples[i].fresh) {
            row.cautions |= record->samples[i].cautions;
            row.latency_ns.sampled |= record->samples[i].sampled;
        }
    }
    *ret_row = row;
    return 0;
}
