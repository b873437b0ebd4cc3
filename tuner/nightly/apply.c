/* tuner/nightly/apply: the order of steps is the point: nothing in force is touched before the new file
 * passed its check, and there is a way back before it is. */
#include "tuner/nightly/apply.h"

#include "tuner/nightly/apply_hook.h"
#include "tuner/nightly/apply_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands that another fstune may run one after the other: check, apply, rollback. */
#define MOST_HOOKS 3

static int run_hook(const struct apply_order *order, const char *what, const char *command, const char *file,
                    const atomic_int *interrupted, struct err *err)
{
    const struct apply_hook hook = {.what = what,
                                    .command = command,
                                    .file = file,
                                    .facts = order->facts,
                                    .timeout_ns = order->timeout_ns,
                                    .interrupted = interrupted};
    return apply_hook_run(&hook, err);
}

static int check_staged(const struct apply_order *order, const struct apply_place *place, const char *staged,
                        struct err *err)
{
    char path[PATH_MAX + NAME_MAX];
    int n_directory = (int)(strlen(order->path) - strlen(place->name));
    snprintf(path, sizeof path, "%.*s%s", n_directory, order->path, staged);
    return run_hook(order, "check", order->check, path, order->interrupted, err);
}

static enum apply_work work_of(const struct apply_place *place)
{
    return place->old.bytes != NULL ? APPLY_WORK_CHANGE : APPLY_WORK_FIRST;
}

/* Where the new file did not get its name, nothing is left of it. */
static int put_in_place(const struct apply_order *order, const struct apply_place *place, bool *ret_named,
                        struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    const struct stat *like = place->old.bytes != NULL ? &place->old.status : NULL;
    int result =
        replace_stage(place->dir_fd, place->name, order->text, strlen(order->text), like, staged, err);
    if (result < 0)
        return result;
    result = check_staged(order, place, staged, err);
    if (result == 0)
        result = apply_place_begin(place, work_of(place), order->settled, err);
    if (result < 0) {
        replace_discard(place->dir_fd, staged);
        return result;
    }
    result = replace_commit(place->dir_fd, staged, place->name, ret_named, err);
    if (!*ret_named)
        apply_place_end(place);
    return result;
}

/* Going back has a command of its own, or is like any other change of the file. */
static int run_rollback_hook(const struct apply_order *order, const atomic_int *interrupted, struct err *err)
{
    bool has_rollback = order->rollback[0] != '\0';
    return run_hook(order, has_rollback ? "rollback" : "apply", has_rollback ? order->rollback : order->apply,
                    order->path, interrupted, err);
}

/* After the files are as before. What a rollback set up may be gone back to already: its command runs again.
 */
static int run_hook_back(const struct apply_order *order, enum apply_work work, struct err *err)
{
    return work == APPLY_WORK_ROLLBACK ? run_rollback_hook(order, NULL, err)
                                       : run_hook(order, "rollback", order->rollback, order->path, NULL, err);
}

/* Adds to the error that led here. */
static enum apply_state take_back(const struct apply_order *order, const struct apply_place *place,
                                  enum apply_work work, struct err *err)
{
    bool was_rollback = work == APPLY_WORK_ROLLBACK;
    const char *back = was_rollback ? "the files are as before" : "the old file is back";
    struct err why = {0};
    if (apply_place_restore(place, work, &why) < 0) {
        err_prefix(err, "%s (%.150s)",
                   was_rollback ? "the files are exchanged and cannot be exchanged back"
                                : "the new file is in place and cannot be taken back",
                   why.text);
        return APPLY_STUCK;
    }
    if (run_hook_back(order, work, &why) < 0)
        err_prefix(err, "%s, but %.150s", back, why.text);
    else
        err_prefix(err, "%s", back);
    apply_place_end(place);
    return APPLY_TAKEN_BACK;
}

int apply_snippet(const struct apply_order *order, enum apply_state *ret_state, struct err *err)
{
    struct apply_place place;
    bool named = false;
    *ret_state = APPLY_OLD;
    int result = apply_place_open(&place, order->path, err);
    if (result == 0)
        result = put_in_place(order, &place, &named, err);
    if (result == 0)
        result = run_hook(order, "apply", order->apply, order->path, order->interrupted, err);
    if (result == 0 && order->settle != NULL)
        result = order->settle(order->context, err);
    if (named)
        *ret_state = result == 0 ? APPLY_NEW : take_back(order, &place, work_of(&place), err);
    if (*ret_state == APPLY_NEW)
        apply_place_finish(&place, work_of(&place));
    apply_place_close(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}

static int take_back_stopped(const struct apply_order *order, const struct apply_place *place,
                             enum apply_work work, struct err *err)
{
    int result = apply_place_restore(place, work, err);
    if (result == 0)
        result = run_hook_back(order, work, err);
    if (result == 0)
        apply_place_end(place);
    return result;
}

int apply_recover(const struct apply_order *order, bool *ret_recovered, struct err *err)
{
    struct apply_place place;
    enum apply_work work = APPLY_WORK_NONE;
    int64_t settled = 0;
    *ret_recovered = false;
    int result = apply_place_open(&place, order->path, err);
    if (result == 0)
        result = apply_place_under_way(&place, &work, &settled, err);
    if (result == 0 && work != APPLY_WORK_NONE) {
        *ret_recovered = order->settled <= settled && !apply_place_is_finishing(&place, work);
        if (*ret_recovered)
            result = take_back_stopped(order, &place, work, err);
        else
            apply_place_finish(&place, work);
    } else if (result == 0) {
        apply_place_end(&place); /* a kept text may lie there without a marker */
    }
    if (result == 0)
        apply_place_sweep(&place);
    apply_place_close(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}

int apply_lock(const struct apply_order *order, int *ret_fd, struct err *err)
{
    return apply_place_lock(order->path, MOST_HOOKS * order->timeout_ns, order->interrupted, ret_fd, err);
}

/* In one step where the file system can; else the file itself is still whole at every moment. */
static int exchange(const struct apply_place *place, struct err *err)
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
        result = apply_place_write(place, place->previous, &now, NULL, err);
    free(now.bytes);
    return result;
}

static int check_kept(const struct apply_place *place, struct err *err)
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

int apply_check(const char *path, struct err *err)
{
    struct apply_place place;
    int result = apply_place_open(&place, path, err);
    apply_place_close(&place);
    return result < 0 ? err_prefix(err, "%.200s", path) : 0;
}

int apply_can_roll_back(const char *path, struct err *err)
{
    struct apply_place place;
    int result = apply_place_open(&place, path, err);
    if (result == 0)
        result = check_kept(&place, err);
    apply_place_close(&place);
    return result < 0 ? err_prefix(err, "%.200s", path) : 0;
}

static int go_back(const struct apply_order *order, const struct apply_place *place,
                   enum apply_state *ret_state, struct err *err)
{
    int result = apply_place_begin(place, APPLY_WORK_ROLLBACK, order->settled, err);
    if (result < 0)
        return result;
    result = exchange(place, err);
    if (result == 0)
        result = run_rollback_hook(order, order->interrupted, err);
    if (result == 0 && order->settle != NULL)
        result = order->settle(order->context, err);
    *ret_state = result == 0 ? APPLY_NEW : take_back(order, place, APPLY_WORK_ROLLBACK, err);
    if (result == 0)
        apply_place_finish(place, APPLY_WORK_ROLLBACK);
    return result;
}

int apply_rollback(const struct apply_order *order, enum apply_state *ret_state, struct err *err)
{
    struct apply_place place;
    *ret_state = APPLY_OLD;
    int result = apply_place_open(&place, order->path, err);
    if (result == 0)
        result = check_kept(&place, err);
    if (result == 0)
        result = go_back(order, &place, ret_state, err);
    apply_place_close(&place);
    return result < 0 ? err_prefix(err, "%.200s", order->path) : 0;
}
