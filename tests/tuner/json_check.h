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
    const json_t *at_path = json_at(value, path);
    return json_is_number(at_path) ? json_number_value(at_path) : NAN;
}

/* The object of a list whose member of this key is this text; NULL where there is none. */
static inline json_t *json_find(const json_t *list, const char *key, const char *wanted)
{
    size_t i;
    json_t *object;
    json_array_foreach(list, i, object)
    {
        if (strcmp(json_string_value(json_object_get(object, key)), wanted) == 0)
            return object;
    }
    return NULL;
}

static inline void check_json(const json_t *value, const char *const *expected)
{
    for (; *expected != NULL; expected++) {
        const char *equals = strchr(*expected, '=');
        char path[160], found[1024];
        snprintf(path, sizeof path, "%.*s", (int)(equals - *expected), *expected);
        bool counts = path[strlen(path) - 1] == '#';
        path[strlen(path) - counts] = '\0';
        const json_t *at_path = json_at(value, path);
        char *dump = json_dumps(at_path, JSON_COMPACT | JSON_ENCODE_ANY);
        if (counts)
            snprintf(found, sizeof found, "%zu", json_array_size(at_path) + json_object_size(at_path));
        else if (json_is_string(at_path))
            snprintf(found, sizeof found, "%s", json_string_value(at_path));
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
