/* tuner/store/history: runs, replays, answers and decisions, read back. */
#include "tuner/store/history_row.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

static const char select_runs[] =
    "SELECT u.id, u.uuid, u.started_s, u.finished_s, h.name, u.command, u.name, u.pattern, t.fingerprint, "
    "u.status, u.exit_code, (SELECT coalesce(sum(n_replays), 0) FROM replays WHERE run_id = u.id), "
    "c.mean_bps, c.ci_low_bps, "
    "c.ci_high_bps, c.conclusive, t.identity, " HISTORY_ROW_POINT(
        "p") " FROM runs u JOIN hosts h ON h.id = u.host_id JOIN targets t ON t.id = u.target_id "
             "LEFT JOIN recommendations c ON c.run_id = u.id LEFT JOIN points p ON p.id = c.point_id ";
#define INFO_POINT_AT 17

static void read_file_system(const char *identity, char *text, size_t size)
{
    json_t *object = json_loads(identity, 0, NULL);
    const char *name = json_string_value(json_object_get(object, "file_system"));
    snprintf(text, size, "%s", name != NULL ? name : "");
    json_decref(object);
}

/* A run of `measure` has one point, and its interval is made of its replays. */
static int read_measured(struct history *history, struct history_info *info, struct err *err)
{
    struct history_replay *replays;
    struct moments moments = {0};
    size_t n;
    int result = history_replays(history, info->id, &replays, &n, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n; i++)
        moments_merge(&moments, history_rates(&replays[i]));
    if (n > 0) {
        struct interval interval = student_interval(moments, CONFIDENCE);
        info->has_point = true;
        info->point = replays[0].point;
        info->mean_bps = moments.mean;
        info->ci_low_bps = interval.low;
        info->ci_high_bps = interval.high;
    }
    free(replays);
    return 0;
}

static void read_texts(struct sql_rows *rows, struct history_info *info)
{
    char identity[1024];
    sql_text(rows, 1, info->uuid, sizeof info->uuid);
    sql_text(rows, 4, info->host, sizeof info->host);
    sql_text(rows, 5, info->command, sizeof info->command);
    sql_text(rows, 6, info->target, sizeof info->target);
    sql_text(rows, 7, info->pattern, sizeof info->pattern);
    sql_text(rows, 8, info->fingerprint, sizeof info->fingerprint);
    sql_text(rows, 16, identity, sizeof identity);
    read_file_system(identity, info->file_system, sizeof info->file_system);
}

static int read_info(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct history *history = context;
    struct history_info *info = row;
    char status[16];
    *info = (struct history_info){.id = sql_int64(rows, 0),
                                  .started_s = sql_double(rows, 2),
                                  .finished_s = sql_double(rows, 3),
                                  .exit_code = -1,
                                  .n_replays = (size_t)sql_int64(rows, 11),
                                  .mean_bps = sql_double(rows, 12),
                                  .ci_low_bps = sql_double(rows, 13),
                                  .ci_high_bps = sql_double(rows, 14),
                                  .conclusive = sql_int64(rows, 15) != 0};
    read_texts(rows, info);
    sql_text(rows, 9, status, sizeof status);
    size_t name = history_row_name(status, history_status_names, HISTORY_N_STATUSES);
    if (name == HISTORY_N_STATUSES || !isfinite(info->started_s))
        return err_set(err, -EBADMSG, "run %lld is damaged", (long long)info->id);
    info->status = (enum history_status)name;
    if (!sql_is_null(rows, 10))
        info->exit_code = (int)sql_int64(rows, 10);
    info->has_point = history_row_point(rows, INFO_POINT_AT, &info->point);
    return strcmp(info->command, "measure") == 0 ? read_measured(history, info, err) : 0;
}

/* The names of a set, with commas around each; NULL for an empty one, which stands for all. */
static const char *names_of(uint32_t set, const char *const *names, size_t n, char *text, size_t size)
{
    snprintf(text, size, ",");
    for (size_t i = 0; i < n; i++) {
        if ((set & 1U << i) != 0)
            snprintf(text + strlen(text), size - strlen(text), "%s,", names[i]);
    }
    return set != 0 ? text : NULL;
}

/* What a filter leaves open is NULL. */
static int prepare_list(struct history *history, const struct history_filter *filter,
                        struct sql_rows **ret_rows, struct err *err)
{
    char statuses[16 * HISTORY_N_STATUSES], sql[2048];
    snprintf(sql, sizeof sql,
             "%sWHERE u.name = coalesce(?, u.name) AND t.fingerprint = coalesce(?, t.fingerprint) AND "
             "u.pattern = coalesce(?, u.pattern) AND u.command = coalesce(?, u.command) AND "
             "h.name = coalesce(?, h.name) AND (? IS NULL OR ? LIKE '%%,' || u.status || ',%%') AND "
             "(? = 0 OR c.run_id IS NOT NULL) ORDER BY u.id DESC LIMIT ?",
             select_runs);
    const char *set =
        names_of(filter->statuses, history_status_names, HISTORY_N_STATUSES, statuses, sizeof statuses);
    return sql_query(&history->db, ret_rows, err, sql, "tttttttii", filter->target, filter->fingerprint,
                     filter->pattern, filter->command, filter->host, set, set,
                     (int64_t)filter->with_recommendation,
                     filter->limit > 0 ? (int64_t)filter->limit : INT64_MAX);
}

int history_list_runs(struct history *history, const struct history_filter *filter,
                      struct history_info **ret_runs, size_t *ret_n, struct err *err)
{
    struct sql_rows *rows;
    void *runs = NULL;
    int result = prepare_list(history, filter, &rows, err);
    result = sql_list(rows, result, sizeof **ret_runs, read_info, history, &runs, ret_n, err);
    if (result == 0)
        *ret_runs = runs;
    return result;
}

int history_find_run(struct history *history, int64_t run_id, struct history_info *ret_info, struct err *err)
{
    char sql[1024];
    struct sql_rows *rows;
    snprintf(sql, sizeof sql, "%sWHERE u.id = ?", select_runs);
    int result = sql_query(&history->db, &rows, err, sql, "i", run_id);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 0)
        result =
            err_set(err, -ENOENT, "there is no run %lld; fstune history list shows them", (long long)run_id);
    else if (result == 1)
        result = read_info(history, rows, ret_info, err);
    sql_done(rows);
    return result;
}

static int read_replay(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    (void)context;
    return history_row_read_replay(rows, row, err);
}

int history_replays(struct history *history, int64_t run_id, struct history_replay **ret_replays,
                    size_t *ret_n, struct err *err)
{
    static const char sql[] = "SELECT " HISTORY_ROW_REPLAY ", " HISTORY_ROW_POINT(
        "p") " FROM replays r JOIN points p ON p.id = r.point_id WHERE r.run_id = ? ORDER BY r.number";
    struct sql_rows *rows;
    void *replays = NULL;
    int result = sql_query(&history->db, &rows, err, sql, "i", run_id);
    result = sql_list(rows, result, sizeof **ret_replays, read_replay, NULL, &replays, ret_n, err);
    if (result == 0)
        *ret_replays = replays;
    return result;
}

struct moments history_rates(const struct history_replay *replay)
{
    bool is_summary = replay->n_replays > 1;
    return (struct moments){.n = is_summary ? replay->n_replays : 1,
                            .mean = replay->sample.throughput_bps,
                            .std = is_summary ? replay->std_bps : 0};
}

struct moments history_log_rates(const struct history_replay *replay)
{
    struct moments rates = history_rates(replay);
    double variance = log1p(rates.std * rates.std / (rates.mean * rates.mean));
    return (struct moments){.n = rates.n, .mean = log(rates.mean) - variance / 2, .std = sqrt(variance)};
}

/* A document in a column; NULL stays NULL. */
static int take_json(struct sql_rows *rows, int column, json_t **ret_document, struct err *err)
{
    const char *text = sql_string(rows, column);
    *ret_document = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (text != NULL && *ret_document == NULL)
        return err_set(err, -EBADMSG, "a document is damaged");
    return 0;
}

int history_document(struct history *history, int64_t run_id, json_t **ret_document, struct err *err)
{
    static const char of_run[] = "SELECT document FROM documents WHERE run_id = ?",
                      newest[] = "SELECT d.document FROM documents d JOIN recommendations c ON c.run_id = "
                                 "d.run_id JOIN runs u ON u.id = d.run_id "
                                 "ORDER BY u.id DESC LIMIT 1";
    struct sql_rows *rows;
    struct history_info info;
    int result = run_id != 0 ? history_find_run(history, run_id, &info, err) : 0;
    if (result < 0)
        return result;
    result =
        sql_query(&history->db, &rows, err, run_id != 0 ? of_run : newest, run_id != 0 ? "i" : "", run_id);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 1)
        result = take_json(rows, 0, ret_document, err);
    else if (result == 0)
        result = run_id != 0 ? err_set(err, -ENODATA, "run %lld has no answer (%s)", (long long)run_id,
                                       history_status_names[info.status])
                             : err_set(err, -ENODATA, "there is no recommendation in it");
    sql_done(rows);
    return result;
}

int history_circumstances(struct history *history, int64_t run_id, json_t **ret_settings, json_t **ret_system,
                          struct err *err)
{
    struct sql_rows *rows;
    json_t *settings = NULL, *system = NULL;
    int result =
        sql_query(&history->db, &rows, err, "SELECT settings, system FROM runs WHERE id = ?", "i", run_id);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 0)
        result = err_set(err, -ENOENT, "there is no run %lld", (long long)run_id);
    else if (result == 1)
        result = take_json(rows, 0, &settings, err);
    if (result == 0)
        result = take_json(rows, 1, &system, err);
    sql_done(rows);
    if (result < 0) {
        json_decref(settings);
        return result;
    }
    *ret_settings = settings;
    *ret_system = system;
    return 0;
}

/* By id: a clock that was wrong once must not keep an old decision the newest for ever. */
static const char select_changes[] =
    "SELECT c.id, c.at_s, h.name, c.target, c.kind, c.run_id, c.other_run_id, c.text, "
    "t.fingerprint, " HISTORY_ROW_POINT("f") ", " HISTORY_ROW_POINT(
        "o") " FROM changes c JOIN hosts h ON h.id = c.host_id "
             "LEFT JOIN runs u ON u.id = c.run_id LEFT JOIN targets t ON t.id = u.target_id "
             "LEFT JOIN points f ON f.id = c.from_point_id LEFT JOIN points o ON o.id = c.to_point_id "
             "WHERE c.target = coalesce(?, c.target) AND h.name = coalesce(?, h.name) AND "
             "(? IS NULL OR ? LIKE '%,' || c.kind || ',%') ORDER BY c.id DESC LIMIT ?";
#define FROM_AT 9
#define TO_AT   (FROM_AT + HISTORY_ROW_POINT_COLUMNS)

static int read_change(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct history_change *change = row;
    char kind[16];
    (void)context;
    *change = (struct history_change){.id = sql_int64(rows, 0),
                                      .at_s = sql_double(rows, 1),
                                      .run_ids = {sql_int64(rows, 5), sql_int64(rows, 6)}};
    sql_text(rows, 2, change->host, sizeof change->host);
    sql_text(rows, 3, change->target, sizeof change->target);
    sql_text(rows, 4, kind, sizeof kind);
    sql_text(rows, 7, change->text, sizeof change->text);
    sql_text(rows, 8, change->fingerprint, sizeof change->fingerprint);
    change->has_from = history_row_point(rows, FROM_AT, &change->from);
    change->has_to = history_row_point(rows, TO_AT, &change->to);
    size_t name = history_row_name(kind, history_kind_names, HISTORY_CHANGE_N);
    if (name == HISTORY_CHANGE_N || !isfinite(change->at_s))
        return err_set(err, -EBADMSG, "change %lld is damaged", (long long)change->id);
    change->kind = (enum history_kind)name;
    return 0;
}

int history_list_changes(struct history *history, const char *target, const char *host, uint32_t kinds,
                         size_t limit, struct history_change **ret_changes, size_t *ret_n, struct err *err)
{
    char names[16 * HISTORY_CHANGE_N];
    struct sql_rows *rows;
    void *changes = NULL;
    const char *set = names_of(kinds, history_kind_names, HISTORY_CHANGE_N, names, sizeof names);
    int result = sql_query(&history->db, &rows, err, select_changes, "tttti", target, host, set, set,
                           limit > 0 ? (int64_t)limit : INT64_MAX);
    result = sql_list(rows, result, sizeof **ret_changes, read_change, NULL, &changes, ret_n, err);
    if (result == 0)
        *ret_changes = changes;
    return result;
}
