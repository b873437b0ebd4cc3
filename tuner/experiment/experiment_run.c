/* The runs of an experiment, in their random order. */
#include "tuner/experiment/experiment.h"

#include "bench/base/units.h"
#include "tuner/report/live.h"
#include "tuner/store/history.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first run of a cell is bounded by time, and by batches where they were asked for; the others make as
 * many requests, which may take them longer. */
static struct measure_plan plan_of_cell(const struct experiment *experiment,
                                        const struct experiment_cell *cell)
{
    const struct settings *settings = experiment->settings;
    struct measure_plan plan = {
        .pattern = experiment->session->asked.pattern,
        .point = cell->record.point,
        .duration_ns = settings->runs.duration_ns,
        .warmup_limit_ns = settings->runs.warmup_limit_ns,
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
        .n_requests = cell->n_requests,
        .longest_ns = EXPERIMENT_LONGEST * settings->runs.duration_ns,
    };
    if (cell->n_requests != 0)
        return plan;
    plan.n_requests = (uint64_t)settings->experiment.batches * settings->runs.batch_requests;
    plan.longest_ns = plan.n_requests != 0 ? settings->runs.duration_ns : 0;
    return plan;
}

int experiment_add(struct experiment *experiment, size_t run, const struct sample *sample,
                   const struct histogram *latency)
{
    struct experiment_cell *cell = &experiment->cells[experiment->order[run]];
    const struct pattern *pattern = experiment_pattern(experiment, cell);
    size_t n = cell->record.n;
    int result = record_add(&cell->record, sample, latency);
    if (result < 0)
        return result;
    cell->numbers[n] = (uint32_t)run + 1;
    if (n == 0)
        cell->n_requests = (uint64_t)llround((double)sample->moved_bytes /
                                             measure_request_bytes(pattern, &cell->record.point));
    experiment->made[run] = true;
    experiment->n_made++;
    return 0;
}

/* Equal numbers of requests are the aim, not a promise. */
static void note_short(struct session *session, const struct experiment_cell *cell,
                       const struct measure_plan *plan, const struct measure_result *measured)
{
    bool is_late = measured->seconds * 1e9 >= (double)plan->longest_ns;
    if (cell->n_requests != 0 && is_late && measured->n_requests < plan->n_requests)
        notes_add(&session->warnings, "replay_shorter",
                  "replays that took %d times --duration ended before they had made as many requests as the "
                  "first run of their setting",
                  EXPERIMENT_LONGEST);
}

static int keep_run(struct experiment *experiment, size_t run, const struct measure_plan *plan,
                    const struct measure_result *measured, const struct histogram *latency)
{
    struct session *session = experiment->session;
    char conditions[HISTORY_CONDITIONS_SIZE];
    struct sample sample = sample_of(measured, latency, session_warnings(session, plan, measured));
    note_short(session, &experiment->cells[experiment->order[run]], plan, measured);
    int result = experiment_add(experiment, run, &sample, latency);
    if (result < 0)
        return result;
    const struct record *record = &experiment->cells[experiment->order[run]].record;
    const struct sample *kept = &record->samples[record->n - 1];
    experiment_resume_note(experiment, run, kept);
    experiment_conditions(experiment, &experiment->cells[experiment->order[run]], conditions,
                          sizeof conditions);
    save_note_under(session, conditions, &record->point, kept, measured);
    return 0;
}

static int exclude(struct experiment *experiment, struct experiment_cell *cell, const struct err *why)
{
    char text[FACTORS_TEXT_SIZE], what[FACTORS_TEXT_SIZE + PATTERN_NAME_SIZE + 2];
    snprintf(what, sizeof what, "%s, %s", experiment->session->asked.pattern.name,
             factors_format(&cell->record.point, text));
    notes_add(&experiment->session->dropped, what, "a run failed: %s", why->text);
    cell->record.failed = why->code;
    cell->failed = strdup(why->text);
    return cell->failed != NULL ? 0 : -ENOMEM;
}

/* What a failed run means: 0: go on with the next one; 1: no further run can be made; negative: no memory. */
static int judge_failure(struct experiment *experiment, struct experiment_cell *cell, int result,
                         const struct err *why)
{
    struct session *session = experiment->session;
    if (result == -EINTR) {
        experiment->interrupted = true;
        return 1;
    }
    if (result == -EDQUOT && session->wrote_out) {
        experiment->n_refused++;
        notes_add(&session->warnings, "max_write", "runs are missing: %s", why->text);
        return 0;
    }
    if (session->target_lost) {
        experiment->stopped = result;
        notes_add(&session->warnings, result == -EBUSY ? "file_in_use" : "no_space",
                  "the experiment ended early: %s", why->text);
        return 1;
    }
    return exclude(experiment, cell, why);
}

static int make_experiment_run(struct experiment *experiment, size_t run, struct histogram *latency)
{
    struct experiment_cell *cell = &experiment->cells[experiment->order[run]];
    struct measure_result measured;
    struct err why = {0};
    experiment_enter(experiment, cell);
    struct measure_plan plan = plan_of_cell(experiment, cell);
    histogram_init(latency);
    int result = session_measure(experiment->session, &plan, &measured, latency, &why);
    return result < 0 ? judge_failure(experiment, cell, result, &why)
                      : keep_run(experiment, run, &plan, &measured, latency);
}

/* ---- the status line ---- */

static void name_cell(const struct experiment *experiment, const struct experiment_cell *cell,
                      char ret_name[LIVE_NAME_SIZE])
{
    char text[FACTORS_TEXT_SIZE];
    snprintf(ret_name, LIVE_NAME_SIZE, "%s, %s", experiment_pattern(experiment, cell)->name,
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

void experiment_show_run(const struct experiment *experiment, size_t run, double seconds_left)
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

/* Runs to come as long as those of this command were, and as long as was planned before the first one. */
static double seconds_left(const struct experiment *experiment, size_t n_here)
{
    double spent_s = (double)(clock_now_ns(&experiment->session->clock) - experiment->begin_ns) / 1e9;
    double left = (double)(experiment->n_runs - experiment->n_made);
    return n_here == 0 ? experiment_seconds_likely(experiment) : spent_s / (double)n_here * left;
}

/* Said before the time is spent: at the rate of filling, the write budget ends the runs early. */
static void warn_of_budget(const struct experiment *experiment)
{
    struct session *session = experiment->session;
    char bytes[UNITS_TEXT_SIZE], budget[UNITS_TEXT_SIZE];
    double run_bytes = session->target.fill_bps * (double)experiment->settings->runs.duration_ns / 1e9;
    double expected = 0;
    for (size_t i = 0; i < experiment->n_runs && !session->simulated; i++) {
        const struct experiment_cell *cell = &experiment->cells[experiment->order[i]];
        const struct pattern *pattern = experiment_pattern(experiment, cell);
        double writes = pattern->percent[PATTERN_SEQ_WRITE] + pattern->percent[PATTERN_RAND_WRITE];
        if (!experiment->made[i] && !cell->left_out)
            expected += run_bytes * writes / 100;
    }
    double limit =
        fmin((double)session->write_limit_bytes, (double)experiment->settings->limits.max_write_bytes);
    if (expected + (double)session->bytes_written <= limit)
        return;
    notes_add(
        &session->warnings, "max_write_expected",
        "at the rate of filling, the runs would write %s, more than the %s of --max-write: raise it, or "
        "runs will be missing",
        units_format_bytes((uint64_t)expected, bytes), units_format_bytes((uint64_t)limit, budget));
    if (!experiment->settings->quiet)
        fprintf(stderr, "fstune: warning: %s\n", session->warnings.note[session->warnings.n - 1].text);
}

int experiment_run(struct experiment *experiment, struct err *err)
{
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    int result = 0;
    size_t n_here = 0;
    warn_of_budget(experiment);
    experiment->begin_ns = clock_now_ns(&experiment->session->clock);
    for (size_t run = 0; run < experiment->n_runs && result == 0; run++) {
        const struct experiment_cell *cell = &experiment->cells[experiment->order[run]];
        if (experiment->made[run] || cell->left_out || cell->record.failed != 0)
            continue;
        experiment_show_run(experiment, run, seconds_left(experiment, n_here++));
        result = make_experiment_run(experiment, run, latency);
    }
    if (!experiment->session->abandoned)
        experiment_leave(experiment);
    free(latency);
    return result < 0 ? err_set(err, result, "no memory for another run") : 0;
}
