/* The status line of an experiment. */
#include "tuner/experiment/live_experiment.h"

#include "tuner/report/live.h"

#include <math.h>
#include <stdio.h>

static void name_cell(const struct experiment *experiment, const struct experiment_cell *cell,
                      char ret_name[LIVE_NAME_SIZE])
{
    char text[FACTORS_TEXT_SIZE];
    snprintf(ret_name, LIVE_NAME_SIZE, "%s, %s",
             experiment->settings->experiment.patterns[cell->level[FACTOR_N + CONDITION_PATTERN]].name,
             factors_format(&cell->record.point, text));
}

static void set_best(const struct experiment *experiment, struct live *live)
{
    for (size_t i = 0; i < experiment->n_cells; i++) {
        const struct experiment_cell *cell = &experiment->cells[i];
        if (cell->record.n == 0 || cell->record.failed != 0)
            continue;
        struct moments logs = record_log_moments(&cell->record, false);
        if (!isfinite(logs.mean) || (live->best_logs.n > 0 && logs.mean <= live->best_logs.mean))
            continue;
        live->best_logs = logs;
        name_cell(experiment, cell, live->best);
    }
}

void live_experiment_show(const struct experiment *experiment, size_t run, double seconds_left)
{
    struct progress *progress = &experiment->session->progress;
    if (!progress_is_due(progress))
        return;
    struct live live = {.seconds_left = seconds_left,
                        .unit = LIVE_BYTES_PER_S,
                        .confidence = experiment->settings->runs.confidence_share};
    name_cell(experiment, &experiment->cells[experiment->order[run]], live.now);
    set_best(experiment, &live);
    live_show(&live, progress);
}
