/* tuner/options/options_set_beside: the setters of --beside and --beside-limit. */
#include "tuner/options/options_set.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <string.h>

#define SIZES      "512..16m, a multiple of 512"
#define DEPTHS     "1..64"
#define RATES      "1k..1t"
#define PART_SIZE  96U
#define LIMIT_SIGN "p99="

/* "write:8k": the size stands behind the last colon, because a pattern may have one. */
static int read_head(const char *head, struct beside_load *load, struct err *err)
{
    char pattern[PART_SIZE];
    const char *size = strrchr(head, ':');
    if (size == NULL)
        return err_set(err, -EINVAL, "'%s' is no load; begin with pattern and request size, as write:8k",
                       head);
    snprintf(pattern, sizeof pattern, "%.*s", (int)(size - head), head);
    int result = pattern_parse(pattern, &load->pattern, err);
    return result < 0 ? result : options_value_blocks(size + 1, SIZES, &load->request_bytes, err);
}

static const char *const key_names[] = {"queue_depth", "direct", "sync", "rate"};
#define N_KEYS (sizeof key_names / sizeof key_names[0])

/* A second one would silently win over the first. */
static int note_key(const char *key, bool given[N_KEYS], struct err *err)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        if (strcmp(key, key_names[i]) != 0)
            continue;
        if (given[i])
            return err_set(err, -EINVAL, "%s stands there twice; give it once", key);
        given[i] = true;
    }
    return 0;
}

static int read_key(const char *key, const char *value, struct beside_load *load, struct err *err)
{
    uint64_t number = 0;
    int result;
    if (strcmp(key, "queue_depth") == 0) {
        result = options_value_count(value, DEPTHS, &number, err);
        load->queue_depth = (uint32_t)number;
    } else if (strcmp(key, "direct") == 0) {
        result = options_value_choice(value, "0, 1", &number, err);
        load->direct = number != 0;
    } else if (strcmp(key, "sync") == 0) {
        result = options_value_choice(value, "none, each", &number, err);
        load->sync_each = number != 0;
    } else if (strcmp(key, "rate") == 0) {
        result = options_value_size(value, RATES, &load->rate_bps, err);
    } else {
        return err_set(err, -EINVAL, "'%s' is unknown; a load has queue_depth, direct, sync and rate", key);
    }
    return result;
}

static int read_load(const char *text, struct beside_load *load, struct err *err)
{
    char part[PART_SIZE];
    bool given[N_KEYS] = {false};
    int result = 0;
    for (bool is_head = true; text != NULL && result == 0; is_head = false) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof part)
            return err_set(err, -EINVAL, "'%.60s' has an empty or too long part between commas", text);
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        text = text[length] == ',' ? text + length + 1 : NULL;
        char *value = strchr(part, '=');
        if (is_head)
            result = read_head(part, load, err);
        else if (value == NULL)
            result = err_set(err, -EINVAL, "'%s' has no value; write it as rate=5m", part);
        else {
            *value++ = '\0';
            result = note_key(part, given, err);
            if (result == 0)
                result = read_key(part, value, load, err);
        }
    }
    return result;
}

int options_set_beside(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err)
{
    struct settings_beside *beside = &settings->beside;
    struct beside_load load = {.queue_depth = 1};
    (void)row;
    if (beside->n == BESIDE_MOST)
        return err_set(err, -EINVAL, "'%.60s' is one load too many; give at most %d", text, BESIDE_MOST);
    int result = read_load(text, &load, err);
    if (result < 0)
        return result;
    if (load.sync_each && !pattern_writes(&load.pattern))
        return err_set(err, -EINVAL, "'%.60s': sync=each is about writes, of which %s has none", text,
                       load.pattern.name);
    snprintf(beside->text[beside->n], sizeof beside->text[0], "%.*s", SETTINGS_BESIDE_SIZE - 1, text);
    beside->load[beside->n++] = load;
    return 0;
}

int options_set_beside_limit(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err)
{
    struct option_row duration = *row;
    if (strncmp(text, LIMIT_SIGN, strlen(LIMIT_SIGN)) != 0)
        return err_set(err, -EINVAL, "'%.60s' is no limit; write p99=5ms", text);
    duration.range = "1us..10m";
    return options_set_duration(settings, &duration, text + strlen(LIMIT_SIGN), err);
}
