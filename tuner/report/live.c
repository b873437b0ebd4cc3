/* The status line of a search or an experiment. */
#include "tuner/report/live.h"

#include "bench/base/units.h"
#include "tuner/search/objective.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const char *format_figure(enum live_unit unit, double value, char text[UNITS_TEXT_SIZE])
{
    char count[UNITS_TEXT_SIZE];
    if (unit == LIVE_BYTES_PER_S)
        return units_format_rate(value, text);
    if (unit == LIVE_NS)
        return value < 1e18 ? units_format_duration((uint64_t)llround(value), text) : "n/a";
    snprintf(text, UNITS_TEXT_SIZE, "%.*s/s", UNITS_TEXT_SIZE - 3, units_format_count(value, count));
    return text;
}

static void format_best(const struct live *live, char *ret_text, size_t size)
{
    char figure[UNITS_TEXT_SIZE], scatter[UNITS_TEXT_SIZE] = "";
    struct interval interval = student_interval(live->best_logs, live->confidence);
    if (live->best_logs.n == 0) {
        snprintf(ret_text, size, "no best yet");
        return;
    }
    if (isfinite(interval.high))
        snprintf(scatter, sizeof scatter, " +-%.1f %%", expm1(interval.high - live->best_logs.mean) * 100);
    snprintf(ret_text, size, "best %s%s (%s)", format_figure(live->unit, exp(live->best_logs.mean), figure),
             scatter, live->best);
}

void live_show(const struct live *live, struct progress *progress)
{
    char best[LIVE_NAME_SIZE + 2 * UNITS_TEXT_SIZE + 16];
    format_best(live, best, sizeof best);
    progress_show(progress, "%.0f s left  %s  now %s", fmax(live->seconds_left, 0), best, live->now);
}

static enum live_unit unit_of(enum objective objective)
{
    if (objective_table[objective].lower)
        return LIVE_NS;
    return objective == OBJECTIVE_IOPS ? LIVE_PER_S : LIVE_BYTES_PER_S;
}

/* The best by the belief, which may know better than few replays that came out high. */
static void set_best(const struct tune *tune, struct live *live)
{
    size_t best = belief_best(&tune->engine.belief, 1);
    const struct record *record = &tune->records[best];
    if (best >= tune->space.n_points || record->failed != 0 || record->samples[0].cut ||
        engine_misses_limit(&tune->engine, best))
        return;
    live->best_logs =
        objective_log_moments(record, false, objective_table[tune->settings->search.objective].value);
    factors_format(&record->point, live->best);
}

static void show_before_run(struct tune *tune, size_t point, bool confirming)
{
    if (!progress_is_due(&tune->session->progress))
        return;
    struct live live = {.seconds_left =
                            (double)tune->settings->limits.budget_ns / 1e9 - session_seconds(tune->session),
                        .unit = unit_of(tune->settings->search.objective),
                        .confidence = tune->settings->runs.confidence_share};
    char name[FACTORS_TEXT_SIZE];
    snprintf(live.now, sizeof live.now, "%s%s", factors_format(&tune->records[point].point, name),
             confirming ? ", confirming" : "");
    set_best(tune, &live);
    live_show(&live, &tune->session->progress);
}

const struct tune_observer live_tune = {.run_begins = show_before_run};
