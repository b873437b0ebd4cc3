/* tuner/store/result_input: reading results that were kept. */
#include "tuner/store/result_input.h"

#include "tuner/store/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int result_input_load(const char *path, const char *takes, json_t **ret_document, struct err *err)
{
    bool is_input = strcmp(path, "-") == 0;
    json_error_t error;
    FILE *stream = is_input ? stdin : fopen(path, "re");
    if (stream == NULL)
        return err_sys(err, -errno, "--from %.*s: cannot be opened", RESULT_INPUT_SHOWN_PATH, path);
    json_t *document = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    if (!is_input)
        fclose(stream);
    if (document == NULL)
        return err_set(err, -EINVAL, "--from %.*s: no JSON document (line %d: %s); give %s",
                       RESULT_INPUT_SHOWN_PATH, path, error.line, error.text, takes);
    *ret_document = document;
    return 0;
}

bool result_input_is_kept(const struct settings *settings)
{
    return settings->history.db[0] != '\0' || settings->history.run_id != 0;
}

static int open_history(const struct settings *settings, struct history *history, char *path, size_t size,
                        struct err *err)
{
    int result = 0;
    if (settings->answers.n > 0)
        return err_set(err, -EINVAL, "--from and --db name two answers; give one of them");
    if (settings->history.db[0] != '\0')
        snprintf(path, size, "%s", settings->history.db);
    else
        result = history_default_path(path, size, err);
    return result < 0 ? result : history_open(history, &(struct history_place){.path = path}, err);
}

int result_input_load_kept(const struct settings *settings, json_t **ret_document, struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    struct history history;
    int result = open_history(settings, &history, path, sizeof path, err);
    if (result < 0)
        return result;
    result = history_document(&history, settings->history.run_id, ret_document, err);
    history_close(&history);
    return result < 0 ? err_prefix(err, "--db %.*s", RESULT_INPUT_SHOWN_PATH, path) : 0;
}

/* The run that is asked for, and what it can be lined up with. */
static int find(struct history *history, const struct settings *settings, struct history_info *ret_info,
                struct err *err)
{
    struct history_info *newest = NULL;
    size_t n = 0;
    if (settings->history.run_id != 0)
        return history_find_run(history, settings->history.run_id, ret_info, err);
    const struct history_filter any = {.with_recommendation = true, .limit = 1};
    int result = history_list_runs(history, &any, &newest, &n, err);
    if (result == 0 && n == 0)
        result = err_set(err, -ENODATA, "it holds no recommendation");
    if (result == 0)
        *ret_info = newest[0];
    free(newest);
    return result;
}

static int load_row(struct history *history, const struct history_info *last, json_t **ret_documents,
                    size_t room, size_t *ret_n, struct err *err)
{
    struct history_info *runs = NULL;
    size_t n = 0, first = 0;
    const struct history_filter alike = {.target = last->target,
                                         .fingerprint = last->fingerprint,
                                         .pattern = last->pattern,
                                         .host = last->host,
                                         .with_recommendation = true};
    int result = history_list_runs(history, &alike, &runs, &n, err);
    while (first < n && runs[first].id != last->id)
        first++;
    size_t left = n - first, end = first + (left < room ? left : room);
    /* The history lists the newest first, the caller the oldest; the last may lack a recommendation. */
    for (size_t i = end; i-- > first + 1 && result == 0;)
        result = history_document(history, runs[i].id, &ret_documents[(*ret_n)++], err);
    if (result == 0)
        result = history_document(history, last->id, &ret_documents[(*ret_n)++], err);
    free(runs);
    return result;
}

int result_input_load_row(const struct settings *settings, json_t **ret_documents, size_t room, size_t *ret_n,
                          struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    struct history history;
    struct history_info last;
    *ret_n = 0;
    int result = open_history(settings, &history, path, sizeof path, err);
    if (result < 0)
        return result;
    result = find(&history, settings, &last, err);
    if (result == 0)
        result = load_row(&history, &last, ret_documents, room, ret_n, err);
    history_close(&history);
    return result < 0 ? err_prefix(err, "--db %.*s", RESULT_INPUT_SHOWN_PATH, path) : 0;
}
