/* tuner/store/history: old runs go, and what is there is checked. */
#include "tuner/store/history.h"

#include "tuner/store/history_row.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
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
    {"SELECT u.id, u.n_replays || ' recorded at its end, ' || count(r.run_id) || ' there' FROM runs u LEFT "
     "JOIN replays r ON r.run_id = u.id WHERE u.n_replays IS NOT NULL GROUP BY u.id HAVING count(r.run_id) "
     "<> u.n_replays",
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
