/* tuner/emit/snippet_template: what templates can name, and how a value is written into a format. */
#include "bench/base/units.h"
#include "tuner/base/utf8.h"
#include "tuner/emit/snippet_template.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array)       (sizeof(array) / sizeof((array)[0]))
#define VERSION_MINORS    1000000U
#define LARGEST           1000000000000U
#define MOST_REPLACEMENTS 5

/* Characters that would end a value, and what stands for them. */
static const struct {
    const char *filter, *characters;
    const char *instead[MOST_REPLACEMENTS];
} filters[] = {
    {"sh", "'", {"'\\''"}},
    {"quoted-sh", "'\"\\", {"'\\''", "\\\"", "\\\\"}},
    {"qemu", ",'", {",,", "'\\''"}},
    {"xml", "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}},
};

uint64_t snippet_values_number(const char *text)
{
    char *end = NULL;
    uint64_t number = strtoull(text, &end, 10);
    number = (number < LARGEST ? number : LARGEST) * VERSION_MINORS;
    return number + (*end == '.' ? strtoull(end + 1, NULL, 10) : 0);
}

static bool write_json(FILE *out, const char *value)
{
    json_t *string = json_string(value);
    char *text = json_dumps(string, JSON_ENCODE_ANY);
    fputs(text != NULL ? text : "null", out);
    free(text);
    json_decref(string);
    return true;
}

static bool write_number(FILE *out, const char *value, const char *filter)
{
    char *end = NULL;
    unsigned long least = strtoul(filter, &end, 10);
    if (*end == '\0')
        return fprintf(out, "%.*s", (int)least, value) >= 0;
    if (strncmp(end, "..", 2) != 0)
        return false;
    unsigned long most = strtoul(end + 2, NULL, 10), number = strtoul(value, NULL, 10);
    return fprintf(out, "%lu", number < least ? least : number > most ? most : number) >= 0;
}

bool snippet_values_filter(FILE *out, const char *value, const char *filter)
{
    size_t row = 0;
    if (isdigit((unsigned char)*filter))
        return write_number(out, value, filter);
    if (strcmp(filter, "json") == 0)
        return write_json(out, value);
    while (row < N_OF(filters) && strcmp(filters[row].filter, filter) != 0)
        row++;
    for (const char *c = value; *c != '\0' && row < N_OF(filters); c++) {
        const char *found = strchr(filters[row].characters, *c);
        if (found != NULL)
            fputs(filters[row].instead[found - filters[row].characters], out);
        else
            fputc(*c, out);
    }
    return row < N_OF(filters);
}

const struct recommendation *snippet_answer(const struct snippet_request *request, size_t i)
{
    return i == 0 ? request->recommendation : request->more[i - 1];
}

const char *snippet_image_path(const struct snippet_request *request)
{
    return request->image[0] != '\0' ? request->image : SNIPPET_NO_IMAGE;
}

/* Bytes that are no text are the format's to judge: file names may hold any. */
static bool ends_or_hides(const char *character)
{
    size_t length = utf8_length(character);
    return (unsigned char)*character < ' ' || *character == 127 ||
           (length > 1 && !utf8_is_plain(character, length));
}

int snippet_check_path(const char *path, const char *refused, struct err *err)
{
    for (const char *c = path; *c != '\0'; c++) {
        if (ends_or_hides(c))
            return err_set(err, -EINVAL,
                           "the path holds a control character, which this format cannot express; rename or "
                           "link the file");
        if (strchr(refused, *c) != NULL)
            return err_set(err, -EINVAL,
                           "the path %.200s holds '%c', which this format cannot express; rename or link the "
                           "file",
                           path, *c);
    }
    return 0;
}

static void set_numbers(struct snippet_template *run)
{
    const struct snippet_request *request = run->request;
    const struct recommendation *recommendation = request->recommendation;
    const struct point *point = &recommendation->point;
    const uint32_t *percent = recommendation->pattern.percent;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"request_bytes", point->request_size_bytes},
        {"write_bytes", factors_write_size_bytes(point)},
        {"largest_bytes", factors_largest_size_bytes(point)},
        {"split", factors_is_split(point)},
        {"queue_depth", point->queue_depth},
        {"direct", point->direct},
        {"threads", point->threads},
        {"in_flight", (uint64_t)point->queue_depth * point->threads},
        {"queue_size_of_thread", snippet_queue_size(request, point->threads)},
        {"durable", point->sync == SYNC_EACH || request->directsync},
        {"reads", pattern_reads(&recommendation->pattern)},
        {"writes", pattern_writes(&recommendation->pattern)},
        {"random", pattern_is_random(&recommendation->pattern)},
        {"seq_read", percent[PATTERN_SEQ_READ]},
        {"seq_write", percent[PATTERN_SEQ_WRITE]},
        {"simulated", recommendation->simulated},
        {"directsync", request->directsync},
        {"self_tuning", request->self_tuning},
        {"major", request->version[0]},
    };
    for (size_t i = 0; i < N_OF(numbers); i++)
        snippet_value(run, numbers[i].name, "%" PRIu64, numbers[i].value);
}

static bool is_utf8(const char *text)
{
    while (*text != '\0' && utf8_length(text) > 0)
        text += utf8_length(text);
    return *text == '\0';
}

/* What a shell and QEMU take for no more than a name. A colon before the first slash: a protocol ("nbd:"). */
static void set_path(struct snippet_template *run)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%=,";
    const char *path = snippet_image_path(run->request);
    size_t length = strlen(path);
    snippet_value(run, "image", "%s", run->request->image);
    snippet_value(run, "path", "%s", path);
    snippet_value(run, "path_is_text", "%d", is_utf8(path));
    snippet_value(run, "path_is_plain", "%d", path[strspn(path, plain)] == '\0');
    snippet_value(run, "path_is_protocol", "%d", path[strcspn(path, "/:")] == ':');
    snippet_value(run, "path_has_outer_blank", "%d", path[0] == ' ' || path[length - 1] == ' ');
}

void snippet_values_set(struct snippet_template *run)
{
    const struct snippet_request *request = run->request;
    const struct recommendation *recommendation = request->recommendation;
    const struct point *point = &recommendation->point;
    char size[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE];
    const struct {
        const char *name, *text;
    } texts[] = {
        {"request_size", units_format_size(point->request_size_bytes, size)},
        {"split_size",
         factors_is_split(point) ? units_format_size(factors_write_size_bytes(point), writes) : ""},
        {"api", api_names[point->api]},
        {"sync", sync_names[point->sync]},
        {"pattern", recommendation->pattern.name},
        {"file_system", recommendation->file_system},
        {"device", recommendation->device},
        {"image_format", snippet_image_names[request->image_format]},
        {"bus", snippet_bus_names[request->bus]},
        {"cache", snippet_cache_mode(request)},
        {"cache_meaning", snippet_cache_meaning(request)},
        {"version", ""},
    };
    for (size_t i = 0; i < N_OF(texts); i++)
        snippet_value(run, texts[i].name, "%s", texts[i].text);
    if (request->version[0] + request->version[1] > 0)
        snippet_value(run, "version", "%u.%u", request->version[0], request->version[1]);
    set_numbers(run);
    set_path(run);
}
