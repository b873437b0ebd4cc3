/* How a search treats the start of runs.
 *
 * Waiting for it to pass costs more than a short run itself. Where the start is alike for all points, as when
 * the device causes it, the runs of the search do not wait: what it adds to their rates, which the pilot has
 * seen window by window, is taken off. The replays after the choice, whose figures are reported, wait. */
#include "tuner/search/tune_transient.h"

#include "models/statistics/line.h"
#include "tuner/search/tune.h"

#include <math.h>

#define LEAST_RUNS 3
/* Starts are alike when log(early / late rate) scatters by no more from point to point. */
#define ALIKE_STD 0.05
/* With fewer requests by each slot of the queue, all were sent within the start, whenever they completed. */
#define LEAST_ROUNDS 10
/* The time kept for the replays after the choice has to hold blocks of so many points. */
#define BLOCK_POINTS 4

/* Mean rate between two shares of n windows, by that over all; a window that is cut counts in part. */
static double rate_between(const struct pump_windows *windows, size_t n, double from_share, double to_share)
{
    double all = 0, part = 0, from = from_share * (double)n, to = to_share * (double)n;
    for (size_t i = 0; i < n; i++) {
        double begin = fmax((double)i, from), end = fmin((double)(i + 1), to);
        part += end > begin ? (end - begin) * (double)windows->bytes[i] : 0;
        all += (double)windows->bytes[i];
    }
    return all > 0 ? part / (to - from) * (double)n / all : 0;
}

void tune_transient_add(struct tune_transient *start, const struct pump_windows *windows, size_t n)
{
    double early = rate_between(windows, n, 0, 0.25), late = rate_between(windows, n, 0.5, 1);
    /* A run that ended early, as at a cap on bytes, has no later part to compare with. */
    bool whole = (n + 1) * windows->width_ns > TUNE_TRANSIENT_RUN_NS;
    for (size_t i = 0; i < TUNE_TRANSIENT_N_WINDOWS; i++)
        start->rates[i] += rate_between(windows, n, (double)i / TUNE_TRANSIENT_N_WINDOWS,
                                        (double)(i + 1) / TUNE_TRANSIENT_N_WINDOWS);
    if (whole && early > 0 && late > 0)
        moments_add(&start->log_ratios, log(early / late));
    start->n_runs += rate_between(windows, n, 0, 1) > 0;
}

/* Requests of a run; the least that each run has while nothing is known of the point's rate. */
static double requests_of(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    bool known = record->n > 0 || point < tune->space.n_points;
    double bps = known ? engine_expected_bps(&tune->engine, point) : INFINITY, bytes = 0;
    if (isfinite(bps))
        bytes = fmin(bps, engine_fastest_bps(&tune->engine)) * (double)tune->duration_ns / 1e9;
    return fmax(bytes / measure_request_bytes(&tune->settings->workload.pattern, &record->point),
                MEASURE_MIN_REQUESTS);
}

/* Whether a point has so few requests that its runs wait for the start to pass in the search, too. */
static bool has_few_rounds(const struct tune *tune, size_t point)
{
    const struct point *setting = &tune->records[point].point;
    return requests_of(tune, point) < LEAST_ROUNDS * (double)setting->queue_depth * setting->threads;
}

/* Bursts are not a start, and what is left of them differs. A start cannot be taken off percentiles of
 * latency, and journals and histories are read by searches that do not know of it. */
static bool may_be_taken_off(const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    return rate_limit_bursts_least_ns(tune) == 0 && tune_is_of_throughput(tune) &&
           settings->search.max_latency_p99_ns == 0 && !profiles_wanted(settings) &&
           !settings_splits_sizes(settings) && tune->policy.takes_start_off &&
           settings->search.resume[0] == '\0' && settings->history.save[0] == '\0';
}

static double start_log(const struct tune_transient *start, double from_seconds, double seconds)
{
    return run_length_start_log(start->rates, TUNE_TRANSIENT_N_WINDOWS, (double)TUNE_TRANSIENT_RUN_NS / 1e9,
                                from_seconds, seconds);
}

void tune_transient_take_off(const struct tune *tune, struct sample *sample)
{
    const struct tune_transient *start = &tune->length.start;
    if (!start->taken_off)
        return;
    double log_factor = start_log(start, sample->warmup_seconds, sample->seconds);
    sample->throughput_bps *= exp(-log_factor);
    sample->iops *= exp(-log_factor);
    /* The percentiles of a search's run hold the start, so its mean has to hold it, too. */
    if (sample->confirming)
        sample->latency_mean_ns *= exp(start_log(start, sample->warmup_seconds - sample->trimmed_seconds,
                                                 sample->seconds + sample->trimmed_seconds));
}

double tune_transient_ratio(const struct tune *tune)
{
    const struct tune_transient *start = &tune->length.start;
    return start->taken_off ? exp(start_log(start, 0, (double)tune->duration_ns / 1e9)) : 1;
}

int tune_transient_decide(struct tune *tune)
{
    struct tune_length *length = &tune->length;
    const struct moments *ratios = &length->start.log_ratios;
    if (!may_be_taken_off(tune) || length->warmup_least_ns == 0 || ratios->n < LEAST_RUNS ||
        ratios->n < length->start.n_runs || ratios->std > ALIKE_STD)
        return 0;
    length->start.taken_off = true;
    for (size_t i = 0; i < tune->n_records; i++) {
        for (size_t k = 0; k < tune->records[i].n; k++)
            tune_transient_take_off(tune, &tune->records[i].samples[k]);
    }
    /* Requests are counted at the settled rates, as in the search. */
    for (size_t i = 0; i < tune->n_records; i++) {
        if (has_few_rounds(tune, i)) {
            tune_forget(tune, i);
        }
    }
    sustained_done(&tune->sustained);
    tune->sustained = (struct sustained){0};
    return tune_tell_again(tune);
}

/* Buffered writes have no warm-up. Their replays after the choice last so long, as far as the time that is
 * kept allows, that a start is a small part of them, or the slice of a known limit in which their flush ends.
 */
static uint64_t unwarmed_ns(const struct tune *tune)
{
    double kept_ns = (double)tune->settings->limits.budget_ns * tune->engine.policy.final_share;
    double most_ns = kept_ns / (ENGINE_CONFIRMING_LEAST * BLOCK_POINTS);
    double wanted_ns = 0;
    if (tune->length.start.taken_off)
        wanted_ns = TUNE_TRANSIENT_UNWARMED_RATIO * (double)tune->length.warmup_least_ns;
    else if (tune->length.bursts.known)
        wanted_ns = RATE_LIMIT_BURSTS_FLUSHED_NS;
    return (uint64_t)fmax(fmin(wanted_ns, most_ns), (double)tune->duration_ns);
}

/* The time that a start takes, without the margin; what is left of it then is taken off as well. */
static uint64_t settling_ns(const struct tune *tune)
{
    return tune->length.warmup_least_ns / LINE_MARGIN;
}

static bool has_no_warmup(const struct tune *tune, size_t point)
{
    return measure_writes_once(&tune->settings->workload.pattern, &tune->records[point].point);
}

void tune_transient_tell(const struct tune *tune)
{
    bool unwarmed = false;
    for (size_t i = 0; i < tune->n_records; i++)
        unwarmed |= has_no_warmup(tune, i);
    if (tune->length.start.taken_off)
        notes_add(&tune->session->warnings, "start_taken_off",
                  "runs start at %.2f times their settled rate, alike for all settings looked at: this was "
                  "taken off the rates of the search's runs; replays after the choice wait for it%s",
                  tune_transient_ratio(tune),
                  unwarmed ? ", except buffered writes, which have no warm-up: it was taken off theirs, too"
                           : "");
}

/* Whether a run of a point that has no warm-up is longer than others. */
static bool is_longer(const struct tune *tune, size_t point, bool confirming)
{
    return has_no_warmup(tune, point) &&
           (confirming || (tune->length.start.taken_off && has_few_rounds(tune, point)));
}

void tune_transient_plan(const struct tune *tune, size_t point, bool confirming, struct measure_plan *plan)
{
    if (tune->length.start.taken_off && !confirming) {
        bool waits = has_few_rounds(tune, point);
        plan->warmup_limit_ns = waits ? settling_ns(tune) : TUNE_LENGTH_WARMUP_NS;
        plan->warmup_least_ns = waits ? settling_ns(tune) : 0;
        plan->hopeless_bps = 0;
    }
    if (is_longer(tune, point, confirming))
        plan->duration_ns = unwarmed_ns(tune);
}

static double wait_seconds(const struct tune *tune, size_t point, bool confirming)
{
    if (is_longer(tune, point, confirming))
        return (double)(unwarmed_ns(tune) - tune->duration_ns) / 1e9;
    if (!tune->length.start.taken_off || has_no_warmup(tune, point) ||
        (!confirming && !has_few_rounds(tune, point)))
        return 0;
    return (double)(confirming ? tune->length.warmup_least_ns : settling_ns(tune)) / 1e9;
}

void tune_transient_tell_waits(struct tune *tune)
{
    for (size_t i = 0; i < tune->n_records; i++) {
        tune->engine.points[i].wait_seconds = wait_seconds(tune, i, false);
        tune->engine.points[i].confirming_wait_seconds = wait_seconds(tune, i, true);
    }
}
