/* The one place where the search meets the measurement. */
#include "tuner/search/tune.h"

#include "tuner/search/objective.h"
#include "tuner/search/resume.h"
#include "tuner/session/neighbour_costs.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <math.h>

/* A point is taken to be faster than expected by so many standard deviations at most. */
#define FLUSH_STDS 2

/* A run that is slower than this is ended early; 0: none is. */
static double hopeless_bps(const struct tune *tune, const struct engine_run *run)
{
    if (tune->length.piloting || !tune->engine.is_of_rates)
        return 0;
    return exp(engine_hopeless(&tune->engine, run));
}

/* Buffered writes at this point are flushed no faster than known limits, its forgotten runs, or what is
 * believed of it allow. Decided before its first run, so that its replays have equal length. */
static double flush_bps(struct tune *tune, size_t point)
{
    struct record *record = &tune->records[point];
    const struct engine *engine = &tune->engine;
    if (record->n > 0 || point >= tune->space.n_points)
        return record->flush_bps;
    double most_bps = record->flush_bps > 0 ? record->flush_bps : INFINITY;
    if (engine->points[point].most_bps > 0)
        most_bps = fmin(most_bps, engine->points[point].most_bps);
    if (engine->belief.chosen != NULL && engine->is_of_rates)
        most_bps = fmin(most_bps,
                        exp(engine->belief.mean[point] + FLUSH_STDS * sqrt(engine->belief.variance[point])));
    record->flush_bps = isfinite(most_bps) ? most_bps : 0;
    return record->flush_bps;
}

struct measure_plan tune_plan_of(struct tune *tune, const struct engine_run *run)
{
    const struct settings *settings = tune->settings;
    size_t point = run->point;
    struct measure_plan plan = {
        .pattern = point == tune->engine.counterpart ? tune->sequential : settings->workload.pattern,
        .point = tune->records[point].point,
        .duration_ns = tune->duration_ns,
        .warmup_limit_ns = tune->length.warmup_limit_ns,
        .warmup_least_ns = tune->length.warmup_limit_ns > 0 ? tune->length.warmup_least_ns : 0,
        .hopeless_bps = hopeless_bps(tune, run),
        .flush_bps = flush_bps(tune, point),
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
        .rate_bps = objective_offered_bps(settings, &tune->records[point].point),
        .random_rate = settings->workload.rate_process != 0,
    };
    tune_transient_plan(tune, point, run->confirming, &plan);
    return plan;
}

/* A failing point is reported and left out; the search goes on. */
static void exclude(struct tune *tune, size_t point, int code, const struct err *why)
{
    char text[FACTORS_TEXT_SIZE];
    tune->records[point].failed = code;
    engine_fail(&tune->engine, point);
    if (point == tune->engine.counterpart)
        return;
    tune->failure = *why;
    notes_add(&tune->session->dropped, factors_format(&tune->records[point].point, text), "a run failed: %s",
              why->text);
}

/* The record drops it as the engine does. */
static void discard_cut(struct tune *tune, size_t point)
{
    struct record *record = &tune->records[point];
    if (record->n > 0 && record->samples[0].cut)
        tune_discard(tune, point);
}

/* Writes the run to the journal and to the history, where there are any. */
static void keep_elsewhere(struct tune *tune, size_t point, const struct measure_result *result)
{
    const struct record *record = &tune->records[point];
    resume_note(tune, point);
    save_note(tune->session, &record->point, &record->samples[record->n - 1], result);
}

/* The engine's limit on what settings cost their neighbours. */
static int tell_cost_to_others(struct tune *tune, size_t point, double cost_share)
{
    double within = tune->settings->search.neighbour_limit_share - cost_share;
    return tune->effects.n > 0 && point < tune->space.n_points && isfinite(within)
               ? effects_tell(&tune->effects, point, &within)
               : 0;
}

static int keep(struct tune *tune, const struct engine_run *run, const struct measure_plan *plan,
                const struct measure_result *result, uint64_t load_bytes)
{
    size_t point = run->point;
    const struct histogram *latency = tune->latency;
    tune->n_cut += result->cut;
    if (tune->length.discarded) {
        tune->length.n_discarded++;
        return 0;
    }
    discard_cut(tune, point);
    struct sample sample = sample_of(result, latency, session_warnings(tune->session, plan, result));
    sample.confirming = run->confirming;
    sample.at_seconds = tune_now(tune);
    sample.neighbour_cost = neighbour_costs_last(tune->session);
    tune_transient_take_off(tune, &sample);
    int added = record_add(&tune->records[point], &sample, latency);
    /* The counterpart has another pattern, and runs that end within the initial transient do not show the
     * rate that lasts. */
    bool lasts = run->confirming || !tune->length.start.taken_off;
    if (added == 0 && point != tune->engine.counterpart && !result->cut && lasts)
        added = sustained_add(&tune->sustained, point, load_bytes, plan, result);
    if (added == 0)
        added = tune_tell(tune, point, &tune->records[point].samples[tune->records[point].n - 1]);
    if (added == 0)
        added = tell_cost_to_others(tune, point, sample.neighbour_cost);
    if (added == 0)
        tune_weigh_trust(tune, point);
    if (added == 0 && point != tune->engine.counterpart)
        keep_elsewhere(tune, point, result);
    return added;
}

/* What a finished run teaches about the cost of runs, and about those to come. */
static void tell_cost(struct tune *tune, const struct engine_run *run, const struct measure_result *measured,
                      double seconds)
{
    if (!run->confirming || !tune->length.start.taken_off)
        engine_tell_cost(&tune->engine, run->point, seconds, measured->warmup_seconds, measured->seconds,
                         measured->throughput_bps);
    tune_transient_tell_waits(tune);
    if (tune->engine.phase <= ENGINE_RACE)
        tune_writes_reserve(tune);
}

/* A run that was not made, or that failed. */
static int give_up(struct tune *tune, const struct engine_run *run, int result, const struct err *why,
                   struct err *err)
{
    if (result == -EINTR) {
        tune->engine.stop = ENGINE_STOP_INTERRUPTED;
        return 0;
    }
    if (result == -EDQUOT && tune->session->paused_out) {
        tune->engine.stop = ENGINE_STOP_BUDGET;
        return 0;
    }
    /* One run more of this point could cross the write budget; a run of another may still fit. */
    if (result == -EDQUOT && tune->session->wrote_out) {
        engine_refuse(&tune->engine);
        return 0;
    }
    if (result != -ETIME && tune->session->target_lost) {
        tune->engine.stop = ENGINE_STOP_SPACE;
        return err_set(err, result, "%s", why->text);
    }
    if (result == -ETIME || result == -ENOLINK)
        tune->engine.stop = ENGINE_STOP_STALLED;
    /* A device that stalls in the end says nothing of a setting that ran before. */
    if (result != -ETIME || tune->records[run->point].n < ENGINE_MIN_REPLAYS)
        exclude(tune, run->point, result, why);
    return 0;
}

int tune_one_run(struct tune *tune, const struct engine_run *run, struct err *err)
{
    struct measure_plan plan = tune_plan_of(tune, run);
    struct measure_result measured;
    struct err why = {0};
    uint64_t start_ns = tune_now_ns(tune);
    uint64_t load_bytes = tune->session->bytes_read + tune->session->bytes_written;
    if (tune->observer != NULL)
        tune->observer->run_begins(tune, run->point, run->confirming);
    histogram_init(tune->latency);
    int result = session_measure(tune->session, &plan, &measured, tune->latency, &why);
    if (result < 0)
        return give_up(tune, run, result, &why, err);
    if (keep(tune, run, &plan, &measured, load_bytes) < 0)
        return err_set(err, -ENOMEM, "no memory for another replay");
    double seconds = (double)(tune_now_ns(tune) - start_ns) / 1e9;
    tune_length_note(tune, run->point, &plan, &measured, tune->latency, seconds);
    tell_cost(tune, run, &measured, seconds);
    return 0;
}

int tune_measure(struct tune *tune, const size_t *points, size_t n, double deadline_seconds, struct err *err)
{
    struct engine_run run;
    int result = 0;
    engine_queue(&tune->engine, points, n, false, deadline_seconds);
    while (result == 0 && engine_next(&tune->engine, tune_now(tune), &run))
        result = tune_one_run(tune, &run, err);
    return result;
}
