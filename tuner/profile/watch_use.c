/* From a watched place to a profile. */
#include "tuner/profile/watch_use.h"

#include "tuner/profile/watch_report.h"
#include "tuner/store/history_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PATH_PREFIX "path "

/* How much of the directory's path the place's has; 0: it does not hold it. */
static size_t held(const char *place, const char *directory)
{
    size_t length =
        strlen(place) -
        (strncmp(place, PATH_PREFIX, strlen(PATH_PREFIX)) == 0 ? strlen(PATH_PREFIX) : strlen(place));
    const char *path = place + strlen(place) - length;
    length -= length == 1;
    bool holds = path[0] == '/' && strncmp(path, directory, length) == 0 &&
                 (directory[length] == '/' || directory[length] == '\0');
    return holds ? length + 1 : 0;
}

static const char *choose(const struct history_watch_place *places, size_t n, const char *directory)
{
    char real[PATH_MAX];
    const char *best = n == 1 ? places->place : NULL;
    size_t most = 0;
    if (realpath(directory, real) == NULL)
        return best;
    for (size_t i = 0; i < n; i++) {
        size_t length = held(places[i].place, real);
        if (length > most) {
            most = length;
            best = places[i].place;
        }
    }
    return best;
}

static int find(struct history *history, const char *place, json_t **ret_document, struct err *err)
{
    static struct watch_report report;
    int code = watch_report_make(&report, history, place, history->now_s(history->now_context), err);
    if (code < 0)
        return code;
    unsigned most = watch_report_most(&report);
    if (most == KIND_NONE)
        return err_set(err, -ENODATA, "%s had no load in the last %d days; watch it for longer", place,
                       WATCH_DAYS);
    return history_watch_profile(history, place, kind_name(most), ret_document, err);
}

int watch_use_load(const char *path, const char *directory, json_t **ret_document, struct err *err)
{
    struct history history = {0};
    struct history_watch_place *places = NULL;
    size_t n = 0;
    const char *place = NULL;
    int code = history_open(&history, &(struct history_place){.path = path}, err);
    if (code == 0)
        code = history_watch_places(&history, &places, &n, err);
    if (code == 0 && n == 0)
        code = err_set(err, -ENODATA, "nothing was watched; fstune watch --save does it");
    else if (code == 0)
        place = choose(places, n, directory);
    if (code == 0 && place == NULL)
        code = err_set(err, -ENODATA,
                       "of %zu watched places none holds %.200s; fstune history patterns lists them", n,
                       directory);
    if (code == 0)
        code = find(&history, place, ret_document, err);
    free(places);
    history_close(&history);
    return code;
}
