/* Pieces of JSON that several commands print. */
#include "tuner/base/json.h"

#include "tuner/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    /* Whole numbers, also large ones, are easier to read and to compare without a fraction. */
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *json_interval(double mean, double low, double high)
{
    return json_pack("{s:o, s:o, s:o}", "mean", json_number(mean), "ci_low", json_number(low), "ci_high",
                     json_number(high));
}

json_t *json_numbers(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n && array != NULL; i++) {
        if (json_array_append_new(array, json_number(values[i])) < 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

json_t *json_text(const char *text)
{
    /* Names of files and devices may hold any byte, and a text cut to its buffer may end inside a character.
     */
    char *clean = strdup(text);
    if (clean == NULL)
        return NULL;
    for (char *c = clean; *c != '\0';) {
        size_t length = utf8_length(c);
        if (length == 0)
            *c = '?';
        c += length == 0 ? 1 : length;
    }
    json_t *string = json_string(clean);
    free(clean);
    return string;
}

double json_read_number(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    return json_is_number(member) ? json_number_value(member) : NAN;
}

const char *json_read_text(const json_t *object, const char *key, const char *missing)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : missing;
}

json_t *json_pattern(const struct pattern *pattern)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f}", "name", pattern->name, "seq_read",
                     pattern->percent[PATTERN_SEQ_READ] / 100.0, "seq_write",
                     pattern->percent[PATTERN_SEQ_WRITE] / 100.0, "rand_read",
                     pattern->percent[PATTERN_RAND_READ] / 100.0, "rand_write",
                     pattern->percent[PATTERN_RAND_WRITE] / 100.0);
}

json_t *json_point(const struct point *point)
{
    json_t *object =
        json_pack("{s:I, s:i, s:i, s:s, s:i, s:s}", "request_size", (json_int_t)point->request_size_bytes,
                  "queue_depth", (int)point->queue_depth, "direct", (int)point->direct, "api",
                  api_names[point->api], "threads", (int)point->threads, "sync", sync_names[point->sync]);
    if (factors_is_split(point))
        json_object_set_new(object, "write_request_size", json_integer((json_int_t)point->write_size_bytes));
    if (point->clients > 0)
        json_object_set_new(object, "clients", json_integer(point->clients));
    return object;
}

json_t *json_notes(const struct notes *notes, const char *code_key, const char *text_key)
{
    json_t *list = json_array();
    for (size_t i = 0; i < notes->n && list != NULL; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", code_key, json_text(notes->note[i].code),
                                              text_key, json_text(notes->note[i].text)));
    return list;
}

json_t *json_warnings(const struct notes *notes)
{
    json_t *list = json_notes(notes, "code", "text");
    for (size_t i = 0; i < json_array_size(list); i++)
        json_object_set_new(json_array_get(list, i), "disqualifying",
                            json_boolean(notes->note[i].disqualifying));
    return list;
}

static bool was_printed;

bool json_was_printed(void)
{
    return was_printed;
}

static int print_document(FILE *out, json_t *document, size_t flags, struct err *err)
{
    if (document == NULL)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    was_printed |= out == stdout;
    int result = json_dumpf(document, out, flags | JSON_REAL_PRECISION(10));
    json_decref(document);
    if (result != 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return err_sys(err, errno != 0 ? -errno : -EIO, "cannot write the result to standard output");
    return 0;
}

int json_print(FILE *out, json_t *document, struct err *err)
{
    return print_document(out, document, JSON_INDENT(2), err);
}

int json_print_line(FILE *out, json_t *document, struct err *err)
{
    return print_document(out, document, 0, err);
}

json_t *json_read_file(const char *path, struct err *err)
{
    json_error_t where;
    errno = 0;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (document == NULL && where.line < 0)
        (void)err_sys(err, errno != 0 ? -errno : -EIO, "%.200s", path);
    else if (document == NULL)
        (void)err_set(err, -EINVAL, "%.200s:%d: is no JSON: %.100s", path, where.line, where.text);
    return document;
}
