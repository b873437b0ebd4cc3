/* The nights of a target of a history, and what was decided about its settings, as data of pictures. */
#include "tuner/base/json.h"
#include "tuner/picture/plot_data.h"
#include "tuner/store/history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN    80
#define BIT(bit) (1U << (bit))

static int add_point(struct plot_data *data, const struct point *point, size_t *ret_point)
{
    json_t *row = json_point(point);
    int result = row != NULL ? plot_data_point_json(data, row, ret_point) : -ENOMEM;
    json_decref(row);
    return result;
}

/* The figure of the current setting stands in a night's own member; the recommendation's is that of another
 * setting where a change is advised. */
static int read_night_figures(struct plot_data *data, const struct history_info *run, const json_t *document,
                              struct plot_night *night)
{
    const json_t *own = json_object_get(document, "night"), *point = json_object_get(own, "in_force");
    const json_t *figure = json_object_get(own, "throughput_in_force");
    double confidence = journal_number(json_object_get(document, "throughput"), "confidence");
    data->confidence_share = confidence < 1 ? confidence : data->confidence_share;
    if (json_is_object(point) && json_is_object(figure)) {
        night->mean_bps = journal_number(figure, "mean");
        night->ci_low_bps = journal_number(figure, "ci_low");
        night->ci_high_bps = journal_number(figure, "ci_high");
        return plot_data_point_json(data, point, &night->point);
    }
    night->mean_bps = run->has_point ? run->mean_bps : NAN;
    night->ci_low_bps = run->ci_low_bps;
    night->ci_high_bps = run->ci_high_bps;
    return run->has_point ? add_point(data, &run->point, &night->point) : 0;
}

/* A run that ended without a figure is a night that was skipped; one under way or stopped says nothing. */
static int add_history_run(struct plot_data *data, struct history *history, const struct history_info *run,
                           struct err *err)
{
    const unsigned silent = BIT(HISTORY_UNFINISHED) | BIT(HISTORY_INTERRUPTED);
    struct plot_night night = {.run_id = run->id, .at_s = run->started_s, .mean_bps = NAN};
    json_t *document = NULL;
    int result = history_document(history, run->id, &document, err);
    if (result < 0 && result != -ENODATA)
        return result;
    *err = (struct err){0};
    result = read_night_figures(data, run, document, &night);
    json_decref(document);
    if (result == 0 && isfinite(night.mean_bps) && night.mean_bps > 0)
        result = plot_data_add_night(data, &night);
    else if (result == 0 && (silent & BIT(run->status)) == 0)
        result = plot_data_add_event(
            data,
            &(struct plot_event){.kind = PLOT_EVENT_SKIPPED, .at_s = run->started_s, .run_id = run->id});
    return result == 0 ? 0 : err_set(err, result, "run %lld cannot be drawn", (long long)run->id);
}

static bool is_alike(const struct history_info *a, const struct history_info *b)
{
    return strcmp(a->command, b->command) == 0 && strcmp(a->pattern, b->pattern) == 0 &&
           strcmp(a->host, b->host) == 0 && strcmp(a->fingerprint, b->fingerprint) == 0;
}

static bool is_first_of_target(const struct history_info *runs, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(runs[k].target, runs[i].target) == 0)
            return false;
    }
    return true;
}

/* The newest run of the target; n: there is none. runs: the newest first, of all targets. */
static size_t find_newest(struct plot_data *data, const struct history_info *runs, size_t n,
                          const char *target)
{
    size_t newest = n;
    for (size_t i = 0; i < n; i++) {
        bool fits = target[0] == '\0' || strcmp(runs[i].target, target) == 0;
        newest = newest == n && fits ? i : newest;
        data->n_targets += is_first_of_target(runs, i);
    }
    data->is_newest_target = newest == 0;
    return newest;
}

static int add_runs(struct plot_data *data, struct history *history, const struct history_info *runs,
                    size_t n, const struct history_info *newest, struct err *err)
{
    size_t n_taken = 0;
    int result = 0;
    snprintf(data->target, sizeof data->target, "%.*s", PLOT_TEXT_SIZE - 1, newest->target);
    snprintf(data->place, sizeof data->place, "%.60s%s%.100s", newest->file_system,
             newest->file_system[0] != '\0' && newest->host[0] != '\0' ? ", " : "", newest->host);
    for (size_t i = n; i-- > 0 && result == 0;) {
        if (strcmp(runs[i].target, newest->target) != 0)
            continue;
        bool is_taken = i < PLOT_MAX_NIGHTS && is_alike(&runs[i], newest);
        data->n_elsewhere += !is_alike(&runs[i], newest);
        n_taken += is_taken;
        result = is_taken ? add_history_run(data, history, &runs[i], err) : 0;
    }
    if (result == 0 && data->n_nights == 0)
        result = err_set(err, -ENODATA, "none of the %zu runs%s%.*s has a result", n_taken,
                         newest->target[0] != '\0' ? " of target " : "", SHOWN, newest->target);
    return result;
}

static int add_change(struct plot_data *data, const struct history_change *change)
{
    static const enum plot_event_kind kinds[HISTORY_CHANGE_N] = {
        [HISTORY_CHANGE_FIRST] = PLOT_EVENT_CHANGE,      [HISTORY_CHANGE_MADE] = PLOT_EVENT_CHANGE,
        [HISTORY_CHANGE_ROLLBACK] = PLOT_EVENT_ROLLBACK, [HISTORY_CHANGE_SKIPPED] = PLOT_EVENT_SKIPPED,
        [HISTORY_CHANGE_ALARM] = PLOT_EVENT_ALARM,
    };
    struct plot_event event = {
        .kind = kinds[change->kind], .at_s = change->at_s, .run_id = change->run_ids[0]};
    int result = 0;
    event.has_point = event.kind <= PLOT_EVENT_ROLLBACK && change->has_to;
    if (event.has_point)
        result = add_point(data, &change->to, &event.point);
    return result == 0 ? plot_data_add_event(data, &event) : result;
}

/* Only what was decided on the host of the runs. */
static int add_changes(struct plot_data *data, struct history *history, const struct history_info *newest,
                       struct err *err)
{
    const unsigned kinds = BIT(HISTORY_CHANGE_FIRST) | BIT(HISTORY_CHANGE_MADE) |
                           BIT(HISTORY_CHANGE_ROLLBACK) | BIT(HISTORY_CHANGE_SKIPPED) |
                           BIT(HISTORY_CHANGE_ALARM);
    struct history_change *changes = NULL;
    size_t n = 0;
    if (newest->target[0] == '\0')
        return 0;
    int result =
        history_list_changes(history, newest->target, NULL, kinds, PLOT_MAX_NIGHTS, &changes, &n, err);
    for (size_t i = n; i-- > 0 && result == 0;) {
        bool is_here = changes[i].host[0] == '\0' || strcmp(changes[i].host, newest->host) == 0;
        result = is_here && isfinite(changes[i].at_s) ? add_change(data, &changes[i]) : 0;
        if (result < 0)
            err_set(err, result, "a change cannot be drawn");
    }
    free(changes);
    return result;
}

static int refuse_empty(const char *target, struct err *err)
{
    if (target[0] == '\0')
        return err_set(err, -ENODATA, "there is no run in it");
    return err_set(err, -ENODATA, "there is no run of target '%.*s'; fstune history list shows them", SHOWN,
                   target);
}

static int add_all(struct plot_data *data, struct history *history, const struct history_info *runs, size_t n,
                   size_t newest, struct err *err)
{
    int result = add_runs(data, history, runs, n, &runs[newest], err);
    if (result == 0)
        result = add_changes(data, history, &runs[newest], err);
    /* Last: the points do not repeat it. */
    if (result == 0 &&
        plot_data_level(data, PLOT_FACTOR_PATTERN, runs[newest].pattern, &data->pattern) == -ENOMEM)
        result = err_set(err, -ENOMEM, "no memory");
    return result;
}

int plot_data_history(struct plot_data *data, struct history *history, const char *target, struct err *err)
{
    struct history_info *runs = NULL;
    size_t n = 0;
    const struct history_filter any = {.limit = 0};
    *data = (struct plot_data){
        .source = PLOT_HISTORY, .confidence_share = 0.95, .burst_seconds = NAN, .pattern = PLOT_NO_LEVEL};
    int result = history_list_runs(history, &any, &runs, &n, err);
    size_t newest = result == 0 ? find_newest(data, runs, n, target) : 0;
    if (result == 0 && newest == n)
        result = refuse_empty(target, err);
    if (result == 0)
        result = add_all(data, history, runs, n, newest, err);
    free(runs);
    return result;
}
