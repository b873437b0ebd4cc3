/* tuner/base/replace: temporary file, fsync, rename, fsync of the directory. */
#include "tuner/base/replace.h"

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "tuner/base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOWN 200
/* ".fstune-0123456789abcdef.NAME.new": who reads all files of a directory that end as NAME does, as
 * collectors of metrics do, leaves it alone. */
#define STAGED        ".fstune-"
#define STAGED_DIGITS 16
#define STAGED_END    ".new"

/* A staged file older than this was left by a process that was killed. */
#define STALE_S 3600

static int open_shared(const char *directory, int *ret_dir_fd, struct err *err)
{
    struct stat status;
    int result = 0, fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "%.*s: the directory cannot be opened", SHOWN, directory);
    if (fstat(fd, &status) != 0)
        result = err_sys(err, -errno, "%.*s: cannot be examined", SHOWN, directory);
    /* Where others may write, anybody could exchange our file between two of our steps. */
    else if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
        result = err_set(err, -EPERM, "%.*s: everybody may write to this directory; choose another", SHOWN,
                         directory);
    if (result < 0)
        close(fd);
    else
        *ret_dir_fd = fd;
    return result;
}

int replace_open_directory(const char *path, enum replace_directory kind, int *ret_dir_fd,
                           char name[REPLACE_NAME_SIZE], struct err *err)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return err_set(err, -EINVAL, "%.*s: is no name of a file", SHOWN, path);
    if (n >= sizeof directory || strlen(last) >= REPLACE_NAME_SIZE)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, path);
    memcpy(directory, slash != NULL ? path : ".", n);
    directory[n] = '\0';
    snprintf(name, REPLACE_NAME_SIZE, "%s", last);
    return kind == REPLACE_OWN ? trust_open_directory(directory, ret_dir_fd, err)
                               : open_shared(directory, ret_dir_fd, err);
}

static int read_whole_file(int fd, const char *name, struct replace_text *text, struct err *err)
{
    while (text->n <= REPLACE_MAX_BYTES) {
        ssize_t n = read(fd, text->bytes + text->n, REPLACE_MAX_BYTES + 1 - text->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, -errno, "%.*s: cannot be read", SHOWN, name);
        if (n == 0) {
            text->bytes[text->n] = '\0';
            return 0;
        }
        text->n += (size_t)n;
    }
    return err_set(err, -EFBIG, "%.*s: is larger than 1 MiB; this is no file of ours", SHOWN, name);
}

/* The owner of the directory could put any other file there as well. */
static int check_ours(int dir_fd, const struct stat *status, const char *name, struct err *err)
{
    struct stat directory;
    if (!S_ISREG(status->st_mode))
        return err_set(err, -EINVAL, "%.*s: is no regular file; choose another path", SHOWN, name);
    if (status->st_nlink != 1)
        return err_set(err, -EPERM, "%.*s: has another name too; see what is there, then remove one", SHOWN,
                       name);
    if (fstat(dir_fd, &directory) != 0)
        return err_sys(err, -errno, "%.*s: its directory cannot be examined", SHOWN, name);
    if (status->st_uid != geteuid() && status->st_uid != directory.st_uid)
        return err_set(err, -EPERM,
                       "%.*s: belongs to another user (%u); choose another path, or give it to "
                       "the user that fstune runs as",
                       SHOWN, name, (unsigned)status->st_uid);
    return trust_check_mode(status, name, err);
}

int replace_read(int dir_fd, const char *name, struct replace_text *ret_text, struct err *err)
{
    struct replace_text text = {0};
    /* O_NONBLOCK: a pipe in its place must not make us wait. */
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *ret_text = text;
        return 0;
    }
    if (fd < 0 && errno == ELOOP)
        return err_set(err, -ELOOP, "%.*s: is a symbolic link; name the file itself", SHOWN, name);
    if (fd < 0)
        return err_sys(err, -errno, "%.*s: cannot be opened", SHOWN, name);
    int result = fstat(fd, &text.status) == 0 ? check_ours(dir_fd, &text.status, name, err)
                                              : err_sys(err, -errno, "%.*s: cannot be examined", SHOWN, name);
    if (result == 0 && (text.bytes = malloc(REPLACE_MAX_BYTES + 2)) == NULL)
        result = err_set(err, -ENOMEM, "no memory to read %.*s", SHOWN, name);
    if (result == 0)
        result = read_whole_file(fd, name, &text, err);
    close(fd);
    if (result == 0)
        *ret_text = text;
    else
        free(text.bytes);
    return result;
}

int replace_write(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

/* The owner first: it takes bits of the mode away. What replace_read lets pass belongs to us or to the
 * directory's owner. */
static int dress(int fd, const struct stat *like)
{
    bool is_foreign = like != NULL && (like->st_uid != geteuid() || like->st_gid != getegid());
    if (is_foreign && fchown(fd, like->st_uid, like->st_gid) != 0)
        return -errno;
    return fchmod(fd, like != NULL ? like->st_mode & 0755 : 0644) == 0 ? 0 : -errno;
}

static bool is_staged(const char *entry, const char *name)
{
    static const size_t n = sizeof STAGED - 1;
    return strncmp(entry, STAGED, n) == 0 && strspn(entry + n, "0123456789abcdef") == STAGED_DIGITS &&
           entry[n + STAGED_DIGITS] == '.' &&
           strncmp(entry + n + STAGED_DIGITS + 1, name, strlen(name)) == 0 &&
           strcmp(entry + n + STAGED_DIGITS + 1 + strlen(name), STAGED_END) == 0;
}

static bool is_stale(int dir_fd, const char *entry)
{
    struct stat status;
    time_t now = (time_t)(clock_realtime_ns() / CLOCK_NS_PER_S);
    return fstatat(dir_fd, entry, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && now - status.st_mtim.tv_sec > STALE_S;
}

void replace_sweep(int dir_fd, const char *name, bool alone)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (is_staged(entry->d_name, name) && (alone || is_stale(dir_fd, entry->d_name)))
            replace_discard(dir_fd, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
}

int replace_stage(int dir_fd, const char *name, const char *bytes, size_t n, const struct stat *like,
                  char ret_staged[REPLACE_NAME_SIZE], struct err *err)
{
    char staged[REPLACE_NAME_SIZE];
    int length = snprintf(staged, sizeof staged, STAGED "%0*" PRIx64 ".%s" STAGED_END, STAGED_DIGITS,
                          rng_seed_from_system(), name);
    if (length < 0 || (size_t)length >= sizeof staged)
        return err_set(err, -ENAMETOOLONG, "%.*s: the name is too long; use at most %zu characters", SHOWN,
                       name, NAME_MAX + 1 - sizeof ".fstune-0123456789abcdef." STAGED_END);
    int fd = openat(dir_fd, staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, -errno, "%.*s: no new file can be made beside it", SHOWN, name);
    int result = replace_write(fd, bytes, n);
    if (result == 0)
        result = dress(fd, like);
    if (result == 0 && fsync(fd) != 0)
        result = -errno;
    if (close(fd) != 0 && result == 0)
        result = -errno;
    if (result < 0) {
        replace_discard(dir_fd, staged);
        return err_sys(err, result, "%.*s: the new file beside it cannot be written", SHOWN, name);
    }
    memcpy(ret_staged, staged, sizeof staged);
    return 0;
}

int replace_commit(int dir_fd, const char *staged, const char *name, bool *ret_named, struct err *err)
{
    if (ret_named != NULL)
        *ret_named = false;
    if (renameat(dir_fd, staged, dir_fd, name) != 0) {
        int result = err_sys(err, -errno, "%.*s: cannot be replaced", SHOWN, name);
        replace_discard(dir_fd, staged);
        return result;
    }
    if (ret_named != NULL)
        *ret_named = true;
    if (fsync(dir_fd) != 0)
        return err_sys(err, -errno, "%.*s: was replaced, but its directory could not be written out", SHOWN,
                       name);
    return 0;
}

void replace_discard(int dir_fd, const char *staged)
{
    unlinkat(dir_fd, staged, 0);
}

int replace_load(const char *path, enum replace_directory kind, struct replace_text *ret_text,
                 struct err *err)
{
    char name[REPLACE_NAME_SIZE];
    int dir_fd = -1;
    int result = replace_open_directory(path, kind, &dir_fd, name, err);
    if (result < 0)
        return result;
    result = replace_read(dir_fd, name, ret_text, err);
    close(dir_fd);
    return result;
}

int replace_file(const char *path, enum replace_directory kind, const char *bytes, size_t n, struct err *err)
{
    char name[REPLACE_NAME_SIZE], staged[REPLACE_NAME_SIZE];
    struct replace_text old = {0};
    int dir_fd = -1;
    int result = replace_open_directory(path, kind, &dir_fd, name, err);
    if (result < 0)
        return result;
    result = replace_read(dir_fd, name, &old, err);
    if (result == 0) {
        replace_sweep(dir_fd, name, false);
        result = replace_stage(dir_fd, name, bytes, n, NULL, staged, err);
    }
    if (result == 0)
        result = replace_commit(dir_fd, staged, name, NULL, err);
    free(old.bytes);
    close(dir_fd);
    return result;
}
