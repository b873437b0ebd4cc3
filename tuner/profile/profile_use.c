/* tuner/profile/profile_use: what the program fixes becomes an option, what it does today the baseline. */
#include "tuner/profile/profile_use.h"

#include "bench/base/factors.h"
#include "tuner/base/json.h"
#include "tuner/histories/watch_use.h"
#include "tuner/options/options.h"
#include "tuner/store/history.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOSTLY_ASYNC 0.5

static int set(struct settings *settings, const char *key, const char *text, struct err *err)
{
    int code = options_set(settings, options_find(key, OPTIONS_RECOMMEND), text, err);
    return code < 0 ? err_prefix(err, "%s", key) : 0;
}

static int take_pattern(struct settings *settings, const json_t *document, struct err *err)
{
    const char *name = json_read_text(json_object_get(document, "pattern"), "name", NULL);
    if (settings->workload.pattern_given)
        return 0;
    if (name == NULL)
        return err_set(err, -EINVAL, "too little was seen for a pattern; record more, or give --pattern");
    return set(settings, "pattern", name, err);
}

static int take_fixed(struct settings *settings, const json_t *document, struct err *err)
{
    const json_t *fixed = json_object_get(document, "fixed");
    int code = 0;
    for (int i = 0; i < FACTOR_WRITE_SIZE && code == 0; i++) {
        const char *text = json_read_text(fixed, factors_keys[i], NULL);
        if (text != NULL && settings->workload.levels[i].n == 0)
            code = set(settings, factors_keys[i], text, err);
    }
    return code;
}

static int take_current(struct settings *settings, const json_t *document, struct err *err)
{
    const json_t *current = json_object_get(document, "current");
    char text[256] = "";
    if (settings->search.current_given)
        return 0;
    for (int i = 0; i < FACTOR_WRITE_SIZE; i++) {
        const char *level = json_read_text(current, factors_keys[i], NULL);
        size_t used = strlen(text);
        if (level != NULL)
            snprintf(text + used, sizeof text - used, "%s%s=%s", used > 0 ? "," : "", factors_keys[i], level);
    }
    return text[0] != '\0' ? set(settings, "current", text, err) : 0;
}

/* Share of the time of those threads that were in calls at the same time. Requests that nobody waits for in
 * their calls say nothing of it. */
static double wait_share(const json_t *document)
{
    const json_t *rate = json_object_get(document, "rate");
    double spent_s = json_read_number(rate, "read_s") + json_read_number(rate, "write_s") +
                     json_read_number(rate, "flush_s");
    double threads = fmin(json_read_number(document, "threads"),
                          json_read_number(json_object_get(document, "queue_depth"), "max"));
    double paused_s = json_read_number(document, "paused_s");
    double recorded_s = json_read_number(document, "seconds") - (paused_s > 0 ? paused_s : 0);
    double share = spent_s / recorded_s / fmax(1, threads);
    bool is_known = json_read_number(document, "async_share") < MOSTLY_ASYNC && share > 0;
    return is_known ? fmin(1, share) : 0;
}

/* The file's, or that of a history which fstune watch filled. */
static int load(const struct settings *settings, json_t **ret_document, struct err *err)
{
    json_error_t wrong;
    const char *path = settings->search.profile_path;
    if (history_look(path, NULL) == 0)
        return watch_use_load(path, settings_place(settings), ret_document, err);
    *ret_document = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
    if (*ret_document == NULL && json_error_code(&wrong) == json_error_cannot_open_file)
        return err_set(err, -errno, "%s", strerror(errno));
    if (strcmp(json_read_text(*ret_document, "schema", ""), "fstune/profile/1") != 0)
        return err_set(err, -EINVAL, "it is no profile; fstune profile --output FILE makes one");
    return 0;
}

int profile_use_take(struct settings *settings, struct err *err)
{
    const char *path = settings->search.profile_path;
    json_t *document = NULL;
    int code = load(settings, &document, err);
    if (code == 0)
        code = take_pattern(settings, document, err);
    if (code == 0)
        code = take_fixed(settings, document, err);
    if (code == 0)
        code = take_current(settings, document, err);
    settings->search.wait_share = wait_share(document);
    json_decref(document);
    return code < 0 ? err_prefix(err, "--for %.200s", path) : 0;
}
