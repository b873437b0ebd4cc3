/* tuner/emit/apply_place: names, the lock, the marker, and the text from before. */
#include "tuner/emit/apply_place.h"

#include "bench/base/access.h"
#include "bench/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SUFFIX  ".previous"
#define MARKER  ".fstune-applying."
#define KEPT    ".fstune-kept."
#define LOCK    ".fstune-lock"
#define POLL_MS 50

static const char *const work_names[APPLY_WORK_N] = {"none", "first", "change", "rollback"};

/* A file and not the directory, which everybody who can read it could lock; it stays, because who removed it
 * would let two in. Root makes it for the directory's owner, whose own nights come here too. */
static int open_lock(int dir_fd, struct err *err)
{
    struct stat directory, status;
    int fd = openat(dir_fd, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, -errno, LOCK ": cannot be opened");
    int result = 0;
    if (fstat(dir_fd, &directory) != 0 || fstat(fd, &status) != 0)
        result = err_sys(err, -errno, LOCK ": cannot be examined");
    else if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || (status.st_mode & 077) != 0 ||
             (status.st_uid != geteuid() && status.st_uid != directory.st_uid))
        result = err_set(err, -EPERM, LOCK ": is not the lock that fstune made there; remove it");
    else if (status.st_uid != directory.st_uid && fchown(fd, directory.st_uid, directory.st_gid) != 0)
        result = err_sys(err, -errno, LOCK ": cannot be given to the owner of its directory");
    if (result == 0)
        return fd;
    close(fd);
    return result;
}

/* Another history's fstune waits as well. A file system without such locks (NFS) does not keep us from it. */
static int wait_for_lock(int fd, uint64_t wait_ns, const atomic_int *interrupted)
{
    uint64_t end_ns = clock_now_ns(&clock_monotonic) + wait_ns;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return 0;
        if (interrupted != NULL && atomic_load(interrupted) != 0)
            return -EINTR;
        if (clock_now_ns(&clock_monotonic) >= end_ns)
            return -EBUSY;
        poll(NULL, 0, POLL_MS);
    }
    return 0;
}

int apply_place_lock(const char *path, uint64_t wait_ns, const atomic_int *interrupted, int *ret_fd,
                     struct err *err)
{
    char name[REPLACE_NAME_SIZE];
    int dir_fd = -1;
    int result = replace_open_directory(path, REPLACE_OWN, &dir_fd, name, err);
    if (result < 0)
        return result;
    int fd = open_lock(dir_fd, err);
    close(dir_fd);
    if (fd < 0)
        return err_prefix(err, "%.200s", path);
    result = wait_for_lock(fd, wait_ns, interrupted);
    if (result < 0) {
        close(fd);
        return err_set(err, result,
                       "%.200s: %s while another fstune applies a setting, or takes one back, beside it",
                       path, result == -EINTR ? "interrupted" : "waited");
    }
    *ret_fd = fd;
    return 0;
}

int apply_place_open(struct apply_place *place, const char *path, struct err *err)
{
    *place = (struct apply_place){.dir_fd = -1};
    int result = replace_open_directory(path, REPLACE_OWN, &place->dir_fd, place->name, err);
    if (result < 0)
        return result;
    /* The marker is staged as well, under a name that is longer still. */
    if (strlen(place->name) + 2 * sizeof MARKER + sizeof SUFFIX + 16 > sizeof place->marker)
        return err_set(err, -ENAMETOOLONG, "%.100s...: the name is too long; use a shorter one", place->name);
    result = access_directory(place->dir_fd, ".");
    if (result < 0)
        return err_sys(err, result, "no file can be made in its directory");
    snprintf(place->previous, sizeof place->previous, "%.200s" SUFFIX, place->name);
    snprintf(place->marker, sizeof place->marker, MARKER "%.200s", place->name);
    snprintf(place->kept, sizeof place->kept, KEPT "%.200s", place->name);
    return replace_read(place->dir_fd, place->name, &place->old, err);
}

void apply_place_close(struct apply_place *place)
{
    free(place->old.bytes);
    if (place->dir_fd >= 0)
        close(place->dir_fd);
}

int apply_place_write(const struct apply_place *place, const char *name, const struct replace_text *text,
                      bool *ret_named, struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    int result = replace_stage(place->dir_fd, name, text->bytes, text->n, &text->status, staged, err);
    return result < 0 ? result : replace_commit(place->dir_fd, staged, name, ret_named, err);
}

int apply_place_begin(const struct apply_place *place, enum apply_work work, int64_t settled, struct err *err)
{
    char staged[REPLACE_NAME_SIZE], text[64];
    int result = 0;
    if (work != APPLY_WORK_FIRST)
        result = apply_place_write(place, place->kept, &place->old, NULL, err);
    int n = snprintf(text, sizeof text, "%s %" PRId64 "\n", work_names[work], settled);
    if (result == 0)
        result = replace_stage(place->dir_fd, place->marker, text, (size_t)n, NULL, staged, err);
    if (result == 0)
        result = replace_commit(place->dir_fd, staged, place->marker, NULL, err);
    if (result < 0)
        apply_place_end(place);
    return result;
}

int apply_place_under_way(const struct apply_place *place, enum apply_work *ret_work, int64_t *ret_settled,
                          struct err *err)
{
    struct replace_text marker = {0};
    char *end = NULL;
    *ret_work = APPLY_WORK_NONE;
    int result = replace_read(place->dir_fd, place->marker, &marker, err);
    if (result < 0 || marker.bytes == NULL)
        return result;
    for (size_t work = APPLY_WORK_FIRST; work < APPLY_WORK_N; work++) {
        size_t n = strlen(work_names[work]);
        if (strncmp(marker.bytes, work_names[work], n) == 0 && marker.bytes[n] == ' ') {
            *ret_settled = strtoll(marker.bytes + n, &end, 10);
            *ret_work = (enum apply_work)work;
        }
    }
    if (end == NULL || strcmp(end, "\n") != 0)
        result = err_set(err, -EBADMSG, "%s: is damaged; see which setting is used now, then remove it",
                         place->marker);
    free(marker.bytes);
    return result;
}

static int remove_first(const struct apply_place *place, struct err *err)
{
    if (unlinkat(place->dir_fd, place->name, 0) != 0 && errno != ENOENT)
        return err_sys(err, -errno, "%s: cannot be removed", place->name);
    return fsync(place->dir_fd) == 0 ? 0
                                     : err_sys(err, -errno, "%s: cannot be removed for good", place->name);
}

static bool is_same(const struct replace_text *a, const struct replace_text *b)
{
    return a->bytes != NULL && b->bytes != NULL && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* A rollback that got as far as the exchange left in NAME what belongs into NAME.previous. */
static int save_previous(const struct apply_place *place, const struct replace_text *kept, struct err *err)
{
    struct replace_text now = {0};
    int result = replace_read(place->dir_fd, place->name, &now, err);
    if (result == 0 && now.bytes != NULL && !is_same(&now, kept))
        result = apply_place_write(place, place->previous, &now, NULL, err);
    free(now.bytes);
    return result;
}

int apply_place_restore(const struct apply_place *place, enum apply_work work, struct err *err)
{
    struct replace_text kept = {0};
    bool named = false;
    if (work == APPLY_WORK_FIRST)
        return remove_first(place, err);
    int result = replace_read(place->dir_fd, place->kept, &kept, err);
    if (result == 0 && kept.bytes == NULL)
        result = err_set(err, -ENOENT, "%s: is gone, so the setting before cannot come back", place->kept);
    if (result == 0 && work == APPLY_WORK_ROLLBACK)
        result = save_previous(place, &kept, err);
    if (result == 0)
        result = apply_place_write(place, place->name, &kept, &named, err);
    free(kept.bytes);
    /* A failed fsync of the directory is ignored: such an error has led here already, or there is none. */
    return named ? 0 : result;
}

void apply_place_finish(const struct apply_place *place, enum apply_work work)
{
    if (work == APPLY_WORK_CHANGE &&
        renameat(place->dir_fd, place->kept, place->dir_fd, place->previous) != 0 && errno != ENOENT)
        return;
    apply_place_end(place);
}

bool apply_place_is_finishing(const struct apply_place *place, enum apply_work work)
{
    return work == APPLY_WORK_CHANGE && access_name(place->dir_fd, place->kept) == -ENOENT &&
           access_name(place->dir_fd, place->previous) == 0;
}

/* The marker goes first: a kept text without it is ignored. */
void apply_place_end(const struct apply_place *place)
{
    if (unlinkat(place->dir_fd, place->marker, 0) == 0)
        fsync(place->dir_fd);
    unlinkat(place->dir_fd, place->kept, 0);
}

void apply_place_sweep(const struct apply_place *place)
{
    const char *names[] = {place->name, place->previous, place->marker, place->kept};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        replace_sweep(place->dir_fd, names[i], true);
}
