/* tests/tuner/json_check: members of a JSON document by their path, such as "answers.0.best". */
#pragma once

#include "tests/test.h"

#include <jansson.h>

/* NULL where there is none. */
static inline json_t *json_at(const json_t *value, const char *path)
{
    char key[80];
    while (*path != '\0' && value != NULL) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return (json_t *)value;
}

/* NaN where there is no number. */
static inline double json_number_at(const json_t *value, const char *path)
{
    const json_t *member = json_at(value, path);
    return json_is_number(member) ? json_number_value(member) : NAN;
}

static inline void check_json(const json_t *value, const char *const *expected)
{
    for (; *expected != NULL; expected++) {
        const char *equals = strchr(*expected, '=');
        char path[160], found[1024];
        snprintf(path, sizeof path, "%.*s", (int)(equals - *expected), *expected);
        bool counts = path[strlen(path) - 1] == '#';
        path[strlen(path) - counts] = '\0';
        const json_t *member = json_at(value, path);
        char *dump = json_dumps(member, JSON_COMPACT | JSON_ENCODE_ANY);
        if (counts)
            snprintf(found, sizeof found, "%zu", json_array_size(member) + json_object_size(member));
        else if (json_is_string(member))
            snprintf(found, sizeof found, "%s", json_string_value(member));
        else
            snprintf(found, sizeof found, "%s", dump != NULL ? dump : "absent");
        free(dump);
        if (strcmp(found, equals + 1) != 0)
            fail_msg("%s is %s instead of %s", path, found, equals + 1);
    }
}

/* Each text is PATH=VALUE, the value as compact JSON, but a text without quotes, or "absent". PATH#=N: a list
 * or an object of N. */
#define CHECK_JSON(value, ...) check_json(value, (const char *const[]){__VA_ARGS__, NULL})
