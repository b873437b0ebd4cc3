/* tuner/emit/apply: the order of steps is the point: nothing in force is touched before the new file
 * passed its check, and there is a way back before it is. */
#include "tuner/emit/apply.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"
#include "bench/base/units.h"
#include "tuner/emit/apply_place.h"

#include <argz.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Commands that another fstune may run one after the other: check, apply, rollback. */
#define MOST_HOOKS 3

#define KEEP_BYTES 1024 /* of the end of the output; the rest is read and dropped */
#define SHOWN      200

/* The end of the output of a command. */
struct said {
    char text[KEEP_BYTES + 1];
    size_t n;
};

static int listen_to(void *context, int number, const char *text, size_t n)
{
    struct said *said = context;
    (void)number;
    size_t taken = n < KEEP_BYTES ? n : KEEP_BYTES;
    size_t kept = said->n < KEEP_BYTES - taken ? said->n : KEEP_BYTES - taken;
    memmove(said->text, said->text + said->n - kept, kept);
    memcpy(said->text + kept, text + n - taken, taken);
    said->n = kept + taken;
    return 0;
}

/* The last line that is not empty. */
static const char *last_line(struct said *said)
{
    size_t n = said->n;
    while (n > 0 && strchr("\n\r\t ", said->text[n - 1]) != NULL)
        n--;
    said->text[n] = '\0';
    char *newline = strrchr(said->text, '\n');
    return newline != NULL ? newline + 1 : said->text;
}

static int explain_hook_failure(const struct apply_order *order, const char *what, const char *said,
                                int result, int status, struct err *err)
{
    const char *colon = said[0] != '\0' ? ": " : "";
    char time[UNITS_TEXT_SIZE];
    if (result == -ETIMEDOUT)
        return err_set(err, result, "the %s command did not end within %s and was killed%s%.*s", what,
                       units_format_duration(order->timeout_ns, time), colon, SHOWN, said);
    if (result == -EINTR)
        return err_set(err, result, "the %s command was interrupted", what);
    if (result == -ECHILD)
        return err_set(err, result, "how the %s command ended is not known", what);
    if (result < 0)
        return err_sys(err, result, "the %s command cannot be started", what);
    if (WIFSIGNALED(status))
        return err_set(err, -EREMOTEIO, "the %s command was ended by signal %d%s%.*s", what, WTERMSIG(status),
                       colon, SHOWN, said);
    if (WEXITSTATUS(status) != 0)
        return err_set(err, -EREMOTEIO, "the %s command failed with exit code %d%s%.*s", what,
                       WEXITSTATUS(status), colon, SHOWN, said);
    return 0;
}

/* All that a command finds in its environment, each with a zero behind it. NULL when memory ran out. */
static char *make_environment(const struct apply_order *order, const char *file, size_t *ret_n)
{
    char *block = NULL;
    FILE *out = open_memstream(&block, ret_n);
    if (out == NULL)
        return NULL;
    fprintf(out, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin%c", '\0');
    fprintf(out, "LANG=C%cHOME=/%cFSTUNE_SNIPPET=%s%c", '\0', '\0', file, '\0');
    if (order->n_facts > 0)
        fwrite(order->facts, 1, order->n_facts, out);
    if (fclose(out) == 0)
        return block;
    free(block);
    return NULL;
}

/* By /bin/sh, without input, in a process group of its own; waits until the command has ended, but not for
 * what it leaves running. */
static int run_hook(const struct apply_order *order, const char *what, const char *command, const char *file,
                    const atomic_int *interrupted, struct err *err)
{
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};
    struct said said = {"", 0};
    size_t n = 0;
    int status = 0;
    if (command[0] == '\0')
        return 0;
    char *block = make_environment(order, file, &n);
    char **environment = block != NULL ? calloc(argz_count(block, n) + 1, sizeof *environment) : NULL;
    if (environment != NULL)
        argz_extract(block, n, environment);
    const struct spawn spawn = {.argv = arguments,
                                .environment = environment,
                                .in_fd = SPAWN_NOTHING,
                                .out_fd = SPAWN_HEARD,
                                .err_fd = SPAWN_AS_OUTPUT,
                                .hear = listen_to,
                                .context = &said,
                                .clock = &clock_monotonic,
                                .timeout_ns = order->timeout_ns,
                                .interrupted = interrupted};
    int result = environment != NULL ? spawn_run(&spawn, &status) : -ENOMEM;
    free(environment);
    free(block);
    return explain_hook_failure(order, what, last_line(&said), result, status, err);
}

int apply_run(const struct apply_order *order, const char *what, const char *command, struct err *err)
{
    return run_hook(order, what, command, order->path, order->interrupted, err);
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

/* The command of `work`, or of taking it back, which nobody interrupts. A rollback without a command of its
 * own is like any other change of the file. What it set up may be gone back to already, so it is taken back
 * by the same command. */
static int run_hook_of(const struct apply_order *order, enum apply_work work, bool back, struct err *err)
{
    bool rolls_back = work == APPLY_WORK_ROLLBACK ? order->rollback[0] != '\0' : back;
    return run_hook(order, rolls_back ? "rollback" : "apply", rolls_back ? order->rollback : order->apply,
                    order->path, back ? NULL : order->interrupted, err);
}

/* Adds to the error that led here. */
static void take_back(const struct apply_order *order, const struct apply_place *place, enum apply_work work,
                      struct err *err)
{
    bool was_rollback = work == APPLY_WORK_ROLLBACK;
    const char *back = was_rollback ? "the files are as before" : "the old file is back";
    struct err why = {0};
    if (apply_place_restore(place, work, &why) < 0) {
        err_prefix(err, "%s (%.150s)",
                   was_rollback ? "the files are exchanged and cannot be exchanged back"
                                : "the new file is in place and cannot be taken back",
                   why.text);
        return;
    }
    if (run_hook_of(order, work, true, &why) < 0)
        err_prefix(err, "%s, but %.150s", back, why.text);
    else
        err_prefix(err, "%s", back);
    apply_place_end(place);
}

/* What remains once a file has its new text: its command, and the memory of it; else the way back. */
static int settle(const struct apply_order *order, const struct apply_place *place, enum apply_work work,
                  int result, struct err *err)
{
    if (result == 0)
        result = run_hook_of(order, work, false, err);
    if (result == 0 && order->settle != NULL)
        result = order->settle(order->context, err);
    if (result < 0)
        take_back(order, place, work, err);
    else
        apply_place_finish(place, work);
    return result;
}

static int leave(struct apply_place *place, const char *path, int result, struct err *err)
{
    apply_place_close(place);
    return result < 0 ? err_prefix(err, "%.200s", path) : 0;
}

int apply_snippet(const struct apply_order *order, struct err *err)
{
    struct apply_place place;
    bool named = false;
    int result = apply_place_open(&place, order->path, err);
    if (result == 0)
        result = put_in_place(order, &place, &named, err);
    if (named)
        result = settle(order, &place, work_of(&place), result, err);
    return leave(&place, order->path, result, err);
}

static int take_back_stopped(const struct apply_order *order, const struct apply_place *place,
                             enum apply_work work, struct err *err)
{
    int result = apply_place_restore(place, work, err);
    if (result == 0)
        result = run_hook_of(order, work, true, err);
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
    return leave(&place, order->path, result, err);
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
    return leave(&place, path, result, err);
}

int apply_can_roll_back(const char *path, struct err *err)
{
    struct apply_place place;
    int result = apply_place_open(&place, path, err);
    if (result == 0)
        result = check_kept(&place, err);
    return leave(&place, path, result, err);
}

int apply_rollback(const struct apply_order *order, struct err *err)
{
    struct apply_place place;
    int result = apply_place_open(&place, order->path, err);
    if (result == 0)
        result = check_kept(&place, err);
    if (result == 0)
        result = apply_place_begin(&place, APPLY_WORK_ROLLBACK, order->settled, err);
    if (result == 0)
        result = settle(order, &place, APPLY_WORK_ROLLBACK, exchange(&place, err), err);
    return leave(&place, order->path, result, err);
}
