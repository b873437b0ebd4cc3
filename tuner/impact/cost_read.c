/* Sequences from files, and what both ways to get sequences share. */
#include "tuner/impact/cost.h"

#include "tuner/impact/number_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int check_table(const char *path, const struct number_table *table, struct err *err)
{
    for (size_t row = 0; row < table->n_rows; row++) {
        const double *times_s = table->values + row * table->n_columns;
        size_t at = 0;
        if (table->n_columns < 2)
            return err_set(err, -EINVAL, "%.200s:%zu: one time makes no interval; give t0,t1,...", path,
                           table->lines[row]);
        if (base_sequence_check(times_s, table->n_columns, &at) < 0)
            return err_set(err, -EINVAL,
                           "%.200s:%zu: time %zu (%g) is before time %zu (%g); give the times in order", path,
                           table->lines[row], at, times_s[at], at - 1, times_s[at - 1]);
        if (!(times_s[table->n_columns - 1] > times_s[0]))
            return err_set(err, -EINVAL, "%.200s:%zu: the sequence takes no time; give t0,t1,... in seconds",
                           path, table->lines[row]);
    }
    return 0;
}

static int read_sequences(const char *option, const char *path, struct number_table *table, struct err *err)
{
    int result = number_table_read(path, table, err);
    if (result == 0)
        result = check_table(path, table, err);
    return result < 0 ? err_prefix(err, "--%s", option) : 0;
}

/* The first row becomes the mean of all. */
static void average_rows(struct number_table *table)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        double sum = 0;
        for (size_t row = 0; row < table->n_rows; row++)
            sum += table->values[row * table->n_columns + i];
        table->values[i] = sum / (double)table->n_rows;
    }
}

static int pair_up(struct cost *cost, struct number_table *base, struct number_table *delayed)
{
    struct cost_reference *reference = &cost->references[0];
    const size_t n = delayed->n_columns;
    double *alone = calloc(delayed->n_rows * n, sizeof *alone);
    if (alone == NULL)
        return -ENOMEM;
    bool one_by_one = base->n_rows == delayed->n_rows;
    if (!one_by_one)
        average_rows(base);
    for (size_t row = 0; row < delayed->n_rows; row++)
        memcpy(alone + row * n, base->values + (one_by_one ? row * n : 0), n * sizeof *alone);
    reference->n_points = n;
    reference->alone.times_s = alone;
    reference->loads[0].times_s = delayed->values;
    delayed->values = NULL;
    cost->n_runs = delayed->n_rows;
    return 0;
}

int cost_read(struct cost *cost, const struct settings *settings, struct err *err)
{
    const struct settings_cost *asked = &settings->cost;
    struct number_table base = {0}, delayed = {0};
    *cost = (struct cost){.settings = settings, .n_references = 1, .n_loads = 1};
    cost->references = calloc(1, sizeof *cost->references);
    if (cost->references != NULL)
        cost->references[0].loads = calloc(1, sizeof *cost->references[0].loads);
    if (cost->references == NULL || cost->references[0].loads == NULL)
        return err_set(err, -ENOMEM, "no memory");
    cost->references[0].reference.dir_fd = -1;
    int result =
        strcmp(asked->base, "-") == 0 && strcmp(asked->delayed, "-") == 0
            ? err_set(err, -EINVAL, "--base and --delayed cannot both be standard input; give a file")
            : read_sequences("base", asked->base, &base, err);
    if (result == 0)
        result = read_sequences("delayed", asked->delayed, &delayed, err);
    if (result == 0 && base.n_columns != delayed.n_columns)
        result = err_set(err, -EINVAL,
                         "--delayed: its sequences have %zu times, those of --base %zu; give the same "
                         "observation points",
                         delayed.n_columns, base.n_columns);
    if (result == 0 && pair_up(cost, &base, &delayed) < 0)
        result = err_set(err, -ENOMEM, "no memory");
    number_table_free(&base);
    number_table_free(&delayed);
    return result;
}

struct base_sequence_runs cost_runs(const struct cost *cost, size_t r, size_t l)
{
    const struct cost_reference *reference = &cost->references[r];
    return (struct base_sequence_runs){.base_s = reference->alone.times_s,
                                       .delayed_s = reference->loads[l].times_s,
                                       .n_runs = cost->n_runs,
                                       .n_times = reference->n_points};
}

int cost_answer_of(const struct cost *cost, size_t load, struct cost_answer *ret, struct err *err)
{
    struct base_sequence_runs runs[SETTINGS_MAX_FILES];
    for (size_t r = 0; r < cost->n_references; r++)
        runs[r] = cost_runs(cost, r, load);
    int result = base_sequence_average(runs, cost->n_references, cost->settings->runs.confidence_share,
                                       &ret->cost_share, &ret->cost);
    if (result < 0)
        return err_set(err, result, "the runs make no sequences");
    ret->is_heavy = ret->cost_share > BASE_SEQUENCE_HEAVY_SHARE;
    return 0;
}

int cost_worst_load(const struct cost *cost, size_t *ret_load, struct err *err)
{
    struct cost_answer answer, worst = {0};
    for (size_t load = 0; load < cost->n_loads; load++) {
        int result = cost_answer_of(cost, load, &answer, err);
        if (result < 0)
            return result;
        if (load == 0 || answer.cost_share > worst.cost_share) {
            worst = answer;
            *ret_load = load;
        }
    }
    return 0;
}

static void free_series(struct cost_series *series)
{
    free(series->times_s);
    free(series->steps_ns);
}

static void close_reference(struct cost_reference *reference, size_t n_loads)
{
    observer_close(&reference->observer);
    reference_close(&reference->reference);
    free_series(&reference->alone);
    for (size_t l = 0; reference->loads != NULL && l < n_loads; l++)
        free_series(&reference->loads[l]);
    free(reference->loads);
}

void cost_close(struct cost *cost)
{
    for (size_t r = 0; cost->references != NULL && r < cost->n_references; r++)
        close_reference(&cost->references[r], cost->n_loads);
    free(cost->references);
    for (size_t l = 0; l < COST_MAX_LOADS; l++) {
        for (size_t i = 0; cost->words[l] != NULL && cost->words[l][i] != NULL; i++)
            free((void *)(uintptr_t)cost->words[l][i]);
        free(cost->words[l]);
        free(cost->load[l]);
    }
    *cost = (struct cost){0};
}
