/* tuner/experiment/erofeev: the text format of Erofeev 2021 into an experiment's document. */
#include "tuner/experiment/erofeev.h"

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/json.h"
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
    return err_set(err, -EINVAL, "%.*s:%zu: '%.40s' is no %s", SHOWN_NAME, import->name, import->line,
                   import->text, what);
}

/* The next line, without its end. */
static int next_import_line(struct import *import, const char *what, struct err *err)
{
    size_t length = 0;
    int c;
    import->line++;
    while ((c = getc(import->in)) != EOF && c != '\n') {
        if (c == '\0' || length + 1 == sizeof import->text)
            return err_set(err, -EINVAL, "%.*s:%zu: too long, or no text, for a %s", SHOWN_NAME, import->name,
                           import->line, what);
        import->text[length++] = (char)c;
    }
    if (c == EOF && ferror(import->in))
        return err_sys(err, -EIO, "%.*s: cannot be read", SHOWN_NAME, import->name);
    if (c == EOF && length == 0)
        return err_set(err, -EINVAL, "%.*s:%zu: the file ends where a %s should stand", SHOWN_NAME,
                       import->name, import->line, what);
    length -= length > 0 && import->text[length - 1] == '\r';
    import->text[length] = '\0';
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
        return err_set(err, -EINVAL, "%.*s:%zu: '%.40s' is no %s; %" PRIu64 "..%" PRIu64 " is possible",
                       SHOWN_NAME, import->name, import->line, import->text, what, least, most);
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
        return err_set(err, -EINVAL, "%.*s:%zu: more than %d levels of %s", SHOWN_NAME, import->name,
                       import->line, MAX_LEVELS, names[factor].name);
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
    for (int c; (c = getc(import->in)) != EOF;) {
        if (c != '\n' && c != '\r' && c != ' ')
            return err_set(err, -EINVAL, "%.*s:%zu: more follows after the %" PRIu64 " settings of line 3",
                           SHOWN_NAME, import->name, import->line + 1, import->n_points);
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

/* Equal points are next to each other once they are sorted by their levels' places. */
static int compare_keys(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int refuse_repeated(const struct import *import, struct err *err)
{
    uint64_t *keys = calloc(import->n_points, sizeof *keys);
    if (keys == NULL)
        return err_set(err, -ENOMEM, "no memory for the settings");
    bool repeated = false;
    for (size_t i = 0; i < import->n_points; i++) {
        const json_t *levels = json_object_get(json_array_get(import->points, i), "levels");
        for (size_t k = 0; k < N_FACTORS; k++) {
            json_int_t level = json_integer_value(json_object_get(levels, names[k].key));
            keys[i] = keys[i] * (names[k].most + 1) + (uint64_t)level;
        }
    }
    qsort(keys, import->n_points, sizeof *keys, compare_keys);
    for (size_t i = 1; i < import->n_points; i++)
        repeated |= keys[i - 1] == keys[i];
    free(keys);
    return repeated ? err_set(err, -EINVAL, "%.*s: a setting stands there twice", SHOWN_NAME, import->name)
                    : 0;
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
