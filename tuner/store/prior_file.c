/* Reading points from an answer or from a journal. */
#include "tuner/store/prior_file.h"

#include "tuner/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_SCHEMA "fstune/recommendation/1"
#define FLEET_SCHEMA  "fstune/fleet-prior/1"
#define MAX_REPLAYS   1000000

void prior_file_done(struct prior_file *file)
{
    free(file->points);
    *file = (struct prior_file){0};
}

/* The point among those known; one that is new has n 0. NULL when memory ran out. */
static struct prior_point *find_or_add(struct prior_file *file, const struct point *point)
{
    for (size_t i = 0; i < file->n; i++) {
        if (factors_equal(&file->points[i].point, point))
            return &file->points[i];
    }
    struct prior_point *added = grow_array(&file->points, file->n, &file->capacity, sizeof *added);
    if (added == NULL)
        return NULL;
    file->n++;
    *added = (struct prior_point){.point = *point};
    return added;
}

/* Figures of two groups of replays of one point as of one group (Chan, Golub and LeVeque 1979). */
static int join_rows(struct prior_file *file, const struct prior_point *row)
{
    struct prior_point *known = find_or_add(file, &row->point);
    if (known == NULL)
        return -ENOMEM;
    if (known->n == 0) {
        *known = *row;
        return 0;
    }
    double n = (double)known->n, m = (double)row->n, difference = row->mean_bps - known->mean_bps;
    double squares = (n > 1 ? known->std_bps * known->std_bps * (n - 1) : 0) +
                     (m > 1 ? row->std_bps * row->std_bps * (m - 1) : 0) +
                     difference * difference * n * m / (n + m);
    known->mean_bps += difference * m / (n + m);
    known->latency_mean_ns += (row->latency_mean_ns - known->latency_mean_ns) * m / (n + m);
    known->std_bps = sqrt(squares / (n + m - 1));
    known->n += row->n;
    return 0;
}

/* One row of an answer. What is disqualified there is no good hint here. */
static int take_row(struct prior_file *file, const json_t *row)
{
    struct prior_point point = {0};
    const json_t *replays = json_object_get(row, "replays");
    json_int_t n = json_integer_value(replays);
    point.mean_bps = journal_number(row, "mean");
    point.std_bps = journal_number(row, "std");
    point.latency_mean_ns = journal_number(json_object_get(row, "latency_ns"), "mean");
    if (journal_point(row, &point.point) < 0 || isnan(point.mean_bps) || n < 1 || n > MAX_REPLAYS)
        return -EINVAL;
    point.n = (size_t)n;
    return json_array_size(json_object_get(row, "disqualified_by")) > 0 ? 0 : join_rows(file, &point);
}

int prior_take_answer(struct prior_file *file, const json_t *answer, struct err *err)
{
    const json_t *rows = json_object_get(answer, "points");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        int result = take_row(file, json_array_get(rows, i));
        if (result < 0)
            return err_set(err, result, "row %zu of `settings` is no measured setting", i);
    }
    return 0;
}

int prior_take_runs(struct prior_file *file, const struct journal *journal, size_t first, size_t end)
{
    int result = 0;
    for (size_t i = first; i < end && result == 0; i++) {
        const struct journal_run *run = &journal->runs[i];
        const struct prior_point point = {.point = run->point,
                                          .n = 1,
                                          .mean_bps = run->sample.throughput_bps,
                                          .std_bps = NAN,
                                          .latency_mean_ns = run->sample.latency_mean_ns};
        result = join_rows(file, &point);
    }
    return result;
}

static int take_journal(struct prior_file *file, const char *text, size_t size, struct err *err)
{
    struct journal journal;
    int result = journal_parse(&journal, text, size, err);
    /* Runs before a change of conditions are less like what is to come. */
    if (result == 0)
        result = prior_take_runs(file, &journal, journal.first < journal.n_runs ? journal.first : 0,
                                 journal.n_runs);
    journal_done(&journal);
    return result;
}

int prior_parse(struct prior_file *file, const char *text, size_t size, struct err *err)
{
    int result;
    json_t *answer = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char *schema = json_string_value(json_object_get(answer, "schema"));
    if (schema != NULL && (strcmp(schema, ANSWER_SCHEMA) == 0 || strcmp(schema, FLEET_SCHEMA) == 0))
        result = prior_take_answer(file, answer, err);
    else
        result = take_journal(file, text, size, err);
    json_decref(answer);
    if (result == -EINVAL && schema == NULL && err != NULL)
        err_prefix(err, "neither an answer of `recommend --json` nor a journal");
    if (result == 0 && file->n == 0)
        result = err_set(err, -EINVAL, "it holds no measured setting");
    return result;
}
