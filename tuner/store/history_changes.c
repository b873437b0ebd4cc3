/* tuner/store/history: reading decisions, and old runs as prior knowledge. */
#include "tuner/store/history_row.h"
#include "tuner/store/history_sql.h"
#include "tuner/store/prior_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By id: a clock that was wrong once must not keep an old decision the newest for ever. */
static const char select_changes[] =
    "SELECT c.id, c.at_s, h.name, c.target, c.kind, c.run_id, c.other_run_id, c.text, "
    "t.fingerprint, " HISTORY_ROW_POINT("f") ", " HISTORY_ROW_POINT(
        "o") " FROM changes c JOIN hosts h ON h.id = c.host_id "
             "LEFT JOIN runs u ON u.id = c.run_id LEFT JOIN targets t ON t.id = u.target_id "
             "LEFT JOIN points f ON f.id = c.from_point_id LEFT JOIN points o ON o.id = c.to_point_id "
             "WHERE c.target = ifnull(?, c.target) AND h.name = ifnull(?, h.name) AND "
             "(? IS NULL OR instr(?, ',' || c.kind || ',') > 0) ORDER BY c.id DESC LIMIT ?";
#define FROM_AT 9
#define TO_AT   (FROM_AT + HISTORY_ROW_POINT_COLUMNS)

static int read_change(void *context, sqlite3_stmt *statement, void *row, struct err *err)
{
    struct history_change *change = row;
    char kind[16];
    (void)context;
    *change = (struct history_change){
        .id = sqlite3_column_int64(statement, 0),
        .at_s = history_sql_double(statement, 1),
        .run_ids = {sqlite3_column_int64(statement, 5), sqlite3_column_int64(statement, 6)}};
    history_sql_text(statement, 2, change->host, sizeof change->host);
    history_sql_text(statement, 3, change->target, sizeof change->target);
    history_sql_text(statement, 4, kind, sizeof kind);
    history_sql_text(statement, 7, change->text, sizeof change->text);
    history_sql_text(statement, 8, change->fingerprint, sizeof change->fingerprint);
    change->has_from = history_row_point(statement, FROM_AT, &change->from);
    change->has_to = history_row_point(statement, TO_AT, &change->to);
    size_t name = history_row_name(kind, history_kind_names, HISTORY_CHANGE_N);
    if (name == HISTORY_CHANGE_N || !isfinite(change->at_s))
        return err_set(err, -EBADMSG, "change %lld is damaged", (long long)change->id);
    change->kind = (enum history_kind)name;
    return 0;
}

int history_select_changes(struct history *history, const struct history_change_filter *filter,
                           struct history_change **ret_changes, size_t *ret_n, struct err *err)
{
    char names[16 * HISTORY_CHANGE_N] = ",";
    sqlite3_stmt *statement;
    void *changes = NULL;
    for (size_t i = 0; i < HISTORY_CHANGE_N; i++) {
        if ((filter->kinds & 1U << i) != 0)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s,", history_kind_names[i]);
    }
    const char *set = filter->kinds != 0 ? names : NULL;
    int result =
        history_sql_prepare(history->db, &statement, err, select_changes, "tttti", filter->target,
                            filter->host, set, set, filter->limit > 0 ? (int64_t)filter->limit : (int64_t)-1);
    result =
        history_sql_list(statement, result, sizeof **ret_changes, read_change, NULL, &changes, ret_n, err);
    if (result == 0)
        *ret_changes = changes;
    return result;
}

int history_list_changes(struct history *history, const char *target, uint32_t kinds, size_t limit,
                         struct history_change **ret_changes, size_t *ret_n, struct err *err)
{
    const struct history_change_filter filter = {.target = target, .kinds = kinds, .limit = limit};
    return history_select_changes(history, &filter, ret_changes, ret_n, err);
}

/* The replays that count as runs of a journal: the reader of priors knows those. */
static int take_runs(struct prior_file *file, const struct history_replay *replays, size_t n)
{
    struct journal journal = {.fd = -1};
    journal.runs = calloc(n > 0 ? n : 1, sizeof *journal.runs);
    if (journal.runs == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        /* Another pattern or cache state is other knowledge. */
        if (!replays[i].aside && replays[i].conditions[0] == '\0')
            journal.runs[journal.n_runs++] =
                (struct journal_run){.point = replays[i].point, .sample = replays[i].sample};
    }
    int result = prior_take_runs(file, &journal, 0, journal.n_runs);
    free(journal.runs);
    return result;
}

int history_prior(struct history *history, const char *fingerprint, const char *pattern, size_t n_runs,
                  struct prior_file *file, struct err *err)
{
    const struct history_filter filter = {.fingerprint = fingerprint, .pattern = pattern, .limit = n_runs};
    struct history_info *runs;
    size_t n;
    int result = history_list_runs(history, &filter, &runs, &n, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n && result == 0; i++) {
        struct history_replay *replays = NULL;
        size_t n_replays = 0;
        result = history_replays(history, runs[i].id, &replays, &n_replays, err);
        if (result == 0 && take_runs(file, replays, n_replays) < 0)
            result = err_set(err, -ENOMEM, "no memory for %zu replays", n_replays);
        free(replays);
    }
    free(runs);
    return result;
}
