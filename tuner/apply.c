/* tuner/apply: the order of steps is the point: nothing in force is touched before the new file passed its
 * check, and there is a way back before it is. */
#include "tuner/apply.h"

#include "tuner/apply_hook.h"
#include "tuner/replace.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX      ".previous"
#define MAX_FACTS   12
#define FACT_PREFIX "FSTUNE_SNIPPET="
#define MARKER      ".fstune-applying."
#define WAS_THERE   "change\n"
#define WAS_NOT     "first\n"

struct place {
    int dir_fd;
    char name[REPLACE_NAME_SIZE], previous[REPLACE_NAME_SIZE], marker[REPLACE_NAME_SIZE];
    struct replace_text old;
};

static int open_place(struct place *place, const char *path, struct err *err)
{
    *place = (struct place){.dir_fd = -1};
    int result = replace_open_directory(path, &place->dir_fd, place->name, err);
    if (result < 0)
        return result;
    /* The marker is staged as well, under a name that is longer still. */
    if (strlen(place->name) + 2 * sizeof MARKER + sizeof SUFFIX + 16 > sizeof place->marker)
        return err_set(err, -ENAMETOOLONG, "%.100s...: the name is too long; use a shorter one", place->name);
    snprintf(place->previous, sizeof place->previous, "%.200s" SUFFIX, place->name);
    snprintf(place->marker, sizeof place->marker, MARKER "%.200s", place->name);
    return replace_read(place->dir_fd, place->name, &place->old, err);
}

static void close_place(struct place *place)
{
    free(place->old.bytes);
    if (place->dir_fd >= 0)
        close(place->dir_fd);
}

static int run_hook(const struct apply_order *order, const char *what, const char *command, const char *file,
                    const atomic_int *interrupted, struct err *err)
{
    char fact[sizeof FACT_PREFIX + PATH_MAX];
    const char *facts[MAX_FACTS + 2] = {fact};
    if ((size_t)snprintf(fact, sizeof fact, FACT_PREFIX "%s", file) >= sizeof fact)
        return err_set(err, -ENAMETOOLONG, "%.100s...: the path is too long", file);
    for (size_t i = 0; order->facts != NULL && order->facts[i] != NULL && i < MAX_FACTS; i++)
        facts[i + 1] = order->facts[i];
    struct apply_hook hook = {.what = what,
                              .command = command,
                              .facts = facts,
                              .timeout_ns = order->timeout_ns,
                              .interrupted = interrupted};
    return apply_hook_run(&hook, err);
}

static int check_staged(const struct apply_order *order, const struct place *place, const char *staged,
                        struct err *err)
{
    char path[PATH_MAX + NAME_MAX];
    int n_directory = (int)(strlen(order->path) - strlen(place->name));
    snprintf(path, sizeof path, "%.*s%s", n_directory, order->path, staged);
    return run_hook(order, "check", order->check, path, order->interrupted, err);
}

/* named: see replace_commit. */
static int write_named(const struct place *place, const char *name, const struct replace_text *text,
                       bool *ret_named, struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    int result = replace_stage(place->dir_fd, name, text->bytes, text->n, &text->status, staged, err);
    return result < 0 ? result : replace_commit(place->dir_fd, staged, name, ret_named, err);
}

/* On the disk before the file is touched. */
static int mark(const struct place *place, struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    const char *text = place->old.bytes != NULL ? WAS_THERE : WAS_NOT;
    int result = replace_stage(place->dir_fd, place->marker, text, strlen(text), NULL, staged, err);
    return result < 0 ? result : replace_commit(place->dir_fd, staged, place->marker, NULL, err);
}

static void unmark(const struct place *place)
{
    if (unlinkat(place->dir_fd, place->marker, 0) == 0)
        fsync(place->dir_fd);
}

static int put_in_place(const struct apply_order *order, const struct place *place, bool *ret_named,
                        struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    const struct stat *like = place->old.bytes != NULL ? &place->old.status : NULL;
    int result =
        replace_stage(place->dir_fd, place->name, order->text, strlen(order->text), like, staged, err);
    if (result < 0)
        return result;
    result = check_staged(order, place, staged, err);
    if (result == 0 && place->old.bytes != NULL)
        result = write_named(place, place->previous, &place->old, NULL, err);
    if (result == 0)
        result = mark(place, err);
    if (result < 0) {
        replace_discard(place->dir_fd, staged);
        return result;
    }
    return replace_commit(place->dir_fd, staged, place->name, ret_named, err);
}

/* What the disk makes of it is not asked: an error of the directory has led here, or there is none. */
static int restore_file(const struct place *place, struct err *err)
{
    bool named = false;
    if (place->old.bytes != NULL) {
        int result = write_named(place, place->name, &place->old, &named, err);
        return named ? 0 : result;
    }
    if (unlinkat(place->dir_fd, place->name, 0) != 0 && errno != ENOENT)
        return err_sys(err, -errno, "%s: cannot be removed", place->name);
    return fsync(place->dir_fd) == 0 ? 0
                                     : err_sys(err, -errno, "%s: cannot be removed for good", place->name);
}

/* Adds to the error that led here. */
static enum apply_state take_back(const struct apply_order *order, const struct place *place, struct err *err)
{
    struct err why = {0};
    int result = restore_file(place, &why);
    if (result < 0) {
        err_prefix(err, "the new file is in place and cannot be taken back (%.150s)", why.text);
        return APPLY_STUCK;
    }
    result = run_hook(order, "rollback", order->rollback, order->path, NULL, &why);
    if (result < 0)
        err_prefix(err, "the old file is back, but %.150s", why.text);
    else
        err_prefix(err, "the old file is back");
    return APPLY_TAKEN_BACK;
}

int apply_snippet(const struct apply_order *order, enum apply_state *ret_state, struct err *err)
{
    struct place place;
    bool named = false;
    *ret_state = APPLY_OLD;
    int result = open_place(&place, order->path, err);
    if (result == 0)
        result = put_in_place(order, &place, &named, err);
    if (result == 0)
        result = run_hook(order, "apply", order->apply, order->path, order->interrupted, err);
    if (result == 0 && order->settle != NULL)
        result = order->settle(order->context, err);
    if (named)
        *ret_state = result == 0 ? APPLY_NEW : take_back(order, &place, err);
    if (place.dir_fd >= 0 && *ret_state != APPLY_STUCK)
        unmark(&place);
    close_place(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}

/* place->old is what the stopped night left; the kept text is what was there before it. */
static int bring_back(struct place *place, const struct replace_text *marker, struct err *err)
{
    struct replace_text kept = {0};
    if (strcmp(marker->bytes, WAS_NOT) == 0) {
        free(place->old.bytes);
        place->old.bytes = NULL;
        return restore_file(place, err);
    }
    int result = replace_read(place->dir_fd, place->previous, &kept, err);
    if (result == 0 && kept.bytes == NULL)
        result = err_set(err, -ENOENT, "%s: is gone, so what was in force cannot come back", place->previous);
    if (result == 0)
        result = write_named(place, place->name, &kept, NULL, err);
    free(kept.bytes);
    return result;
}

int apply_recover(const struct apply_order *order, double settled_s, bool *ret_recovered, struct err *err)
{
    struct place place;
    struct replace_text marker = {0};
    *ret_recovered = false;
    int result = open_place(&place, order->path, err);
    if (result == 0)
        result = replace_read(place.dir_fd, place.marker, &marker, err);
    if (result == 0 && marker.bytes != NULL) {
        double marked_s = (double)marker.status.st_mtim.tv_sec + 1e-9 * (double)marker.status.st_mtim.tv_nsec;
        *ret_recovered = marked_s > settled_s;
        if (*ret_recovered)
            result = bring_back(&place, &marker, err);
        if (*ret_recovered && result == 0)
            result = run_hook(order, "rollback", order->rollback, order->path, NULL, err);
        if (result == 0)
            unmark(&place);
    }
    free(marker.bytes);
    close_place(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}

/* In one step where the file system can; else the file itself is still whole at every moment. */
static int exchange(const struct place *place, struct err *err)
{
    if (renameat2(place->dir_fd, place->name, place->dir_fd, place->previous, RENAME_EXCHANGE) == 0)
        return fsync(place->dir_fd) == 0
                   ? 0
                   : err_sys(err, -errno, "%s: its directory cannot be written out", place->name);
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return err_sys(err, -errno, "%s: cannot be exchanged with %s", place->name, place->previous);
    struct replace_text now = {0};
    int result = replace_read(place->dir_fd, place->name, &now, err);
    if (result == 0 && now.bytes == NULL)
        result = err_set(err, -ENOENT, "%s: is gone", place->name);
    if (result == 0 && renameat(place->dir_fd, place->previous, place->dir_fd, place->name) != 0)
        result = err_sys(err, -errno, "%s: cannot be replaced by %s", place->name, place->previous);
    if (result == 0)
        result = write_named(place, place->previous, &now, NULL, err);
    free(now.bytes);
    return result;
}

static int check_kept(const struct place *place, struct err *err)
{
    struct replace_text kept = {0};
    int result = replace_read(place->dir_fd, place->previous, &kept, err);
    if (result == 0 && (kept.bytes == NULL || place->old.bytes == NULL))
        result = err_set(err, -ENOENT, "%s: is not there, so there is nothing to go back to",
                         kept.bytes == NULL ? place->previous : place->name);
    if (result == 0 && kept.n == place->old.n && memcmp(kept.bytes, place->old.bytes, kept.n) == 0)
        result = err_set(err, -ENOENT, "%s: holds the same as %s, so there is nothing to go back to",
                         place->previous, place->name);
    free(kept.bytes);
    return result;
}

int apply_rollback(const struct apply_order *order, enum apply_state *ret_state, struct err *err)
{
    struct place place;
    *ret_state = APPLY_OLD;
    int result = open_place(&place, order->path, err);
    if (result == 0)
        result = check_kept(&place, err);
    if (result == 0)
        result = exchange(&place, err);
    if (result == 0) {
        bool has_rollback = order->rollback[0] != '\0';
        *ret_state = APPLY_NEW;
        result =
            run_hook(order, has_rollback ? "rollback" : "apply",
                     has_rollback ? order->rollback : order->apply, order->path, order->interrupted, err);
        if (result < 0) {
            struct err why = {0};
            *ret_state = exchange(&place, &why) == 0 ? APPLY_TAKEN_BACK : APPLY_STUCK;
            err_prefix(err, *ret_state == APPLY_STUCK ? "the files are exchanged and cannot be exchanged back"
                                                      : "the files are as before");
        }
    }
    close_place(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}
