/* tuner/experiment/erofeev_write: an experiment's document into the text format of Erofeev 2021. */
#include "tuner/experiment/erofeev.h"

#include "bench/base/pattern.h"
#include "tuner/base/text.h"
#include "tuner/experiment/report_experiment_data.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct export
{
    struct report_data data;
    struct pattern pattern;
    const char *name[REPORT_MAX_FACTORS]; /* the original's; NULL: left out */
    size_t n_factors, n_points;
};

static const char *original_name(const char *key)
{
    static const char *const names[][2] = {{"request_size", "RS"}, {"queue_depth", "QD"}, {"direct", "DIO"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(key, names[i][0]) == 0)
            return names[i][1];
    }
    return NULL;
}

/* psync at depth 1 and pvec above: one call with as many buffers as the depth. */
static bool api_is_original(const struct report_data *data)
{
    for (size_t i = 0; i < data->n_points; i++) {
        const char *api = json_string_value(report_experiment_data_level(data, i, "api"));
        double depth = json_number_value(report_experiment_data_level(data, i, "queue_depth"));
        if (api == NULL || strcmp(api, depth > 1 ? "pvec" : "psync") != 0)
            return false;
    }
    return true;
}

static int name_factors(struct export *export, struct err *err)
{
    const struct report_data *data = &export->data;
    for (size_t i = 0; i < data->n_factors; i++) {
        const char *key = data->factors[i].name;
        export->name[i] = original_name(key);
        export->n_factors += export->name[i] != NULL;
        if (export->name[i] == NULL && !(strcmp(key, "api") == 0 && api_is_original(data)))
            return err_set(err, -EINVAL,
                           "%.60s: Erofeev's format has no name for this factor (it knows request_size, "
                           "queue_depth and direct); use --format csv-wide",
                           key);
    }
    if (export->n_factors == 0)
        return err_set(err, -EINVAL,
                       "Erofeev's format wants request_size, queue_depth or direct varied; use --format "
                       "csv-wide");
    return 0;
}

static int read_pattern(struct export *export, struct err *err)
{
    const json_t *fixed = json_object_get(export->data.document, "fixed");
    const char *name = json_string_value(json_object_get(fixed, "pattern"));
    if (name == NULL || pattern_parse(name, &export->pattern, NULL) < 0)
        return err_set(err, -EINVAL, "Erofeev's format wants one pattern; use --format csv-wide");
    for (unsigned i = 0; i < PATTERN_N_KINDS; i++) {
        if (export->pattern.percent[i] == 100)
            return 0;
    }
    return err_set(
        err, -EINVAL,
        "%s: Erofeev's format knows read, write, randread and randwrite only; use --format csv-wide",
        export->pattern.name);
}

/* Points of one run only, which an interrupted experiment has, are left out like those of none. */
static bool can_be_written(const struct report_point *point)
{
    return point->measured && isfinite(point->std_bps);
}

static int count_points(struct export *export, struct err *err)
{
    const struct report_data *data = &export->data;
    if (json_integer_value(json_object_get(data->document, "replays_asked")) == 1)
        return err_set(err, -EINVAL,
                       "Erofeev's format wants a standard deviation, which one replay has not; use "
                       "--replays 2 or more");
    for (size_t i = 0; i < data->n_points; i++)
        export->n_points += can_be_written(&data->points[i]);
    return export->n_points > 0 ? 0
                                : err_set(err, -ENODATA, "no setting has a mean and a standard deviation");
}

static void put_point(FILE *out, const struct export *export, const struct report_point *point)
{
    const struct report_data *data = &export->data;
    for (size_t i = 0; i < data->n_factors; i++) {
        if (export->name[i] != NULL)
            fprintf(out, "%s\n%.0f\n", export->name[i],
                    json_number_value(data->factors[i].level[point->level[i]]));
    }
    fprintf(out, "%.0f\n%.0f\n", point->mean_bps, point->std_bps);
}

static int write_all_rows(FILE *out, const struct export *export, struct err *err)
{
    const uint32_t *percent = export->pattern.percent;
    bool sequential = percent[PATTERN_SEQ_READ] + percent[PATTERN_SEQ_WRITE] > 0;
    bool read = percent[PATTERN_SEQ_READ] + percent[PATTERN_RAND_READ] > 0;
    fprintf(out, "%d\n%d\n%zu\n%zu\n", sequential, read, export->n_points, export->n_factors);
    for (size_t i = 0; i < export->data.n_points; i++) {
        if (can_be_written(&export->data.points[i]))
            put_point(out, export, &export->data.points[i]);
    }
    return text_finish(out, err);
}

int erofeev_write(FILE *out, const json_t *document, struct err *err)
{
    struct export export = {0};
    int result = report_experiment_data_read(&export.data, document, err);
    if (result < 0)
        return result;
    result = read_pattern(&export, err);
    if (result == 0)
        result = name_factors(&export, err);
    if (result == 0)
        result = count_points(&export, err);
    if (result == 0)
        result = write_all_rows(out, &export, err);
    report_experiment_data_done(&export.data);
    return result;
}
