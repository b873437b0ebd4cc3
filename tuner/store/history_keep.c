/* tuner/store/history: old runs go or get small, and what is there is checked. */
#include "tuner/store/history.h"

#include "tuner/store/history_row.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
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

/* On a server. Two at once would both find the same month empty, so that one waits for the other. */
static int drop_empty_months(struct history *history, struct err *err)
{
    int64_t n_months;
    return sql_number(
        &history->db, &n_months, err,
        "SELECT drop_empty_months() FROM pg_advisory_xact_lock(hashtext('fstune.drop_empty_months'))", "");
}

int history_prune(struct history *history, size_t keep, double older_than_s, size_t *ret_n_removed,
                  struct err *err)
{
    size_t n = 0;
    int result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    result = sql_do(&history->db, err, delete_runs, "idd", (int64_t)keep, older_than_s,
                    history->now_s(history->now_context) - UNDER_WAY_S);
    if (result == 0) {
        n = sql_n_changed(&history->db);
        /* On a server a target may be taken by a run that a host just adds. */
        result = sql_is_server(&history->db)
                     ? drop_empty_months(history, err)
                     : sql_script(&history->db,
                                  "DELETE FROM targets WHERE id NOT IN (SELECT target_id FROM runs)", err);
    }
    result = sql_end(&history->db, result, err);
    if (result == 0)
        *ret_n_removed = n;
    return result;
}

/* Figures of a replay; each may not be known. */
static const size_t figures[] = {
    offsetof(struct sample, iops),           offsetof(struct sample, latency_mean_ns),
    offsetof(struct sample, latency_p99_ns), offsetof(struct sample, achieved_depth),
    offsetof(struct sample, seconds),        offsetof(struct sample, warmup_seconds)};
#define N_FIGURES (sizeof figures / sizeof figures[0])

/* A setting of a run: means of its replays so far, and how many of them knew each figure. */
struct summary {
    struct history_replay replay;
    size_t n_known[N_FIGURES];
    double bytes, moved_bytes;
};

static double *figure_of(struct sample *sample, size_t i)
{
    return (double *)(void *)((char *)sample + figures[i]);
}

static bool is_same_setting(const struct history_replay *a, const struct history_replay *b)
{
    return factors_equal(&a->point, &b->point) && strcmp(a->conditions, b->conditions) == 0 &&
           a->aside == b->aside && a->sample.cut == b->sample.cut &&
           a->sample.confirming == b->sample.confirming;
}

/* A summary starts as a copy of its first replay, which is still to be added. Quantiles and windows belong to
 * one run, so a summary has none. */
static struct summary begin_summary(const struct history_replay *first)
{
    struct summary summary = {.replay = *first};
    summary.replay.n_replays = 0;
    summary.replay.std_bps = 0;
    summary.replay.windows = (struct history_windows){0};
    summary.replay.sample.latency_quantiles = (struct latency_quantiles){0};
    return summary;
}

static void add_to_summary(struct summary *summary, struct history_replay *replay)
{
    struct history_replay *sum = &summary->replay;
    struct moments more = history_rates(replay);
    struct moments rates = {.n = sum->n_replays, .mean = sum->sample.throughput_bps, .std = sum->std_bps};
    moments_merge(&rates, more);
    for (size_t i = 0; i < N_FIGURES; i++) {
        double value = *figure_of(&replay->sample, i), *mean = figure_of(&sum->sample, i);
        if (isnan(value))
            continue;
        summary->n_known[i] += more.n;
        *mean = isnan(*mean) ? value : *mean + (value - *mean) * (double)more.n / (double)summary->n_known[i];
    }
    double weight = (double)more.n / (double)rates.n;
    summary->bytes += ((double)replay->sample.bytes - summary->bytes) * weight;
    summary->moved_bytes += ((double)replay->sample.moved_bytes - summary->moved_bytes) * weight;
    sum->sample.throughput_bps = rates.mean;
    sum->sample.bytes = (uint64_t)llround(summary->bytes);
    sum->sample.moved_bytes = (uint64_t)llround(summary->moved_bytes);
    sum->sample.warning_set |= replay->sample.warning_set;
    sum->sample.sampled |= replay->sample.sampled;
    sum->n_replays = rates.n;
    sum->std_bps = rates.std;
}

/* ret_summaries: room for n. Their number. */
static size_t sum_up(struct history_replay *replays, size_t n, struct summary *ret_summaries)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = 0;
        while (row < n_rows && !is_same_setting(&ret_summaries[row].replay, &replays[i]))
            row++;
        if (row == n_rows)
            ret_summaries[n_rows++] = begin_summary(&replays[i]);
        add_to_summary(&ret_summaries[row], &replays[i]);
    }
    return n_rows;
}

/* Inside a transaction. On a server summaries stand apart from months, which retention can drop then. */
static int put_summaries(struct history *history, int64_t run_id, struct history_replay *replays, size_t n,
                         struct err *err)
{
    struct summary *summaries = calloc(n + 1, sizeof *summaries);
    if (summaries == NULL)
        return err_set(err, -ENOMEM, "no memory");
    size_t n_rows = sum_up(replays, n, summaries);
    int result = sql_do(&history->db, err, "DELETE FROM replays WHERE run_id = ?", "i", run_id);
    if (result == 0 && sql_is_server(&history->db))
        result = sql_script(&history->db, "SET LOCAL fstune.arrived = '1999-12-31'", err);
    for (size_t i = 0; i < n_rows && result == 0; i++)
        result = history_row_add_replay(&history->db, run_id, &summaries[i].replay, err);
    free(summaries);
    return result == 0 ? sql_do(&history->db, err, "UPDATE runs SET summarised = 1 WHERE id = ?", "i", run_id)
                       : result;
}

struct summarising {
    size_t n_done, n_damaged;
    char first_damage[ERR_TEXT_SIZE];
};

/* Inside a transaction, so that the run is nobody else's meanwhile. One that is gone, or was done, is no
 * failure. */
static int summarise_run(struct history *history, int64_t run_id, struct summarising *summarising,
                         struct err *err)
{
    struct history_replay *replays = NULL;
    struct err why = {0};
    int64_t is_done = 0;
    size_t n = 0;
    int result =
        sql_number(&history->db, &is_done, err,
                   sql_is_server(&history->db) ? "SELECT summarised FROM runs WHERE id = ? FOR UPDATE"
                                               : "SELECT summarised FROM runs WHERE id = ?",
                   "i", run_id);
    if (result < 0 || is_done != 0)
        return result == -ENOENT ? 0 : result;
    result = history_replays(history, run_id, &replays, &n, &why);
    if (result == -EBADMSG) {
        if (summarising->n_damaged++ == 0)
            snprintf(summarising->first_damage, sizeof summarising->first_damage, "run %lld: %.300s",
                     (long long)run_id, why.text);
        return 0;
    }
    if (result == 0)
        result = put_summaries(history, run_id, replays, n, err);
    else if (err != NULL)
        *err = why;
    free(replays);
    summarising->n_done += result == 0;
    return result;
}

static int read_id(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    (void)context;
    (void)err;
    *(int64_t *)row = sql_int64(rows, 0);
    return 0;
}

/* Those that are over, or too old to be under way. */
static int list_whole_runs(struct history *history, double older_than_s, void **ret_ids, size_t *ret_n,
                           struct err *err)
{
    struct sql_rows *rows;
    int result =
        sql_query(&history->db, &rows, err,
                  "SELECT id FROM runs WHERE summarised = 0 AND started_s < ? AND (finished_s IS NOT "
                  "NULL OR started_s < ?) ORDER BY id",
                  "dd", older_than_s, history->now_s(history->now_context) - UNDER_WAY_S);
    return sql_list(rows, result, sizeof(int64_t), read_id, NULL, ret_ids, ret_n, err);
}

int history_summarise(struct history *history, double older_than_s, size_t *ret_n_runs, struct err *err)
{
    struct summarising summarising = {0};
    void *ids = NULL;
    size_t n = 0;
    int result = list_whole_runs(history, older_than_s, &ids, &n, err);
    for (size_t i = 0; i < n && result == 0; i++) {
        result = sql_begin(&history->db, true, err);
        if (result == 0)
            result = sql_end(&history->db,
                             summarise_run(history, ((const int64_t *)ids)[i], &summarising, err), err);
    }
    free(ids);
    *ret_n_runs = summarising.n_done;
    if (result == 0 && sql_is_server(&history->db))
        result = drop_empty_months(history, err);
    if (result == 0 && summarising.n_damaged > 0)
        result = err_set(
            err, -EBADMSG, "%s; %zu damaged run%s left as it was; fstune history verify names all",
            summarising.first_damage, summarising.n_damaged, summarising.n_damaged == 1 ? " is" : "s are");
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
