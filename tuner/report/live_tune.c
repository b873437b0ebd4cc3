/* The status line of a search. */
#include "tuner/report/live_tune.h"

#include "tuner/report/live.h"
#include "tuner/search/objective.h"

#include <math.h>
#include <stdio.h>

static enum live_unit unit_of(enum objective objective)
{
    if (objective_table[objective].lower)
        return LIVE_NS;
    return objective == OBJECTIVE_IOPS ? LIVE_PER_S : LIVE_BYTES_PER_S;
}

/* The best by the belief, which may know better than few replays that came out high. */
static void set_best(const struct tune *tune, struct live *live)
{
    size_t best = belief_best(&tune->belief, 1);
    const struct record *record = &tune->records[best];
    if (best >= tune->space.n_points || record->failed != 0 || record->samples[0].cut ||
        tune_misses_p99(tune, best))
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
