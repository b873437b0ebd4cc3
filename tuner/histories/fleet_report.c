/* tuner/histories/fleet_report: hosts and their newest answers, beside rules and drift. */
#include "tuner/histories/fleet_report.h"

#include "bench/base/clock.h"
#include "tuner/base/json.h"
#include "tuner/histories/fleet_drift.h"
#include "tuner/histories/fleet_rules.h"
#include "tuner/store/history_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_host_and_time(const void *a, const void *b)
{
    const struct fleet_run *const *x = a, *const *y = b;
    if ((*x)->host_id != (*y)->host_id)
        return (*x)->host_id < (*y)->host_id ? -1 : 1;
    return ((*x)->started_s > (*y)->started_s) - ((*x)->started_s < (*y)->started_s);
}

/* The newest run of each host, of any pattern, in the order of their ids; owned by the caller. */
static const struct fleet_run **find_newest(const struct fleet_data *data, size_t *ret_n)
{
    const struct fleet_run **runs = calloc(data->n_runs + 1, sizeof *runs);
    size_t n = 0;
    for (size_t i = 0; runs != NULL && i < data->n_runs; i++)
        runs[i] = &data->runs[i];
    if (runs != NULL)
        qsort(runs, data->n_runs, sizeof *runs, by_host_and_time);
    for (size_t i = 0; runs != NULL && i < data->n_runs; i++) {
        if (i + 1 == data->n_runs || runs[i + 1]->host_id != runs[i]->host_id)
            runs[n++] = runs[i];
    }
    *ret_n = n;
    return runs;
}

static int by_host(const void *key, const void *run)
{
    const int64_t *host_id = key;
    const struct fleet_run *const *x = run;
    return (*host_id > (*x)->host_id) - (*host_id < (*x)->host_id);
}

static json_t *feature(const struct fleet_data *data, const struct fleet_run *run, enum fleet_feature which)
{
    return json_text(run != NULL ? fleet_value_name(data, which, run->values[which]) : "");
}

static int add_hosts(json_t *hosts, const struct fleet_data *data, struct history *history, double since_s,
                     struct err *err)
{
    struct sql_rows *rows;
    size_t n;
    const struct fleet_run **newest = find_newest(data, &n);
    if (newest == NULL)
        return err_set(err, -ENOMEM, "no memory for the hosts");
    int result = sql_query(&history->db, &rows, err,
                           "SELECT h.id, h.name, count(*), sum(CASE WHEN u.status = 'failed' THEN 1 ELSE 0 "
                           "END), max(u.started_s) FROM hosts h JOIN runs u ON u.host_id = h.id WHERE "
                           "u.started_s >= ? GROUP BY h.id, h.name ORDER BY 5, 2",
                           "d", since_s);
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        const int64_t host_id = sql_int64(rows, 0);
        const struct fleet_run **found = bsearch(&host_id, newest, n, sizeof *newest, by_host);
        const struct fleet_run *run = found != NULL ? *found : NULL;
        json_array_append_new(
            hosts, json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "host", json_text(sql_string(rows, 1)),
                             "runs", (json_int_t)sql_int64(rows, 2), "failed", (json_int_t)sql_int64(rows, 3),
                             "last_s", json_number(sql_double(rows, 4)), "file_system",
                             feature(data, run, FLEET_FILE_SYSTEM), "device",
                             feature(data, run, FLEET_DEVICE), "kernel", feature(data, run, FLEET_KERNEL)));
        result = 0;
    }
    sql_done(rows);
    free(newest);
    return result;
}

/* The setting that a run recommended. */
struct answer {
    int64_t run_id;
    struct point point;
    const struct fleet_run *run; /* NULL: it is not among those that were read */
};

static int read_answer(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct answer *answer = row;
    (void)context;
    *answer = (struct answer){.run_id = sql_int64(rows, 0)};
    return history_row_point(rows, 1, &answer->point)
               ? 0
               : err_set(err, -EBADMSG, "the answer of run %lld is damaged", (long long)answer->run_id);
}

static int by_answered_run(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    return x->run_id < y->run_id ? -1 : x->run_id > y->run_id;
}

/* The newest run of each host and storage that has an answer gets it. */
static void match_answers(const struct fleet_data *data, struct answer *answers, size_t n)
{
    struct answer *last = NULL;
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct answer key = {.run_id = data->runs[i].id};
        struct answer *found = bsearch(&key, answers, n, sizeof key, by_answered_run);
        if (found == NULL)
            continue;
        if (last != NULL && fleet_same_host(last->run, &data->runs[i]))
            last->run = NULL;
        found->run = &data->runs[i];
        last = found;
    }
}

/* Kinds of hosts stand together. */
static int by_kind(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    if (x->run == NULL || y->run == NULL)
        return (x->run == NULL) - (y->run == NULL);
    int order = strcmp(x->run->pattern, y->run->pattern);
    for (size_t i = 0; i <= FLEET_DEVICE && order == 0; i++)
        order = (x->run->values[i] > y->run->values[i]) - (x->run->values[i] < y->run->values[i]);
    for (enum factor i = 0; i < FACTOR_N && order == 0; i++) {
        uint64_t of_x = factors_level(&x->point, i), of_y = factors_level(&y->point, i);
        order = (of_x > of_y) - (of_x < of_y);
    }
    return order;
}

static json_t *count_answers(const struct fleet_data *data, struct answer *answers, size_t n)
{
    json_t *rows = json_array();
    if (n == 0)
        return rows;
    match_answers(data, answers, n);
    qsort(answers, n, sizeof *answers, by_kind);
    for (size_t first = 0, end; first < n && answers[first].run != NULL; first = end) {
        const struct answer *answer = &answers[first];
        for (end = first; end < n && by_kind(answer, &answers[end]) == 0;)
            end++;
        json_array_append_new(
            rows, json_pack("{s:o, s:o, s:o, s:o, s:I}", "pattern", json_text(answer->run->pattern),
                            "file_system", feature(data, answer->run, FLEET_FILE_SYSTEM), "device",
                            feature(data, answer->run, FLEET_DEVICE), "setting", json_point(&answer->point),
                            "hosts", (json_int_t)(end - first)));
    }
    return rows;
}

static int make_answers(const struct fleet_data *data, struct history *history, double since_s,
                        json_t **ret_rows, struct err *err)
{
    struct sql_rows *rows;
    void *list = NULL;
    size_t n = 0;
    int result = sql_query(&history->db, &rows, err,
                           "SELECT r.run_id, " HISTORY_ROW_POINT(
                               "p") " FROM recommendations r JOIN points p ON p.id = r.point_id JOIN runs u "
                                    "ON u.id = r.run_id WHERE u.started_s >= ? ORDER BY r.run_id",
                           "d", since_s);
    result = sql_list(rows, result, sizeof(struct answer), read_answer, NULL, &list, &n, err);
    if (result == 0)
        *ret_rows = count_answers(data, list, n);
    free(list);
    return result;
}

/* Rules rest on other runs than drift. */
static int make_rules(struct history *history, const char *pattern, double since_s, double tolerance_share,
                      json_t **ret_rules, struct err *err)
{
    struct fleet_data newest = {0};
    int result = fleet_data_load(&newest, history, FLEET_NEWEST, pattern, since_s, err);
    if (result == 0)
        result = fleet_rules_document(&newest, tolerance_share, ret_rules, err);
    fleet_data_done(&newest);
    return result;
}

int fleet_report_make(const struct fleet_data *data, struct history *history, const char *pattern,
                      double since_s, double tolerance_share, json_t **ret_document, struct err *err)
{
    json_t *hosts = json_array(), *answers = NULL, *rules = NULL, *drift = NULL;
    int result = add_hosts(hosts, data, history, since_s, err);
    if (result == 0)
        result = make_answers(data, history, since_s, &answers, err);
    if (result == 0)
        result = make_rules(history, pattern, since_s, tolerance_share, &rules, err);
    if (result == 0)
        result = fleet_drift_document(data, &drift, err);
    if (result == 0) {
        *ret_document = json_pack("{s:f, s:O, s:O, s:O, s:O}", "made_s", (double)clock_realtime_ns() / 1e9,
                                  "hosts", hosts, "answers", answers, "rules", rules, "drift", drift);
        result = *ret_document != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the page");
    }
    json_decref(hosts);
    json_decref(answers);
    json_decref(rules);
    json_decref(drift);
    return result;
}
