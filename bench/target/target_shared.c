/* One file for several processes: made, found, and without a name as soon as all have it. */
#include "bench/target/target_shared.h"

#include "bench/target/target_internal.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(((struct target_shared *)0)->name) == TARGET_NAME_SIZE, "a name fits");

int target_shared_make(const char *directory, bool needs_name, struct target_shared *ret_shared, int *ret_fd,
                       struct err *err)
{
    struct target_shared shared = {.pid = (int32_t)getpid()};
    struct stat status;
    int dir_fd, fd;
    int code = target_open_directory(directory, &dir_fd, err);
    if (code != 0)
        return code;
    code = needs_name ? target_create_named(dir_fd, directory, shared.name, &fd, err)
                      : target_create_nameless(dir_fd, directory, &fd, &shared.tmpfile, err);
    close(dir_fd);
    if (code != 0)
        return code;
    if (fstat(fd, &status) == 0) {
        shared.device = (uint64_t)status.st_dev;
        shared.inode = (uint64_t)status.st_ino;
    }
    shared.fd = fd;
    *ret_shared = shared;
    *ret_fd = fd;
    return 0;
}

/* A name is random, but anybody may put something in its place where everybody may write; what is empty, and
 * has no other name, can be overwritten without a loss. Numbers of inodes are one machine's. */
static bool is_it(const struct target_shared *shared, const struct stat *status)
{
    if (!S_ISREG(status->st_mode) || status->st_size != 0)
        return false;
    if (shared->name[0] != '\0')
        return status->st_nlink == 1;
    return (uint64_t)status->st_dev == shared->device && (uint64_t)status->st_ino == shared->inode;
}

/* An errno, and words, where it cannot be opened. */
static int open_it(const char *directory, const struct target_shared *shared, int *ret_fd, struct err *err)
{
    const bool named = shared->name[0] != '\0';
    char path[PATH_MAX];
    if (named)
        snprintf(path, sizeof path, "%s/%s", directory, shared->name);
    else
        snprintf(path, sizeof path, "/proc/%" PRId32 "/fd/%" PRId32, shared->pid, shared->fd);
    *ret_fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (named ? O_NOFOLLOW : 0));
    if (*ret_fd >= 0)
        return 0;
    if (named && errno == ENOENT)
        return err_set(err, -ENOENT,
                       "%s: the file that client 0 has made there is not here; --path has to be a directory "
                       "that all machines have in common",
                       directory);
    return err_sys(err, -errno,
                   "%s: the file that client 0 has made there cannot be opened; start all clients as one "
                   "user, and those of a machine in one container",
                   directory);
}

int target_shared_open(const char *directory, const struct target_shared *shared, int *ret_fd,
                       struct err *err)
{
    struct stat status;
    int fd, code = open_it(directory, shared, &fd, err);
    if (code != 0)
        return code;
    if (fstat(fd, &status) != 0)
        code = err_sys(err, -errno, "the target file in %s: cannot be examined", directory);
    else if (!is_it(shared, &status))
        code =
            err_set(err, -ESTALE,
                    "%s: another file has come in the place of the one that client 0 has made; start again",
                    directory);
    if (code == 0)
        *ret_fd = fd;
    else
        close(fd);
    return code;
}

int target_shared_unname(const char *directory, const struct target_shared *shared, struct err *err)
{
    int dir_fd;
    if (shared->name[0] == '\0')
        return 0;
    int code = target_open_directory(directory, &dir_fd, err);
    if (code != 0)
        return code;
    code = target_remove_name(dir_fd, directory, shared->name, err);
    close(dir_fd);
    return code;
}

int target_shared_check(const char *directory, int fd, struct err *err)
{
    int again;
    if (target_reopen(fd, directory, O_RDONLY, &again, NULL) < 0)
        return err_set(err, -EOPNOTSUPP,
                       "%s: this file system (SMB and NFS 4.0 are two) cannot open a file again that has no "
                       "name left; mount NFS with vers=4.1 or later, or leave --shared-file out",
                       directory);
    close(again);
    return 0;
}
