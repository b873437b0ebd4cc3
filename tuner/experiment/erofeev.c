/* tuner/experiment/erofeev: the text format of Erofeev 2021 into an experiment's document, and back. */
#include "tuner/experiment/erofeev.h"

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/experiment/report_experiment_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS  16384
#define MAX_LEVELS  64
#define MAX_FIGURE  1e15
#define LINE_SIZE   128 /* of a value; the longest that has a meaning is shorter by far */
#define N_FACTORS   3
#define SHOWN_NAME  200 /* of a path in a message, so that the message survives it */
#define ORIGINAL_QD 1024

/* What the original can vary, and the level it takes where it does not (appendix A). */
static const struct {
    const char *name, *key, *unit;
    uint64_t standard, least, most;
} names[N_FACTORS] = {
    {"RS", "request_size", "bytes", 65536, 1, FACTORS_REQUEST_SIZE_MAX_BYTES},
    {"QD", "queue_depth", "", 8, 1, ORIGINAL_QD},
    {"DIO", "direct", "", 0, 0, 1},
};

struct import {
    FILE *in;
    const char *name;
    size_t line;
    char text[LINE_SIZE];
    uint64_t sequential, read, n_points, n_factors;
    size_t order[N_FACTORS]; /* indices into names, as in the first point */
    size_t n_levels[N_FACTORS];
    uint64_t levels[N_FACTORS][MAX_LEVELS];
    json_t *points;
};

static int refuse_import(const struct import *import, struct err *err, const char *what)
{
    return err_set(err, -EINVAL, "'%.40s' is no %s", import->text, what);
}

/* The next line, without its end. erofeev_read puts name and line before what is refused. */
static int next_import_line(struct import *import, const char *what, struct err *err)
{
    import->line++;
    int result = text_line(import->in, import->text, sizeof import->text);
    if (result == -EMSGSIZE)
        return err_set(err, -EINVAL, "too long, or no text, for a %s", what);
    if (result == -EIO)
        return err_sys(err, -EIO, "%.*s: cannot be read", SHOWN_NAME, import->name);
    if (result < 0)
        return err_set(err, -EINVAL, "the file ends where a %s should stand", what);
    size_t length = strlen(import->text);
    if (length > 0 && import->text[length - 1] == '\r')
        import->text[length - 1] = '\0';
    return 0;
}

static int read_count(struct import *import, const char *what, uint64_t least, uint64_t most,
                      uint64_t *ret_count, struct err *err)
{
    uint64_t count;
    int result = next_import_line(import, what, err);
    if (result < 0)
        return result;
    if (units_parse_count(import->text, most, &count) < 0 || count < least)
        return err_set(err, -EINVAL, "'%.40s' is no %s; %" PRIu64 "..%" PRIu64 " is possible", import->text,
                       what, least, most);
    *ret_count = count;
    return 0;
}

/* C++ streams write large figures with an exponent. */
static int read_figure(struct import *import, const char *what, double *ret_figure, struct err *err)
{
    char *end = NULL;
    int result = next_import_line(import, what, err);
    if (result < 0)
        return result;
    if (import->text[0] < '0' || import->text[0] > '9' ||
        strspn(import->text, "0123456789.eE+-") != strlen(import->text))
        return refuse_import(import, err, what);
    double figure = strtod(import->text, &end);
    if (*end != '\0' || !(figure >= 0 && figure <= MAX_FIGURE))
        return refuse_import(import, err, what);
    *ret_figure = figure;
    return 0;
}

static int read_factor_name(struct import *import, size_t *ret_factor, struct err *err)
{
    int result = next_import_line(import, "name of a factor (RS, QD, DIO)", err);
    for (size_t i = 0; result == 0 && i < N_FACTORS; i++) {
        if (strcmp(import->text, names[i].name) == 0) {
            *ret_factor = i;
            return 0;
        }
    }
    return result < 0 ? result : refuse_import(import, err, "name of a factor (RS, QD, DIO)");
}

static int note_level(struct import *import, size_t factor, uint64_t level, struct err *err)
{
    uint64_t *levels = import->levels[factor];
    size_t n = import->n_levels[factor], place = n;
    for (size_t i = 0; i < n; i++) {
        if (levels[i] == level)
            return 0;
    }
    if (n == MAX_LEVELS)
        return err_set(err, -EINVAL, "more than %d levels of %s", MAX_LEVELS, names[factor].name);
    for (; place > 0 && levels[place - 1] > level; place--)
        levels[place] = levels[place - 1];
    levels[place] = level;
    import->n_levels[factor]++;
    return 0;
}

/* Names and levels of one point; every point has the same names. */
static int read_levels(struct import *import, bool first, json_t *levels, struct err *err)
{
    for (size_t i = 0; i < import->n_factors; i++) {
        size_t factor = 0;
        uint64_t level = 0;
        int result = read_factor_name(import, &factor, err);
        if (result == 0 && json_object_get(levels, names[factor].key) != NULL)
            result = refuse_import(import, err, "second factor of this setting");
        if (result == 0 && !first && import->n_levels[factor] == 0)
            result = refuse_import(import, err, "factor of the settings before");
        if (result == 0)
            result = read_count(import, "level", names[factor].least, names[factor].most, &level, err);
        if (result == 0)
            result = note_level(import, factor, level, err);
        if (result < 0)
            return result;
        if (first)
            import->order[i] = factor;
        if (json_object_set_new(levels, names[factor].key, json_integer((json_int_t)level)) < 0)
            return err_set(err, -ENOMEM, "no memory for a setting");
    }
    return 0;
}

static int read_point(struct import *import, bool first, struct err *err)
{
    double mean = 0, std = 0;
    json_t *levels = json_object();
    int result = read_levels(import, first, levels, err);
    if (result == 0)
        result = read_figure(import, "mean throughput", &mean, err);
    if (result == 0 && mean < 1)
        result = refuse_import(import, err, "mean throughput of 1 byte/s or more");
    if (result == 0)
        result = read_figure(import, "standard deviation", &std, err);
    if (result < 0) {
        json_decref(levels);
        return result;
    }
    json_t *point = json_pack("{s:o, s:o, s:n, s:n, s:o, s:n, s:n, s:n, s:[], s:n, s:[]}", "levels", levels,
                              "mean", json_number(mean), "ci_low", "ci_high", "std", json_number(std), "iops",
                              "replays", "latency_ns", "warnings", "failed", "runs");
    return json_array_append_new(import->points, point) < 0 ? err_set(err, -ENOMEM, "no memory for a setting")
                                                            : 0;
}

static int read_rest(struct import *import, struct err *err)
{
    import->line++;
    for (int c; (c = getc(import->in)) != EOF;) {
        if (c != '\n' && c != '\r' && c != ' ')
            return err_set(err, -EINVAL, "more follows after the %" PRIu64 " settings of line 3",
                           import->n_points);
        import->line += c == '\n';
    }
    return ferror(import->in) ? err_sys(err, -EIO, "%.*s: cannot be read", SHOWN_NAME, import->name) : 0;
}

static int read_all_rows(struct import *import, struct err *err)
{
    int result = read_count(import, "flag of sequential access", 0, 1, &import->sequential, err);
    if (result == 0)
        result = read_count(import, "flag of reading", 0, 1, &import->read, err);
    if (result == 0)
        result = read_count(import, "number of settings", 1, MAX_POINTS, &import->n_points, err);
    if (result == 0)
        result = read_count(import, "number of factors", 1, N_FACTORS, &import->n_factors, err);
    for (uint64_t i = 0; result == 0 && i < import->n_points; i++)
        result = read_point(import, i == 0, err);
    return result == 0 ? read_rest(import, err) : result;
}

/* The levels of a point, in one order whatever theirs was, are its name among those seen. */
static int refuse_repeated(const struct import *import, struct err *err)
{
    json_t *seen = json_object();
    int result = 0;
    for (size_t i = 0; i < import->n_points && result == 0; i++) {
        const json_t *levels = json_object_get(json_array_get(import->points, i), "levels");
        char *name = json_dumps(levels, JSON_COMPACT | JSON_SORT_KEYS);
        if (json_object_get(seen, name) != NULL)
            result = err_set(err, -EINVAL, "%.*s: a setting stands there twice", SHOWN_NAME, import->name);
        else if (json_object_set_new(seen, name, json_true()) < 0)
            result = err_set(err, -ENOMEM, "no memory for the settings");
        free(name);
    }
    json_decref(seen);
    return result;
}

static json_t *factor_json(const struct import *import, size_t factor)
{
    char text[UNITS_TEXT_SIZE];
    json_t *levels = json_array(), *texts = json_array();
    for (size_t i = 0; i < import->n_levels[factor]; i++) {
        uint64_t level = import->levels[factor][i];
        if (names[factor].unit[0] != '\0')
            units_format_size(level, text);
        else
            snprintf(text, sizeof text, "%" PRIu64, level);
        json_array_append_new(levels, json_integer((json_int_t)level));
        json_array_append_new(texts, json_string(text));
    }
    return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", names[factor].key, "unit", names[factor].unit,
                     "ordered", 1, "levels", levels, "texts", texts);
}

static json_t *fixed_json(const struct import *import)
{
    static const char *const patterns[2][2] = {{"randwrite", "randread"}, {"write", "read"}};
    json_t *fixed = json_pack("{s:s, s:s, s:i}", "pattern", patterns[import->sequential][import->read], "api",
                              "pvec", "threads", 1);
    for (size_t i = 0; i < N_FACTORS; i++) {
        if (import->n_levels[i] == 0)
            json_object_set_new(fixed, names[i].key, json_integer((json_int_t)names[i].standard));
    }
    return fixed;
}

static json_t *document_of(struct import *import)
{
    static const char text[] =
        "read from the text format of Erofeev's benchmark, which keeps neither single runs nor their number: "
        "nothing can be tested. Its queue depth is the number of buffers of one preadv or pwritev call "
        "(API pvec)";
    uint64_t full = 1;
    json_t *factors = json_array();
    for (size_t i = 0; i < import->n_factors; i++) {
        json_array_append_new(factors, factor_json(import, import->order[i]));
        full *= import->n_levels[import->order[i]];
    }
    return json_pack("{s:s, s:s, s:b, s:o, s:{s:s, s:I}, s:n, s:n, s:o, s:o, s:O, s:[], s:[{s:s, s:s, s:b}], "
                     "s:{s:b}, s:n, s:n, s:n}",
                     "schema", "fstune/experiment/1", "version", FSTUNE_VERSION, "interrupted", 0, "name",
                     json_text(basename(import->name)), "design", "name",
                     full == import->n_points ? "full" : "imported", "points", (json_int_t)import->n_points,
                     "replays_asked", "seed", "factors", factors, "fixed", fixed_json(import), "points",
                     import->points, "dropped", "warnings", "code", "imported", "text", text, "disqualifying",
                     0, "system", "imported", 1, "seconds", "bytes_written", "bytes_read");
}

int erofeev_read(FILE *in, const char *name, json_t **ret_document, struct err *err)
{
    struct import import = {.in = in, .name = name, .points = json_array()};
    int result = read_all_rows(&import, err);
    if (result == -EINVAL)
        (void)err_prefix(err, "%.*s:%zu", SHOWN_NAME, name, import.line);
    if (result == 0)
        result = refuse_repeated(&import, err);
    json_t *document = result == 0 ? document_of(&import) : NULL;
    json_decref(import.points);
    if (result < 0)
        return result;
    if (document == NULL)
        return err_set(err, -ENOMEM, "no memory for the experiment");
    *ret_document = document;
    return 0;
}

int erofeev_import(const char *path, json_t **ret_document, struct err *err)
{
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return err_sys(err, -errno, "cannot open %.*s", SHOWN_NAME, path);
    int result = erofeev_read(in, path, ret_document, err);
    fclose(in);
    return result;
}

/* ---- writing ---- */

struct export
{
    struct report_data data;
    struct pattern pattern;
    const char *name[REPORT_MAX_FACTORS]; /* the original's; NULL: left out */
    size_t n_factors, n_points;
};

static const char *original_name(const char *key)
{
    for (size_t i = 0; i < N_FACTORS; i++) {
        if (strcmp(key, names[i].key) == 0)
            return names[i].name;
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
