/* tuner/nightly/retune_scatter: the history's nights, target by target. */
#include "tuner/nightly/retune_scatter.h"

#include "tuner/nightly/retune_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool are_alike(const struct history_info *a, const struct history_info *b)
{
    return strcmp(a->target, b->target) == 0 && strcmp(a->pattern, b->pattern) == 0 &&
           strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* Documents are large; of each the member "night" is kept. */
static int append_night(struct history *history, int64_t run_id, json_t *nights, struct err *err)
{
    json_t *document = NULL;
    int result = history_document(history, run_id, &document, err);
    if (result == 0 &&
        json_array_append_new(nights, json_pack("{s:O?}", "night", json_object_get(document, "night"))) < 0)
        result = err_set(err, -ENOMEM, "no memory for nights of other targets");
    json_decref(document);
    return result == -ENODATA ? 0 : result;
}

/* Of the nights like the newest of them; the newest come first there. */
static int learn_of_target(struct history *history, const struct history_info *newest, size_t n,
                           struct nights_scatter *scatter, struct err *err)
{
    struct retune_state memory = {0};
    json_t *nights = json_array();
    int result = 0;
    for (size_t i = n; i-- > 0 && result == 0;) {
        if (are_alike(&newest[i], newest))
            result = append_night(history, newest[i].id, nights, err);
    }
    if (result == 0 && retune_state_read(&memory, nights) < 0)
        result = err_set(err, -ENOMEM, "no memory for nights of other targets");
    if (result == 0)
        retune_state_learn(&memory, NULL, NULL, 0, scatter);
    retune_state_done(&memory);
    json_decref(nights);
    return result;
}

static bool is_first(const struct history_info *runs, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (are_alike(&runs[k], &runs[i]))
            return false;
    }
    return true;
}

int retune_scatter_learn(const struct retune_world *world, const char *but_target,
                         struct nights_scatter *ret_scatter, struct err *err)
{
    const struct history_filter filter = {.command = "retune",
                                          .host = world->host[0] != '\0' ? world->host : NULL,
                                          .statuses = 1U << HISTORY_DONE | 1U << HISTORY_INCONCLUSIVE,
                                          .with_recommendation = true,
                                          .limit = RETUNE_SCATTER_RUNS};
    struct history_info *runs = NULL;
    size_t n = 0;
    int result = history_list_runs(world->history, &filter, &runs, &n, err);
    *ret_scatter = (struct nights_scatter){0};
    for (size_t i = 0; i < n && result == 0; i++) {
        if (strcmp(runs[i].target, but_target) != 0 && is_first(runs, i))
            result = learn_of_target(world->history, &runs[i], n - i, ret_scatter, err);
    }
    nights_temper(ret_scatter, RETUNE_SCATTER_MOST);
    free(runs);
    return result;
}
