/* tuner/picture/page: words and figures in HTML. */
#include "bench/base/units.h"
#include "tuner/picture/page_inside.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_SIZE (RECOMMENDATION_PATH_SIZE + 256)

const char *const page_factor_keys[FACTOR_N] = {
    "request_size", "queue_depth", "direct", "api", "threads", "sync", "write_request_size"};
const char *const page_factor_titles[FACTOR_N] = {"Request size", "Queue depth", "Direct I/O", "I/O API",
                                                  "Threads",      "Sync",        "Write size"};

/* Characters that turn the direction of the text around them (U+202A to U+202E, U+2066 to U+2069): they can
 * make a command look like another one. */
static bool is_turning(const unsigned char *c)
{
    if (c[0] != 0xe2)
        return false;
    return (c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

void page_text(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (is_turning(c)) {
            fputs("&#xfffd;", out);
            c += 2;
            continue;
        }
        if (*c == '&' || *c == '<' || *c == '>' || *c == '"' || *c == '\'')
            fprintf(out, "&#%d;", *c);
        else if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 127)
            fputs("&#xfffd;", out);
        else
            fputc(*c, out);
    }
}

const char *page_plain(const char *text, char *buffer, size_t size)
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0' && n + 1 < size; c++) {
        bool turning = is_turning(c);
        buffer[n++] = turning || *c < ' ' || *c == 127 ? '?' : (char)*c;
        c += turning ? 2 : 0;
    }
    buffer[n] = '\0';
    return buffer;
}

void page_format(FILE *out, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_text(out, text);
}

bool page_member(FILE *out, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL || text[0] == '\0')
        return false;
    page_text(out, text);
    return true;
}

double page_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

uint64_t page_factor(const struct point *point, enum factor factor)
{
    switch (factor) {
    case FACTOR_REQUEST_SIZE:
        return point->request_size_bytes;
    case FACTOR_QUEUE_DEPTH:
        return point->queue_depth;
    case FACTOR_DIRECT:
        return point->direct;
    case FACTOR_API:
        return point->api;
    case FACTOR_THREADS:
        return point->threads;
    case FACTOR_SYNC:
        return point->sync;
    default:
        return point->write_size_bytes;
    }
}

const char *page_factor_text(const struct point *point, enum factor factor, char *buffer)
{
    uint64_t value = page_factor(point, factor);
    if (factor == FACTOR_API)
        snprintf(buffer, UNITS_TEXT_SIZE, "%s", api_names[point->api]);
    else if (factor == FACTOR_SYNC)
        snprintf(buffer, UNITS_TEXT_SIZE, "%s", sync_names[point->sync]);
    else if (factor == FACTOR_WRITE_SIZE && value == 0)
        snprintf(buffer, UNITS_TEXT_SIZE, "same");
    else if (factor == FACTOR_WRITE_SIZE || factor == FACTOR_REQUEST_SIZE)
        units_format_size(value, buffer);
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "%llu", (unsigned long long)value);
    return buffer;
}
