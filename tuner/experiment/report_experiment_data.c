/* tuner/experiment/report_experiment_data: reads the document of an experiment. */
#include "tuner/experiment/report_experiment_data.h"

#include "tuner/base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA              "fstune/experiment/1"
#define STANDARD_CONFIDENCE 0.95
#define STANDARD_TOLERANCE  0.03

const char *const report_figure_names[REPORT_N_FIGURES] = {[REPORT_BPS] = "throughput_bps",
                                                           "iops",
                                                           "latency_mean_ns",
                                                           "latency_p99_ns",
                                                           "seconds",
                                                           "bytes",
                                                           "batches"};

static double share_of(const json_t *object, const char *key, double standard)
{
    double share = json_read_number(object, key);
    return share > 0 && share < 1 ? share : standard;
}

static bool same_level(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b) != 0;
}

static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

static int read_factor(struct report_factor *factor, const json_t *object, struct err *err)
{
    const json_t *levels = json_object_get(object, "levels"), *texts = json_object_get(object, "texts");
    factor->name = json_string_value(json_object_get(object, "name"));
    factor->unit = json_read_text(object, "unit", "");
    factor->n_levels = json_array_size(levels);
    if (factor->name == NULL || !is_printable(factor->name) || factor->n_levels == 0 ||
        json_array_size(texts) != factor->n_levels)
        return err_set(err, -EINVAL, "the experiment's factors are damaged");
    if (factor->n_levels > REPORT_MAX_LEVELS)
        return err_set(err, -EINVAL, "%.60s has %zu levels; %d are the most", factor->name, factor->n_levels,
                       REPORT_MAX_LEVELS);
    for (size_t i = 0; i < factor->n_levels; i++) {
        factor->level[i] = json_array_get(levels, i);
        factor->text[i] = json_string_value(json_array_get(texts, i));
        if (factor->text[i] == NULL || !is_printable(factor->text[i]) ||
            !(json_is_number(factor->level[i]) || json_is_string(factor->level[i])))
            return err_set(err, -EINVAL, "the levels of %.60s are damaged", factor->name);
    }
    return 0;
}

static int read_factors(struct report_data *data, const json_t *document, struct err *err)
{
    const json_t *factors = json_object_get(document, "factors");
    data->n_factors = json_array_size(factors);
    if (data->n_factors > REPORT_MAX_FACTORS)
        return err_set(err, -EINVAL, "the experiment varies %zu factors; %d are the most", data->n_factors,
                       REPORT_MAX_FACTORS);
    for (size_t i = 0; i < data->n_factors; i++) {
        int result = read_factor(&data->factors[i], json_array_get(factors, i), err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_levels(const struct report_data *data, struct report_point *point, const json_t *object,
                       struct err *err)
{
    const json_t *levels = json_object_get(object, "levels");
    for (size_t i = 0; i < data->n_factors; i++) {
        const struct report_factor *factor = &data->factors[i];
        const json_t *level = json_object_get(levels, factor->name);
        size_t k = 0;
        while (k < factor->n_levels && (level == NULL || !same_level(level, factor->level[k])))
            k++;
        if (k == factor->n_levels)
            return err_set(err, -EINVAL, "a setting of the experiment has no level of %.60s", factor->name);
        point->level[i] = k;
    }
    return 0;
}

static void read_point_figures(struct report_point *point, const json_t *object)
{
    const json_t *latency = json_object_get(object, "latency_ns"), *iops = json_object_get(object, "iops");
    double replays = json_read_number(object, "replays");
    point->mean_bps = json_read_number(object, "mean");
    point->ci_low_bps = json_read_number(object, "ci_low");
    point->ci_high_bps = json_read_number(object, "ci_high");
    point->std_bps = json_read_number(object, "std");
    point->iops = json_is_object(iops) ? json_read_number(iops, "mean") : json_read_number(object, "iops");
    point->latency_mean_ns = json_read_number(latency, "mean");
    point->latency_p99_ns = json_read_number(latency, "p99");
    point->replays = replays >= 1 && replays < 1e9 ? (size_t)replays : 0;
    point->failed = json_string_value(json_object_get(object, "failed"));
    point->measured = point->failed == NULL && point->mean_bps > 0;
    point->trusted = json_array_size(json_object_get(object, "disqualified_by")) == 0;
    point->counts = point->measured && point->trusted;
}

static void read_run(struct report_run *run, size_t point, const json_t *object)
{
    *run = (struct report_run){.point = point, .number = json_read_number(object, "number")};
    for (size_t i = 0; i < REPORT_N_FIGURES; i++)
        run->figures[i] = json_read_number(object, report_figure_names[i]);
}

static size_t count_runs(const json_t *points)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(points); i++)
        n += json_array_size(json_object_get(json_array_get(points, i), "runs"));
    return n;
}

static int compare_points(const void *left, const void *right, void *context)
{
    const struct report_data *data = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    for (size_t i = 0; i < data->n_factors; i++) {
        size_t level_a = data->points[a].level[i], level_b = data->points[b].level[i];
        if (level_a != level_b)
            return level_a < level_b ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static int read_points(struct report_data *data, const json_t *points, struct err *err)
{
    data->n_points = json_array_size(points);
    data->points = calloc(data->n_points + 1, sizeof *data->points);
    data->order = calloc(data->n_points + 1, sizeof *data->order);
    data->runs = calloc(count_runs(points) + 1, sizeof *data->runs);
    if (data->points == NULL || data->order == NULL || data->runs == NULL)
        return err_set(err, -ENOMEM, "no memory for the experiment's settings");
    for (size_t i = 0; i < data->n_points; i++) {
        struct report_point *point = &data->points[i];
        const json_t *object = json_array_get(points, i), *runs = json_object_get(object, "runs");
        int result = read_levels(data, point, object, err);
        if (result < 0)
            return result;
        read_point_figures(point, object);
        point->first_run = data->n_runs;
        point->n_runs = json_array_size(runs);
        for (size_t k = 0; k < point->n_runs; k++)
            read_run(&data->runs[data->n_runs++], i, json_array_get(runs, k));
        data->order[i] = i;
    }
    qsort_r(data->order, data->n_points, sizeof *data->order, compare_points, data);
    return 0;
}

int report_experiment_data_read(struct report_data *data, const json_t *document, struct err *err)
{
    const json_t *points = json_object_get(document, "points");
    *data = (struct report_data){.document = document,
                                 .confidence_share = share_of(document, "confidence", STANDARD_CONFIDENCE),
                                 .tolerance_share = share_of(document, "tolerance", STANDARD_TOLERANCE)};
    if (strcmp(json_read_text(document, "schema", ""), SCHEMA) != 0 || !json_is_array(points))
        return err_set(err, -EINVAL, "it is no result of `fstune experiment --json` (schema %s)", SCHEMA);
    int result = read_factors(data, document, err);
    if (result == 0)
        result = read_points(data, points, err);
    if (result < 0)
        report_experiment_data_done(data);
    return result;
}

void report_experiment_data_done(struct report_data *data)
{
    free(data->points);
    free(data->order);
    free(data->runs);
    *data = (struct report_data){0};
}

const json_t *report_experiment_data_level(const struct report_data *data, size_t point, const char *factor)
{
    for (size_t i = 0; i < data->n_factors; i++) {
        if (strcmp(data->factors[i].name, factor) == 0)
            return data->factors[i].level[data->points[point].level[i]];
    }
    return json_object_get(json_object_get(data->document, "fixed"), factor);
}

/* Whether the level of `from` decides that of `factor` at every point. */
static bool decides(const struct report_data *data, size_t from, size_t factor)
{
    size_t decided[REPORT_MAX_LEVELS];
    for (size_t i = 0; i < REPORT_MAX_LEVELS; i++)
        decided[i] = REPORT_MAX_LEVELS;
    for (size_t i = 0; i < data->n_points; i++) {
        const size_t *level = data->points[i].level;
        size_t *seen = &decided[level[from]];
        if (*seen != REPORT_MAX_LEVELS && *seen != level[factor])
            return false;
        *seen = level[factor];
    }
    return true;
}

/* Where both decide each other nothing tells which one matters. */
size_t report_experiment_data_leader(const struct report_data *data, size_t factor)
{
    for (size_t i = 0; i < data->n_factors; i++) {
        if (i != factor && decides(data, i, factor) && !decides(data, factor, i))
            return i;
    }
    return REPORT_NO_FACTOR;
}
