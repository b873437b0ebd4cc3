/* bench/target/target_keep: naming, and recognising. */
#include "bench/target/target_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define SHOWN    200

static struct target_keep_id id_of(const struct stat *status)
{
    return (struct target_keep_id){
        .inode = (uint64_t)status->st_ino,
        .size_bytes = (uint64_t)status->st_size,
        .modified_ns = (uint64_t)status->st_mtim.tv_sec * NS_PER_S + (uint64_t)status->st_mtim.tv_nsec,
    };
}

int target_keep_identify(const struct target *target, struct target_keep_id *ret_id, struct err *err)
{
    struct stat status;
    if (fstat(target->fd, &status) != 0)
        return err_sys(err, -errno, "%s: cannot be examined", target->name);
    *ret_id = id_of(&status);
    return 0;
}

int target_keep_link(const struct target *target, const char *directory, const char *name, struct err *err)
{
    char from[64], to[PATH_MAX];
    if (!target->tmpfile)
        return err_set(err, -EOPNOTSUPP,
                       "%.*s: this file system has no nameless files, so none can be kept; leave "
                       "keep_file out",
                       SHOWN, directory);
    if ((size_t)snprintf(to, sizeof to, "%s/%s", directory, name) >= sizeof to)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, directory);
    snprintf(from, sizeof from, "/proc/self/fd/%d", target->fd);
    if (fchmod(target->fd, 0400) != 0 || linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) != 0)
        return err_sys(err, -errno, "%.*s/%s: the file cannot be kept", SHOWN, directory, name);
    return 0;
}

int target_keep_check(const char *directory, const char *name, const struct target_keep_id *id,
                      struct err *err)
{
    char path[PATH_MAX];
    struct stat status;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, directory);
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? -ENOENT : err_sys(err, -errno, "%.*s: cannot be examined", SHOWN, path);
    struct target_keep_id found = id_of(&status);
    bool is_ours = S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
    if (id == NULL || !is_ours || found.inode != id->inode || found.size_bytes != id->size_bytes ||
        found.modified_ns != id->modified_ns)
        return err_set(err, -ESTALE,
                       "%.*s: is not the file that fstune made there; remove it, and the next night "
                       "makes another",
                       SHOWN, path);
    return 0;
}
