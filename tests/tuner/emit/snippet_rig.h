/* tests/tuner/emit/snippet_rig: answers and requests in words, and what a format makes of them. */
#pragma once

#include "bench/base/units.h"
#include "tests/test.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/options/options.h"

#include <errno.h>

#define MAX_ANSWERS (1 + SNIPPET_MAX_MORE)

static struct settings settings;
static struct recommendation answers[MAX_ANSWERS];
static json_t *documents[MAX_ANSWERS];
static struct snippet_request request;
static struct err err;
static char *text, *remarks; /* of the last snippet */

/* What a test does not give otherwise. */
static const char standard[] =
    "{'schema': 'fstune/recommendation/1', 'version': '0.1.0', 'pattern': {'name': 'randwrite'},"
    " 'recommendation': {'request_size': 65536, 'queue_depth': 8, 'direct': 1, 'api': 'libaio',"
    "                    'threads': 1, 'sync': 'end'},"
    " 'throughput': {'mean': 1e9, 'ci_low': 9e8, 'ci_high': 1.1e9, 'confidence': 0.95, 'replays': 5},"
    " 'iops': {'mean': 15000}, 'latency_ns': {'mean': 5e5, 'p99': 1e6},"
    " 'probability_within_tolerance': 0.97, 'conclusive': true,"
    " 'system': {'measured_at': '2024-02-03T04:05:06Z', 'hostname': 'store1', 'kernel': '6.1.0',"
    "            'file_system': 'ext4', 'device': 'vda', 'path': '/srv/data'}}";

static inline json_t *standard_document(void)
{
    char json[sizeof standard];
    for (size_t i = 0; i < sizeof standard; i++)
        json[i] = standard[i] == '\'' ? '"' : standard[i];
    json_t *document = json_loads(json, 0, NULL);
    assert_non_null(document);
    return document;
}

/* A size ("64k"), another value of JSON, or a text. */
static inline json_t *value_of(const char *value)
{
    uint64_t bytes;
    json_t *number = units_parse_size(value, &bytes) == 0 ? json_integer((json_int_t)bytes)
                                                          : json_loads(value, JSON_DECODE_ANY, NULL);
    return number != NULL ? number : json_string(value);
}

/* "GROUP.NAME=VALUE": a member of the answer, of a group or, with none before the dot, of its own; "NAME" or
 * "NAME=VALUE": an option, else a factor of the recommended setting. */
static inline void give_word(json_t *document, char *word)
{
    char *value = word + strcspn(word, "="), *dot = strchr(word, '.');
    if (*value != '\0')
        *value++ = '\0';
    json_t *object = json_object_get(document, "recommendation");
    const struct option_row *row = options_find(word, OPTIONS_EMIT);
    if (dot != NULL && dot < value) {
        *dot = '\0';
        object = *word != '\0' ? json_object_get(document, word) : document;
        word = dot + 1;
    } else if (row != NULL) {
        if (options_set(&settings, row, *value != '\0' ? value : NULL, &err) != 0)
            fail_msg("%s: %s", word, err.text);
        return;
    }
    assert_int_equal(json_object_set_new(object, word, value_of(value)), 0);
}

/* Words with blanks between; behind "+" those of a further answer. "image=" takes the rest of the text. */
static inline void give(const char *given)
{
    AUTO(auto_free) char *words = strdup(given);
    char *image = strstr(words, "image="), *rest = NULL;
    size_t n = 0;
    settings_init(&settings);
    for (size_t i = 0; i < MAX_ANSWERS; i++) {
        json_decref(documents[i]);
        documents[i] = standard_document();
    }
    if (image != NULL) {
        snprintf(settings.snippet.image, sizeof settings.snippet.image, "%s", image + strlen("image="));
        *image = '\0';
    }
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "+") == 0)
            n++;
        else
            give_word(documents[n], word);
    }
    for (size_t i = 0; i <= n; i++)
        if (recommendation_read(&answers[i], documents[i], &err) != 0)
            fail_msg("%s: %s", given, err.text);
    request = report_snippet_request(&settings.snippet, answers, n + 1);
}

static inline int emit(const struct snippet_ops *ops)
{
    free(text);
    free(remarks);
    text = remarks = NULL;
    err = (struct err){0};
    return snippet_make(ops, &request, &text, &remarks, &err);
}

/* In a line that is no comment. */
static inline bool sets(const char *part)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *found = strstr(line, part);
        if (*line != '#' && *line != ';' && found != NULL && found < line + strcspn(line, "\n"))
            return true;
    }
    return false;
}

static inline bool has_line(const char *line)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    return strstr(text, wanted) != NULL;
}

/* A part stands in the snippet or in the remarks beside it; with '=' in front it is a whole line, with '~' it
 * stands in a line that is no comment, with '!' in none of those, with '@' in comments alone, with '^'
 * nowhere. */
static inline bool holds(const char *part)
{
    switch (*part) {
    case '=':
        return has_line(part + 1);
    case '~':
        return sets(part + 1);
    case '!':
        return !sets(part + 1);
    case '@':
        return strstr(text, part + 1) != NULL && !sets(part + 1);
    case '^':
        return strstr(text, part + 1) == NULL;
    default:
        return strstr(text, part) != NULL || strstr(remarks, part) != NULL;
    }
}

/* Each of the formats, with blanks between, says all parts of what is given; "?PART" alone: it refuses, with
 * this in the text. */
static inline void expect(const char *formats, const char *given, const char *const *parts)
{
    AUTO(auto_free) char *names = strdup(formats);
    char *rest = NULL;
    give(given);
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        const struct snippet_ops *ops = snippet_find(name);
        assert_non_null(ops);
        bool is_refused = emit(ops) == -EINVAL;
        if (is_refused != (**parts == '?') || (is_refused && strstr(err.text, *parts + 1) == NULL))
            fail_msg("%s of %s: %s", name, given, err.text);
        for (size_t i = 0; !is_refused && parts[i] != NULL; i++) {
            if (!holds(parts[i]))
                fail_msg("%s of %s: \"%s\" does not hold of\n%s%s", name, given, parts[i], text, remarks);
        }
    }
}

#define EXPECT(formats, given, ...) expect(formats, given, (const char *const[]){__VA_ARGS__, NULL})

/* The last snippet and the answers are released. */
static inline int leave(void **state)
{
    (void)state;
    free(text);
    free(remarks);
    for (size_t i = 0; i < MAX_ANSWERS; i++)
        json_decref(documents[i]);
    return 0;
}
