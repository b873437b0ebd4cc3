/* Documents of recommend, measure and experiment, and journals, as data of pictures. */
#include "tuner/base/json.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *schema;
    enum plot_source source;
} schemas[] = {
    {"fstune/recommendation/1", PLOT_RECOMMENDATION},
    {"fstune/measurement/1", PLOT_MEASUREMENT},
    {"fstune/experiment/1", PLOT_EXPERIMENT},
    {"fstune/write-prediction/1", PLOT_PREDICTION},
    {"fstune/atoms/1", PLOT_ATOMS},
    {"fstune/cost/1", PLOT_COST},
    {"fstune/profile/1", PLOT_PROFILE},
};

/* What a factor's member says, as text; "" where it says nothing. */
static void level_text(const json_t *value, char text[PLOT_LEVEL_SIZE])
{
    text[0] = '\0';
    if (json_is_string(value))
        snprintf(text, PLOT_LEVEL_SIZE, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, PLOT_LEVEL_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_boolean(value))
        snprintf(text, PLOT_LEVEL_SIZE, "%d", json_is_true(value));
}

int plot_data_point_json(struct plot_data *data, const json_t *row, size_t *ret_point)
{
    uint16_t level[PLOT_FACTOR_N];
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++) {
        char text[PLOT_LEVEL_SIZE];
        level[factor] = factor == PLOT_FACTOR_PATTERN ? data->pattern : PLOT_NO_LEVEL;
        level_text(json_object_get(row, plot_factors[factor].key), text);
        int result = text[0] == '\0' ? 0 : plot_data_level(data, factor, text, &level[factor]);
        if (result < 0)
            return result;
    }
    return json_is_object(row) ? plot_data_point(data, level, ret_point) : -EINVAL;
}

static struct plot_quantile read_quantile(const json_t *latency, const char *key)
{
    char low[16], high[16];
    snprintf(low, sizeof low, "%s_ci_low", key);
    snprintf(high, sizeof high, "%s_ci_high", key);
    return (struct plot_quantile){journal_number(latency, key), journal_number(latency, low),
                                  journal_number(latency, high)};
}

/* A row of the contract. `marks` are added; the figures that came first stay. */
static int read_row(struct plot_data *data, const json_t *row, unsigned marks, size_t *ret_point)
{
    int result = plot_data_point_json(data, row, ret_point);
    if (result < 0)
        return result;
    struct plot_point *point = &data->points[*ret_point];
    point->marks |= marks;
    if (json_array_size(json_object_get(row, "disqualified_by")) > 0)
        point->marks |= PLOT_DISTRUSTED;
    if (isfinite(point->mean_bps))
        return 0;
    point->mean_bps = journal_number(row, "mean");
    point->ci_low_bps = journal_number(row, "ci_low");
    point->ci_high_bps = journal_number(row, "ci_high");
    point->std_bps = journal_number(row, "std");
    point->replays = journal_number(row, "replays");
    /* A scatter of exactly nothing is known, not unknown. */
    const json_t *std = json_object_get(row, "std");
    if (json_is_number(std) && json_number_value(std) == 0)
        point->std_bps = 0;
    const json_t *latency = json_object_get(row, "latency_ns");
    point->latency_mean_ns = journal_number(latency, "mean");
    point->p50 = read_quantile(latency, "p50");
    point->p99 = read_quantile(latency, "p99");
    point->p999 = read_quantile(latency, "p999");
    return 0;
}

static int read_rows(struct plot_data *data, const json_t *rows, unsigned marks)
{
    size_t point;
    int result = 0;
    for (size_t i = 0; i < json_array_size(rows) && result == 0; i++)
        result = read_row(data, json_array_get(rows, i), marks, &point);
    return result;
}

static int read_member(struct plot_data *data, const json_t *document, const char *key, unsigned marks)
{
    size_t point;
    const json_t *row = json_object_get(document, key);
    return json_is_object(row) ? read_row(data, row, marks, &point) : 0;
}

static int read_front(struct plot_data *data, const json_t *rows)
{
    int result = 0;
    data->has_front = json_array_size(rows) > 0;
    data->front = calloc(json_array_size(rows) + 1, sizeof *data->front);
    if (data->front == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < json_array_size(rows) && result == 0; i++)
        result = read_row(data, json_array_get(rows, i), 0, &data->front[data->n_front++]);
    return result;
}

/* The runs of one point, end to end: what lies between them is not in the document. */
static int read_runs(struct plot_data *data, const json_t *runs)
{
    double at_seconds = 0;
    int result = data->n_points > 0 ? 0 : -ENODATA;
    for (size_t i = 0; i < json_array_size(runs) && result == 0; i++) {
        const json_t *object = json_array_get(runs, i);
        double warmup = journal_number(object, "warmup_seconds");
        struct plot_run run = {
            .start_seconds = at_seconds,
            .warmup_seconds = isnan(warmup) ? 0 : warmup,
            .seconds = journal_number(object, "seconds"),
            .bps = journal_number(object, "throughput"),
            .latency_mean_ns = journal_number(object, "latency_mean_ns"),
            .stable = json_is_true(json_object_get(object, "stable")) ||
                      json_is_false(json_object_get(object, "warmed_up")),
        };
        if (isnan(run.seconds) || isnan(run.bps))
            return -EINVAL;
        at_seconds += run.warmup_seconds + run.seconds;
        result = plot_data_add_run(data, &run);
    }
    return result;
}

static void read_verdict(struct plot_data *data, const json_t *sustained)
{
    const json_t *burst = json_object_get(sustained, "burst");
    snprintf(data->verdict, sizeof data->verdict, "%s", json_read_text(sustained, "text", ""));
    data->burst_seconds = journal_number(burst, "seconds");
    data->burst_bps = journal_number(burst, "mean");
    data->after_bps = journal_number(burst, "mean_after");
}

static void read_place(struct plot_data *data, const json_t *system)
{
    const char *file_system = json_read_text(system, "file_system", ""),
               *device = json_read_text(system, "device", "");
    const char *hostname = json_read_text(system, "hostname", ""),
               *when = json_read_text(system, "measured_at", "");
    if (json_is_true(json_object_get(system, "simulated")))
        snprintf(data->place, sizeof data->place, "simulated surface \"%.100s\"",
                 json_read_text(system, "surface", ""));
    else
        snprintf(data->place, sizeof data->place, "%.40s%s%.60s%s%.60s%s%.40s", file_system,
                 device[0] != '\0' ? " on " : "", device, hostname[0] != '\0' ? ", " : "", hostname,
                 when[0] != '\0' ? ", " : "", when);
}

static int read_common(struct plot_data *data, const json_t *document, struct err *err)
{
    const char *schema = json_read_text(document, "schema", "");
    const char *pattern = json_read_text(json_object_get(document, "pattern"), "name", "");
    double confidence = journal_number(json_object_get(document, "throughput"), "confidence");
    size_t i = 0;
    while (i < sizeof schemas / sizeof schemas[0] && strcmp(schemas[i].schema, schema) != 0)
        i++;
    if (i == sizeof schemas / sizeof schemas[0])
        return err_set(err, -EINVAL,
                       "its schema '%.60s' is unknown; give the JSON of recommend, measure, "
                       "experiment or predict",
                       schema);
    data->source = schemas[i].source;
    data->confidence_share = confidence < 1 ? confidence : data->confidence_share;
    read_place(data, json_object_get(document, "system"));
    return pattern[0] == '\0' ? 0 : plot_data_level(data, PLOT_FACTOR_PATTERN, pattern, &data->pattern);
}

/* A point of an experiment: what is the same everywhere stands apart, as do conditions like the pattern. */
static int read_cell(struct plot_data *data, const json_t *fixed, const json_t *cell, size_t *ret_point)
{
    json_t *row = json_copy((json_t *)fixed), *own = (json_t *)cell;
    row = row != NULL ? row : json_object();
    int result = row == NULL ? -ENOMEM : json_is_object(row) && json_is_object(cell) ? 0 : -EINVAL;
    if (result == 0 &&
        (json_object_update(row, own) < 0 || (json_is_object(json_object_get(cell, "levels")) &&
                                              json_object_update(row, json_object_get(own, "levels")) < 0)))
        result = -ENOMEM;
    if (result == 0)
        result = read_row(data, row, 0, ret_point);
    json_decref(row);
    return result;
}

/* Numbers of points[] as what they came to be; one that is out of range marks nothing. */
static void mark_cell(struct plot_data *data, const size_t *cells, size_t n, const json_t *number,
                      unsigned mark)
{
    if (json_is_integer(number) && json_integer_value(number) >= 0 && (size_t)json_integer_value(number) < n)
        data->points[cells[json_integer_value(number)]].marks |= mark;
}

/* Every set of conditions has an answer of its own. */
static void mark_answers(struct plot_data *data, const size_t *cells, size_t n, const json_t *answers)
{
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i), *equal = json_object_get(answer, "equivalent");
        mark_cell(data, cells, n, json_object_get(answer, "best"), PLOT_BEST);
        for (size_t k = 0; k < json_array_size(equal); k++)
            mark_cell(data, cells, n, json_array_get(equal, k), PLOT_EQUIVALENT);
    }
}

static int read_experiment(struct plot_data *data, const json_t *document)
{
    const json_t *points = json_object_get(document, "points"), *fixed = json_object_get(document, "fixed");
    double confidence = journal_number(document, "confidence");
    size_t n = json_array_size(points), *cells = calloc(n + 1, sizeof *cells);
    int result = cells == NULL ? -ENOMEM : 0;
    data->confidence_share = confidence < 1 ? confidence : data->confidence_share;
    for (size_t i = 0; i < n && result == 0; i++)
        result = read_cell(data, fixed, json_array_get(points, i), &cells[i]);
    if (result == 0)
        mark_answers(data, cells, n, json_object_get(json_object_get(document, "analysis"), "answers"));
    free(cells);
    return result;
}

/* Rates that are no numbers are left out, so that the picture has an axis. */
static void read_rates(struct plot_data *data, const json_t *rates)
{
    for (size_t i = 0; i < json_array_size(rates) && data->n_rates < SETTINGS_MAX_RATES; i++) {
        const json_t *rate = json_array_get(rates, i), *latency = json_object_get(rate, "latency_ns");
        struct plot_rate *step = &data->rates[data->n_rates];
        *step = (struct plot_rate){
            .offered_bps = journal_number(rate, "offered_bps"),
            .achieved_bps = journal_number(json_object_get(rate, "achieved_bps"), "mean"),
            .mean_ns = journal_number(latency, "mean"),
            .p50_ns = journal_number(latency, "p50"),
            .p90_ns = journal_number(latency, "p90"),
            .p99_ns = journal_number(latency, "p99"),
            .p999_ns = journal_number(latency, "p999"),
            .p99_low_ns = journal_number(latency, "p99_lowest_run"),
            .p99_high_ns = journal_number(latency, "p99_highest_run"),
        };
        data->n_rates += step->offered_bps > 0 && step->achieved_bps > 0 && step->p50_ns > 0;
    }
}

static int read_document(struct plot_data *data, const json_t *document)
{
    if (data->source == PLOT_EXPERIMENT)
        return read_experiment(data, document);
    int result = read_rows(data, json_object_get(document, "points"), 0);
    if (result == 0)
        result = read_member(data, document, "row", 0);
    if (result == 0 && data->source == PLOT_MEASUREMENT && data->n_points > 0)
        result = read_runs(data, json_object_get(document, "runs"));
    if (result == 0 && data->source == PLOT_MEASUREMENT)
        read_rates(data, json_object_get(document, "rates"));
    if (result == 0)
        result = read_member(data, document, "recommendation", PLOT_RECOMMENDED);
    if (result == 0)
        result = read_member(data, document, "best", PLOT_BEST);
    if (result == 0)
        result = read_member(data, document, "baseline", PLOT_BASELINE);
    if (result == 0)
        result = read_rows(data, json_object_get(document, "equivalent"), PLOT_EQUIVALENT);
    if (result == 0)
        result = read_front(data, json_object_get(document, "pareto"));
    return result;
}

int plot_data_json(struct plot_data *data, const char *text, struct err *err)
{
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL)
        return err_set(err, -EINVAL, "it is no JSON document (line %d: %s)", error.line, error.text);
    int result = read_common(data, document, err);
    if (result == 0 && data->source >= PLOT_PREDICTION) {
        result = data->source == PLOT_PREDICTION ? plot_data_prediction(data, document, err)
                 : data->source == PLOT_PROFILE  ? plot_data_profile(data, document, err)
                                                 : plot_data_figures(data, document, err);
        json_decref(document);
        return result;
    }
    if (result == 0) {
        result = read_document(data, document);
        if (result == -EFBIG)
            err_set(err, result, "it holds more than %d points or %d levels", PLOT_MAX_POINTS,
                    PLOT_MAX_LEVELS);
        else if (result < 0)
            err_set(err, result, "a row in it is damaged");
    }
    const json_t *sustained = json_object_get(document, "sustained");
    if (result == 0)
        read_verdict(data, sustained);
    json_decref(document);
    if (result == 0 && data->n_points == 0)
        result = err_set(err, -ENODATA, "there is no measured point in it");
    return result;
}

static int add_journal_run(struct plot_data *data, const struct journal_run *run)
{
    const struct sample *sample = &run->sample;
    size_t point;
    json_t *object = json_point(&run->point);
    int result = plot_data_point_json(data, object, &point);
    json_decref(object);
    if (result < 0)
        return result;
    moments_add(&data->points[point].bps, sample->throughput_bps);
    double start = run->at_seconds - sample->seconds - sample->warmup_seconds;
    return plot_data_add_run(data, &(struct plot_run){
                                       .point = point,
                                       .start_seconds = fmax(start, 0),
                                       .warmup_seconds = sample->warmup_seconds,
                                       .seconds = sample->seconds,
                                       .bps = sample->throughput_bps,
                                       .latency_mean_ns = sample->latency_mean_ns,
                                       .stable = sample->warmup != MEASURE_WARMUP_LIMIT,
                                       .quantiles = sample->latency_quantiles,
                                   });
}

/* A journal knows latencies by their means; a point's is the mean of its runs'. */
static void set_latencies(struct plot_data *data)
{
    for (size_t i = 0; i < data->n_runs; i++) {
        struct plot_point *point = &data->points[data->runs[i].point];
        double share = 1 / (double)point->bps.n;
        point->latency_mean_ns = (isnan(point->latency_mean_ns) ? 0 : point->latency_mean_ns) +
                                 data->runs[i].latency_mean_ns * share;
    }
}

int plot_data_journal(struct plot_data *data, const char *text, size_t size, struct err *err)
{
    struct journal journal = {.fd = -1};
    int result = journal_parse(&journal, text, size, err);
    if (result < 0)
        return result;
    const char *objective = json_read_text(journal.header, "objective", "");
    data->source = PLOT_JOURNAL;
    data->lower_is_better = strcmp(objective, "latency") == 0 || strcmp(objective, "p99") == 0;
    read_place(data, journal.header);
    if (json_read_text(journal.header, "pattern", "")[0] != '\0')
        result = plot_data_level(data, PLOT_FACTOR_PATTERN, json_read_text(journal.header, "pattern", ""),
                                 &data->pattern);
    for (size_t i = journal.first; i < journal.n_runs && result == 0; i++)
        result = add_journal_run(data, &journal.runs[i]);
    journal_done(&journal);
    if (result < 0)
        return err_set(err, result, "its runs cannot be read");
    set_latencies(data);
    return data->n_runs > 0 ? 0 : err_set(err, -ENODATA, "there is no run in it");
}
