/* tuner/store/history_snapshot: copying a database file with its log. */
#include "tuner/store/history_snapshot.h"

#include "bench/base/clock.h"
#include "tuner/store/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES      10
#define PAUSE_NS   20000000ULL
#define CHUNK_SIZE (1U << 20)
#define NAME       "/history.db"

/* The database, its write-ahead log, and the log that undoes a change where that one is not in use. The index
 * of the former (-shm) is made anew. */
static const char *const parts[] = {"", "-wal", "-journal"};
#define N_PARTS (sizeof parts / sizeof parts[0])

/* Size and times that change when a part is written; zeros for a missing part. */
struct look {
    ino_t inode;
    off_t size;
    struct timespec modified;
};

static bool join_path(char *path, const char *base, const char *part)
{
    return (size_t)snprintf(path, HISTORY_SNAPSHOT_PATH_SIZE, "%s%s", base, part) <
           HISTORY_SNAPSHOT_PATH_SIZE;
}

static int look_at(const char *base, struct look looks[N_PARTS], struct err *err)
{
    char path[HISTORY_SNAPSHOT_PATH_SIZE];
    struct stat status;
    memset(looks, 0, N_PARTS * sizeof *looks);
    for (size_t i = 0; i < N_PARTS; i++) {
        if (!join_path(path, base, parts[i]))
            return err_set(err, -ENAMETOOLONG, "the path is too long");
        if (stat(path, &status) == 0) {
            looks[i].inode = status.st_ino;
            looks[i].size = status.st_size;
            looks[i].modified = status.st_mtim;
        } else if (errno != ENOENT) {
            return err_sys(err, -errno, "cannot look at it");
        }
    }
    return 0;
}

/* 0 or a negative errno. */
static int pour(int from, int to)
{
    ssize_t n;
    while ((n = sendfile(to, from, NULL, CHUNK_SIZE)) != 0) {
        if (n < 0 && errno != EINTR)
            return -errno;
    }
    return 0;
}

/* A part that is not there has none in the copy either. */
static int copy_part(const char *from_path, const char *to_path, struct err *err)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;
    if (from < 0)
        return errno == ENOENT ? 0 : err_sys(err, -errno, "it cannot be read");
    int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    result = to < 0 ? -errno : pour(from, to);
    if (to >= 0 && close(to) < 0 && result == 0)
        result = -errno;
    close(from);
    return result < 0
               ? err_sys(err, result, "it cannot be copied to %s (TMPDIR names another place)", to_path)
               : 0;
}

static void remove_parts(const char *base)
{
    static const char *const made[] = {"", "-wal", "-journal", "-shm"};
    char path[HISTORY_SNAPSHOT_PATH_SIZE];
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (join_path(path, base, made[i]))
            unlink(path);
    }
}

static int copy_parts(const struct history_snapshot *snapshot, const char *base, struct err *err)
{
    char from[HISTORY_SNAPSHOT_PATH_SIZE], to[HISTORY_SNAPSHOT_PATH_SIZE];
    int result = 0;
    remove_parts(snapshot->path);
    for (size_t i = 0; i < N_PARTS && result == 0; i++) {
        if (!join_path(from, base, parts[i]) || !join_path(to, snapshot->path, parts[i]))
            return err_set(err, -ENAMETOOLONG, "the path is too long");
        result = copy_part(from, to, err);
    }
    return result;
}

/* Copies again while somebody writes: parts copied at different times do not fit together. */
static int copy_at_rest(const struct history_snapshot *snapshot, const char *base, struct err *err)
{
    struct look before[N_PARTS], after[N_PARTS] = {{0}};
    for (int i = 0; i < TRIES; i++) {
        int result = look_at(base, before, err);
        if (result == 0)
            result = copy_parts(snapshot, base, err);
        if (result == 0)
            result = look_at(base, after, err);
        if (result < 0 || memcmp(before, after, sizeof before) == 0)
            return result;
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + PAUSE_NS);
    }
    return err_set(err, -EBUSY, "it is being written all the time; try again when no fstune measures there");
}

static int make_folder(struct history_snapshot *snapshot, struct err *err)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/')
        base = "/var/tmp";
    if (!join_path(snapshot->folder, base, "/fstune-merge-XXXXXX") ||
        strlen(snapshot->folder) + sizeof NAME > HISTORY_SNAPSHOT_PATH_SIZE)
        return err_set(err, -ENAMETOOLONG, "the path in TMPDIR is too long");
    if (mkdtemp(snapshot->folder) == NULL)
        return err_sys(err, -errno, "no folder for a copy can be made in %s", base);
    (void)join_path(snapshot->path, snapshot->folder, NAME);
    return 0;
}

int history_snapshot_make(struct history_snapshot *snapshot, const char *path, struct err *err)
{
    char whole[4096];
    int result = history_look(path, err);
    if (result < 0)
        return result;
    /* SQLite keeps the log beside the file, not beside a link to it. */
    if (realpath(path, whole) == NULL)
        return err_sys(err, -errno, "history %.300s", path);
    result = make_folder(snapshot, err);
    if (result == 0 && (result = copy_at_rest(snapshot, whole, err)) < 0)
        history_snapshot_done(snapshot);
    return result < 0 ? err_prefix(err, "history %.300s", path) : 0;
}

void history_snapshot_done(struct history_snapshot *snapshot)
{
    remove_parts(snapshot->path);
    rmdir(snapshot->folder);
}
