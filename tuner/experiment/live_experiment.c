/* The live view of an experiment. */
#include "tuner/experiment/live_experiment.h"

#include "bench/base/units.h"
#include "tuner/report/live.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static void name(const struct experiment *experiment, const struct experiment_cell *cell,
                 char ret_name[LIVE_NAME_SIZE])
{
    char text[FACTORS_TEXT_SIZE];
    snprintf(ret_name, LIVE_NAME_SIZE, "%s, %s",
             experiment->settings->experiment.patterns[cell->level[FACTOR_N + CONDITION_PATTERN]].name,
             factors_format(&cell->record.point, text));
}

static void offer_all(const struct experiment *experiment, struct live *live)
{
    for (size_t i = 0; i < experiment->n_cells; i++) {
        const struct record *record = &experiment->cells[i].record;
        if (record->n == 0 || record->failed != 0)
            continue;
        struct live_row row = {.id = i, .logs = record_log_moments(record, false)};
        row.worth = row.logs.mean;
        if (isfinite(row.worth))
            live_offer(live, &row);
    }
    for (size_t i = 0; i < live->n_rows; i++)
        name(experiment, &experiment->cells[live->rows[i].id], live->rows[i].name);
}

void live_experiment_show(const struct experiment *experiment, size_t run, double seconds_left)
{
    struct progress *progress = &experiment->session->progress;
    char left[UNITS_TEXT_SIZE];
    if (!progress_is_due(progress))
        return;
    struct live live = {.done_share = (double)experiment->n_made / (double)experiment->n_runs,
                        .unit = LIVE_BYTES_PER_S,
                        .confidence = experiment->settings->confidence_share};
    snprintf(live.progress, sizeof live.progress, "run %zu of %zu  %s left", experiment->n_made + 1,
             experiment->n_runs, units_format_duration((uint64_t)(seconds_left * 1e9), left));
    name(experiment, &experiment->cells[experiment->order[run]], live.now);
    offer_all(experiment, &live);
    live.has_best = live.n_rows > 0;
    if (live.has_best)
        live.best = live.rows[0];
    live_show(&live, progress);
}
