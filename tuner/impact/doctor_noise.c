/* The noise floor: the same short run again and again. */
#include "tuner/impact/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define REQUEST_BYTES 16384
#define LEAST_RUNS    4 /* two there, two elsewhere: doctor_placement */
#define N_PARTS       10
#define MOST_REPLAYS  100000

double doctor_noise_window_cv(const struct pump_windows *windows)
{
    double parts[PUMP_N_WINDOWS] = {0};
    size_t width = windows->n / N_PARTS > 0 ? windows->n / N_PARTS : 1;
    /* The last part is left out: it ends with the run and may be shorter. */
    size_t n = windows->n > 0 ? (windows->n - 1) / width : 0;
    for (size_t i = 0; i < n * width; i++)
        parts[i / width] += (double)windows->bytes[i];
    struct moments moments = moments_of(parts, n);
    return n >= 3 && moments.mean > 0 ? moments.std / moments.mean : NAN;
}

double doctor_noise_resolves(double cv, size_t n)
{
    if (n < 2)
        return NAN;
    double t = student_quantile((1 + DOCTOR_NOISE_CONFIDENCE) / 2, 2.0 * (double)n - 2);
    return t * cv * sqrt(2.0 / (double)n);
}

size_t doctor_noise_replays_for(double cv, double difference_share)
{
    size_t low = 2, high = MOST_REPLAYS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (doctor_noise_resolves(cv, middle) <= difference_share)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void doctor_noise_summarise(struct doctor_noise *noise, const double *throughput_bps, size_t n)
{
    struct moments moments = moments_of(throughput_bps, n);
    noise->n = n;
    noise->mean_bps = n > 0 ? moments.mean : NAN;
    noise->interval = student_interval(moments, DOCTOR_NOISE_CONFIDENCE);
    noise->half_width_share = (noise->interval.high - noise->interval.low) / 2 / noise->mean_bps;
    noise->run_cv = n >= 2 ? moments.std / moments.mean : NAN;
}

static struct measure_plan plan_for(const struct session *session)
{
    const struct target *target = &session->target;
    bool direct = target->direct_read == TARGET_DIRECT_PROVED;
    uint64_t size = REQUEST_BYTES;
    if (direct && target->direct_offset_align_bytes > size)
        size = target->direct_offset_align_bytes;
    struct measure_plan plan = {
        .point = {.request_size_bytes = size,
                  .queue_depth = 1,
                  .direct = direct ? 1 : 0,
                  .api = API_PSYNC,
                  .threads = 1,
                  .sync = SYNC_END},
        .duration_ns = DOCTOR_NOISE_DURATION_NS,
        .warmup_limit_ns = DOCTOR_NOISE_DURATION_NS / 10,
        .warmup_coef = session->settings->runs.warmup_coef_share,
        .warmup_window = session->settings->runs.warmup_window,
        .batch_requests = session->settings->runs.batch_requests,
    };
    pattern_parse("randread", &plan.pattern, NULL);
    return plan;
}

/* What the runs add up to. */
struct series {
    double throughput_bps[DOCTOR_NOISE_RUNS];
    double seconds, window_variance;
    size_t n, n_windowed;
};

static void add_noise_run(struct series *series, const struct measure_result *result)
{
    double cv = doctor_noise_window_cv(&result->windows);
    series->throughput_bps[series->n++] = result->throughput_bps;
    series->seconds += result->seconds;
    if (isfinite(cv)) {
        series->window_variance += cv * cv;
        series->n_windowed++;
    }
}

/* A memory file system never gets cold, and its cold runs end when they have read their share of the file. */
static bool must_be_warm(struct session *session, const struct measure_result *run)
{
    bool warm = session->env.cache == MEASURE_CACHE_COLD && run->ended_by_bytes &&
                run->seconds < (double)DOCTOR_NOISE_DURATION_NS / 2e9;
    if (warm)
        session->env.cache = MEASURE_CACHE_WARM;
    return warm;
}

static int make_runs(struct session *session, struct measure_plan *plan, struct doctor_placement *placement,
                     struct series *series, struct histogram *latency, struct err *err)
{
    double start = session_seconds(session);
    while (series->n < DOCTOR_NOISE_RUNS) {
        struct measure_result run;
        if (series->n >= LEAST_RUNS && session_seconds(session) - start > DOCTOR_NOISE_LIMIT_SECONDS)
            break;
        progress_show(&session->progress, "noise floor: run %zu of %d", series->n + 1, DOCTOR_NOISE_RUNS);
        histogram_init(latency);
        doctor_placement_go(placement, series->n);
        int result = session_measure(session, plan, &run, latency, err);
        if (result < 0)
            return result;
        if (plan->point.direct == 0 && must_be_warm(session, &run))
            *series = (struct series){0};
        else
            add_noise_run(series, &run);
    }
    return 0;
}

void doctor_noise_measure(struct session *session, struct doctor_noise *ret_noise)
{
    struct err err = {0};
    struct measure_plan plan = plan_for(session);
    struct series series = {0};
    struct histogram *latency = malloc(sizeof *latency);
    doctor_placement_find(&session->env.device, &ret_noise->placement);
    int result = latency != NULL ? make_runs(session, &plan, &ret_noise->placement, &series, latency, &err)
                                 : err_set(&err, -ENOMEM, "no memory for a latency histogram");
    free(latency);
    doctor_placement_leave();
    doctor_placement_compare(&ret_noise->placement, series.throughput_bps, series.n);
    doctor_noise_summarise(ret_noise, series.throughput_bps, series.n);
    ret_noise->point = plan.point;
    ret_noise->warm = plan.point.direct == 0 && session->env.cache == MEASURE_CACHE_WARM;
    ret_noise->run_seconds = series.n > 0 ? series.seconds / (double)series.n : NAN;
    ret_noise->window_cv =
        series.n_windowed > 0 ? sqrt(series.window_variance / (double)series.n_windowed) : NAN;
    ret_noise->failed = result < 0;
    if (result < 0)
        snprintf(ret_noise->why, sizeof ret_noise->why, "%s", err.text);
}
