/* The live view of a search. */
#include "tuner/report/live_tune.h"

#include "tuner/report/live.h"
#include "tuner/search/objective.h"

#include <math.h>
#include <stdio.h>

static bool competes(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    return record->n > 0 && record->failed == 0 && !record->samples[0].cut && !tune->belief.excluded[point] &&
           !tune_misses_p99(tune, point);
}

static struct live_row row_of_point(const struct tune *tune, size_t point)
{
    return (struct live_row){
        .id = point,
        .worth = tune->belief.moments[point].mean,
        .logs = objective_log_moments(&tune->records[point], false,
                                      objective_table[tune->settings->objective].value),
    };
}

static void name(const struct tune *tune, struct live_row *row)
{
    factors_format(&tune->records[row->id].point, row->name);
}

static void offer_all(const struct tune *tune, struct live *live)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (!competes(tune, i))
            continue;
        struct live_row row = row_of_point(tune, i);
        if (isfinite(row.worth) && row.logs.n > 0 && isfinite(row.logs.mean))
            live_offer(live, &row);
    }
    for (size_t i = 0; i < live->n_rows; i++)
        name(tune, &live->rows[i]);
}

/* By the belief, which may know better than few replays. */
static void set_best(const struct tune *tune, struct live *live)
{
    size_t best = belief_best(&tune->belief, 1);
    live->has_best = live->n_rows > 0;
    if (!live->has_best)
        return;
    live->best = live->rows[0];
    if (best >= tune->space.n_points || !competes(tune, best))
        return;
    live->best = row_of_point(tune, best);
    name(tune, &live->best);
}

static enum live_unit unit_of(enum objective objective)
{
    if (objective_table[objective].lower)
        return LIVE_NS;
    return objective == OBJECTIVE_IOPS ? LIVE_PER_S : LIVE_BYTES_PER_S;
}

static void show_before_run(struct tune *tune, size_t point, bool confirming)
{
    if (!progress_is_due(&tune->session->progress))
        return;
    double seconds = session_seconds(tune->session), budget_s = (double)tune->settings->budget_ns / 1e9;
    struct live live = {.done_share = seconds / budget_s,
                        .unit = unit_of(tune->settings->objective),
                        .confidence = tune->settings->confidence_share};
    snprintf(live.progress, sizeof live.progress, "%3.0f s of %.0f  %s  run %llu", seconds, budget_s,
             confirming ? "confirming" : "searching", (unsigned long long)tune->session->n_runs + 1);
    factors_format(&tune->records[point].point, live.now);
    offer_all(tune, &live);
    set_best(tune, &live);
    live_show(&live, &tune->session->progress);
}

const struct tune_observer live_tune = {.run_begins = show_before_run};
