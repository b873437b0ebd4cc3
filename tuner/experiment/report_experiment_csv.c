/* tuner/experiment/report_experiment_csv: tables of an experiment. */
#include "tuner/experiment/report_experiment_data.h"

#include "tuner/base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void put_level(FILE *out, const json_t *level)
{
    if (json_is_number(level))
        csv_number(out, json_number_value(level));
    else if (json_is_string(level))
        csv_text(out, json_string_value(level));
}

static void put_numbers(FILE *out, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputc(',', out);
        csv_number(out, values[i]);
    }
}

/* Varied and fixed factors, each with a comma before it: their names, or their levels at a point. */
static void put_factors(FILE *out, const struct report_data *data, const struct report_point *point)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < data->n_factors; i++) {
        fputc(',', out);
        if (point == NULL)
            csv_text(out, data->factors[i].name);
        else
            put_level(out, data->factors[i].level[point->level[i]]);
    }
    json_object_foreach(json_object_get(data->document, "fixed"), key, value)
    {
        fputc(',', out);
        if (point == NULL)
            csv_text(out, key);
        else
            put_level(out, value);
    }
}

static int compare_runs(const void *left, const void *right)
{
    const struct report_run *a = *(const struct report_run *const *)left;
    const struct report_run *b = *(const struct report_run *const *)right;
    return (a->number > b->number) - (a->number < b->number);
}

static void put_run(FILE *out, const struct report_data *data, const struct report_run *run)
{
    csv_number(out, run->number);
    fprintf(out, ",%zu", run->point);
    put_factors(out, data, &data->points[run->point]);
    put_numbers(out, run->figures, REPORT_N_FIGURES);
    fputs(CSV_END, out);
}

int report_experiment_csv_long(FILE *out, const struct report_data *data, struct err *err)
{
    const struct report_run **runs = calloc(data->n_runs + 1, sizeof(struct report_run *));
    if (runs == NULL)
        return err_set(err, -ENOMEM, "no memory for the runs");
    if (data->n_runs == 0) {
        free(runs);
        return err_set(err, -ENODATA,
                       "the experiment has no single runs; use --format csv-wide, a line for each setting");
    }
    for (size_t i = 0; i < data->n_runs; i++)
        runs[i] = &data->runs[i];
    qsort(runs, data->n_runs, sizeof *runs, compare_runs);
    fputs("\"run\",\"point\"", out);
    put_factors(out, data, NULL);
    for (size_t i = 0; i < REPORT_N_FIGURES; i++)
        fprintf(out, ",\"%s\"", report_figure_names[i]);
    fputs(CSV_END, out);
    for (size_t i = 0; i < data->n_runs; i++)
        put_run(out, data, runs[i]);
    free(runs);
    return 0;
}

static void put_point(FILE *out, const struct report_data *data, size_t index, size_t most_runs)
{
    const struct report_point *point = &data->points[index];
    const double figures[] = {point->mean_bps,
                              point->ci_low_bps,
                              point->ci_high_bps,
                              point->std_bps,
                              point->replays > 0 ? (double)point->replays : NAN,
                              point->iops,
                              point->latency_mean_ns,
                              point->latency_p99_ns};
    fprintf(out, "%zu", index);
    put_factors(out, data, point);
    put_numbers(out, figures, sizeof figures / sizeof figures[0]);
    fputc(',', out);
    if (point->failed != NULL)
        csv_text(out, point->failed);
    for (size_t i = 0; i < most_runs; i++) {
        double bps = i < point->n_runs ? data->runs[point->first_run + i].figures[REPORT_BPS] : NAN;
        put_numbers(out, &bps, 1);
    }
    fputs(CSV_END, out);
}

void report_experiment_csv_wide(FILE *out, const struct report_data *data)
{
    size_t most_runs = 0;
    for (size_t i = 0; i < data->n_points; i++)
        most_runs = data->points[i].n_runs > most_runs ? data->points[i].n_runs : most_runs;
    fputs("\"point\"", out);
    put_factors(out, data, NULL);
    fputs(",\"mean_bps\",\"ci_low_bps\",\"ci_high_bps\",\"std_bps\",\"replays\",\"iops\",\"latency_mean_ns\","
          "\"latency_p99_ns\",\"failed\"",
          out);
    for (size_t i = 0; i < most_runs; i++)
        fprintf(out, ",\"replay_%zu_bps\"", i + 1);
    fputs(CSV_END, out);
    for (size_t i = 0; i < data->n_points; i++)
        put_point(out, data, data->order[i], most_runs);
}

/* Factors that no other one decides; how many. */
static size_t leading_factors(const struct report_data *data, size_t factors[REPORT_MAX_FACTORS])
{
    size_t n = 0;
    for (size_t i = 0; i < data->n_factors; i++) {
        if (report_experiment_data_leader(data, i) == REPORT_NO_FACTOR)
            factors[n++] = i;
    }
    return n;
}

static void put_matrix(FILE *out, const struct report_data *data, const size_t factors[2], double *means)
{
    const struct report_factor *down = &data->factors[factors[0]], *across = &data->factors[factors[1]];
    char corner[256];
    for (size_t i = 0; i < down->n_levels * across->n_levels; i++)
        means[i] = NAN;
    for (size_t i = 0; i < data->n_points; i++) {
        const struct report_point *point = &data->points[i];
        if (point->measured)
            means[point->level[factors[0]] * across->n_levels + point->level[factors[1]]] = point->mean_bps;
    }
    snprintf(corner, sizeof corner, "%s \\ %s", down->name, across->name);
    csv_text(out, corner);
    for (size_t i = 0; i < across->n_levels; i++) {
        fputc(',', out);
        put_level(out, across->level[i]);
    }
    fputs(CSV_END, out);
    for (size_t i = 0; i < down->n_levels; i++) {
        put_level(out, down->level[i]);
        put_numbers(out, &means[i * across->n_levels], across->n_levels);
        fputs(CSV_END, out);
    }
}

int report_experiment_csv_matrix(FILE *out, const struct report_data *data, struct err *err)
{
    size_t factors[REPORT_MAX_FACTORS], n = leading_factors(data, factors);
    if (n != 2)
        return err_set(err, -EINVAL, "a matrix has two factors, the experiment varies %zu; use csv-wide", n);
    double *means =
        calloc(data->factors[factors[0]].n_levels * data->factors[factors[1]].n_levels, sizeof *means);
    if (means == NULL)
        return err_set(err, -ENOMEM, "no memory for the matrix");
    put_matrix(out, data, factors, means);
    free(means);
    return 0;
}
