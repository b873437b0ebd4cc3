/* tuner/store/history: old runs go or get small, and what is there is checked. */
#include "tuner/store/history.h"

#include "tuner/store/history_row.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No run takes so long: an unfinished one that is older died. */
#define UNDER_WAY_S 86400.0

static const char delete_runs[] =
    "DELETE FROM runs WHERE id IN (SELECT id FROM (SELECT id, started_s, row_number() OVER ("
    "PARTITION BY host_id, target_id, name, pattern, command ORDER BY id DESC) AS place "
    "FROM runs) AS placed WHERE (?1 > 0 AND place > ?1) OR (?2 > 0 AND started_s < ?2)) AND NOT "
    "(status = 'unfinished' AND started_s > ?3) AND id NOT IN "
    "(SELECT run_id FROM changes WHERE run_id IS NOT NULL UNION "
    "SELECT other_run_id FROM changes WHERE other_run_id IS NOT NULL)";

int history_prune(struct history *history, size_t keep, double older_than_s, size_t *ret_n_removed,
                  struct err *err)
{
    size_t n = 0;
    int64_t n_months;
    int result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    result = sql_do(&history->db, err, delete_runs, "idd", (int64_t)keep, older_than_s,
                    history->now_s(history->now_context) - UNDER_WAY_S);
    if (result == 0) {
        n = sql_n_changed(&history->db);
        /* On a server a target may be taken by a run that a host just adds. */
        result = sql_is_server(&history->db)
                     ? sql_number(&history->db, &n_months, err, "SELECT drop_empty_months()", "")
                     : sql_script(&history->db,
                                  "DELETE FROM targets WHERE id NOT IN (SELECT target_id FROM runs)", err);
    }
    result = sql_end(&history->db, result, err);
    if (result == 0)
        *ret_n_removed = n;
    return result;
}

static bool is_same_setting(const struct history_replay *a, const struct history_replay *b)
{
    return factors_equal(&a->point, &b->point) && strcmp(a->conditions, b->conditions) == 0 &&
           a->aside == b->aside && a->sample.cut == b->sample.cut &&
           a->sample.confirming == b->sample.confirming;
}

/* The mean of what the first stands for and one replay more; NaN only where neither is known. */
static double mean_of(double mean, size_t n, double value)
{
    return isnan(value) ? mean : isnan(mean) ? value : mean + (value - mean) / ((double)n + 1);
}

/* One replay more in a row. It has no quantiles and no windows, which are of one run. */
static void add_to_row(struct history_replay *row, const struct history_replay *replay)
{
    struct sample *sample = &row->sample;
    const struct sample *more = &replay->sample;
    size_t n = row->n_replays;
    struct moments rates = {.n = n, .mean = sample->throughput_bps, .std = row->std_bps};
    moments_add(&rates, more->throughput_bps);
    sample->throughput_bps = rates.mean;
    sample->iops = mean_of(sample->iops, n, more->iops);
    sample->latency_mean_ns = mean_of(sample->latency_mean_ns, n, more->latency_mean_ns);
    sample->latency_p99_ns = mean_of(sample->latency_p99_ns, n, more->latency_p99_ns);
    sample->achieved_depth = mean_of(sample->achieved_depth, n, more->achieved_depth);
    sample->seconds = mean_of(sample->seconds, n, more->seconds);
    sample->warmup_seconds = mean_of(sample->warmup_seconds, n, more->warmup_seconds);
    sample->bytes = (uint64_t)mean_of((double)sample->bytes, n, (double)more->bytes);
    sample->moved_bytes = (uint64_t)mean_of((double)sample->moved_bytes, n, (double)more->moved_bytes);
    sample->warning_set |= more->warning_set;
    sample->sampled |= more->sampled;
    row->n_replays = rates.n;
    row->std_bps = rates.std;
}

/* Rows of the settings, in the place of their replays. */
static size_t sum_up(struct history_replay *replays, size_t n)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = 0;
        while (row < n_rows && !is_same_setting(&replays[row], &replays[i]))
            row++;
        if (row < n_rows) {
            add_to_row(&replays[row], &replays[i]);
            continue;
        }
        replays[n_rows] = replays[i];
        replays[n_rows].std_bps = 0;
        replays[n_rows].windows = (struct history_windows){0};
        replays[n_rows++].sample.latency_quantiles = (struct latency_quantiles){0};
    }
    return n_rows;
}

/* What an answer says of each point is what its replays said. */
static int shorten_document(struct history *history, int64_t run_id, struct err *err)
{
    static const char *const lists[] = {"points", "undecided", "runs"};
    json_t *document;
    int result = history_document(history, run_id, &document, err);
    if (result < 0)
        return result == -ENODATA ? 0 : result;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (json_is_array(json_object_get(document, lists[i])))
            json_object_set_new(document, lists[i], json_array());
    }
    char *text = json_dumps(document, JSON_COMPACT);
    result = text == NULL ? err_set(err, -ENOMEM, "no memory for an answer")
                          : sql_do(&history->db, err, "UPDATE documents SET document = ? WHERE run_id = ?",
                                   "ti", text, run_id);
    free(text);
    json_decref(document);
    return result;
}

static int put_rows(struct history *history, int64_t run_id, const struct history_replay *rows, size_t n,
                    struct err *err)
{
    int result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    result = sql_do(&history->db, err, "DELETE FROM replays WHERE run_id = ?", "i", run_id);
    for (size_t i = 0; i < n && result == 0; i++)
        result = history_row_add_replay(&history->db, run_id, &rows[i], err);
    if (result == 0)
        result = shorten_document(history, run_id, err);
    return sql_end(&history->db, result, err);
}

static int read_id(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    (void)context;
    (void)err;
    *(int64_t *)row = sql_int64(rows, 0);
    return 0;
}

int history_summarise(struct history *history, double older_than_s, size_t *ret_n_runs, struct err *err)
{
    /* All rows of a run are summaries, or none is: the first one tells. */
    static const char whole[] =
        "SELECT u.id FROM runs u WHERE u.started_s < ? AND u.finished_s IS NOT NULL AND (SELECT r.std_bps IS "
        "NULL FROM replays r WHERE r.run_id = u.id ORDER BY r.number LIMIT 1) ORDER BY u.id";
    struct sql_rows *rows;
    void *list = NULL;
    size_t n_runs = 0, n;
    *ret_n_runs = 0;
    int result = sql_query(&history->db, &rows, err, whole, "d", older_than_s);
    result = sql_list(rows, result, sizeof(int64_t), read_id, NULL, &list, &n_runs, err);
    for (size_t i = 0; i < n_runs && result == 0; i++) {
        int64_t id = ((const int64_t *)list)[i];
        struct history_replay *replays = NULL;
        result = history_replays(history, id, &replays, &n, err);
        if (result == 0)
            result = put_rows(history, id, replays, sum_up(replays, n), err);
        free(replays);
        *ret_n_runs += result == 0;
    }
    free(list);
    return result;
}

struct findings {
    void (*found)(void *context, const char *text);
    void *context;
};

/* Each row of a query is a finding; its columns are the values in the format's order, as texts. */
static const struct {
    const char *sql, *before, *between;
    bool file_only;
} checks[] = {
    {"SELECT integrity_check, '' FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "SQLite: ", "",
     true},
    {"SELECT \"table\", rowid FROM pragma_foreign_key_check", "a row without what it belongs to: ", ", row ",
     true},
    {"SELECT u.id, u.n_replays || ' recorded at its end, ' || coalesce(sum(r.n_replays), 0) || ' there' FROM "
     "runs u LEFT "
     "JOIN replays r ON r.run_id = u.id WHERE u.n_replays IS NOT NULL GROUP BY u.id HAVING "
     "coalesce(sum(r.n_replays), 0) <> u.n_replays",
     "run ", ": replays: ", false},
    {"SELECT id, status FROM runs WHERE (finished_s IS NULL) <> (status = 'unfinished')", "run ",
     " has an end that does not fit its status ", false},
    {"SELECT c.run_id, '' FROM recommendations c WHERE c.run_id NOT IN (SELECT run_id FROM documents)",
     "run ", " has a recommendation without its answer", false},
};

static int check_query(struct history *history, size_t row, const struct findings *findings, struct err *err)
{
    struct sql_rows *rows;
    int result = sql_query(&history->db, &rows, err, checks[row].sql, "");
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        char text[512], first[200], second[200];
        sql_text(rows, 0, first, sizeof first);
        sql_text(rows, 1, second, sizeof second);
        snprintf(text, sizeof text, "%s%s%s%s", checks[row].before, first, checks[row].between, second);
        findings->found(findings->context, text);
        result = 0;
    }
    sql_done(rows);
    return result;
}

static void report(const struct findings *findings, int64_t run_id, const char *why)
{
    char text[ERR_TEXT_SIZE + 64];
    snprintf(text, sizeof text, "run %lld: %s", (long long)run_id, why);
    findings->found(findings->context, text);
}

/* A recommendation's row says what its document says. */
static void check_document(struct history *history, const struct history_info *info,
                           const struct findings *findings)
{
    json_t *document = NULL;
    struct recommendation recommendation;
    struct err err = {0};
    int result = history_document(history, info->id, &document, &err);
    if (result == 0)
        result = recommendation_read(&recommendation, document, &err);
    if (result == 0 && !factors_equal(&recommendation.point, &info->point))
        result = err_set(&err, -EBADMSG, "its recommendation is not the one of its answer");
    if (result < 0)
        report(findings, info->id, err.text);
    json_decref(document);
}

static void check_run(struct history *history, int64_t run_id, const struct findings *findings)
{
    struct history_info info;
    struct history_replay *replays = NULL;
    struct err why = {0};
    size_t n;
    int result = history_find_run(history, run_id, &info, &why);
    if (result == 0)
        result = history_replays(history, run_id, &replays, &n, &why);
    if (result < 0) {
        report(findings, run_id, why.text);
        return;
    }
    free(replays);
    if (info.has_point && strcmp(info.command, "measure") != 0)
        check_document(history, &info, findings);
}

/* One by one: a list ends at the first that cannot be read. */
static int check_contents(struct history *history, const struct findings *findings, struct err *err)
{
    struct sql_rows *rows;
    struct history_change *changes = NULL;
    struct err why = {0};
    size_t n;
    int result = sql_query(&history->db, &rows, err, "SELECT id FROM runs ORDER BY id", "");
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        check_run(history, sql_int64(rows, 0), findings);
        result = 0;
    }
    sql_done(rows);
    if (result == 0 && history_list_changes(history, NULL, NULL, 0, 0, &changes, &n, &why) < 0)
        findings->found(findings->context, why.text);
    free(changes);
    return result;
}

int history_verify(struct history *history, void (*found)(void *context, const char *text), void *context,
                   struct err *err)
{
    const struct findings findings = {found, context};
    int result = 0;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && result == 0; i++)
        result =
            checks[i].file_only && sql_is_server(&history->db) ? 0 : check_query(history, i, &findings, err);
    return result == 0 ? check_contents(history, &findings, err) : result;
}
