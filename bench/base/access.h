/* bench/base/access: what may be done with a name, asked so that it is answered in a container too.
 *
 * The flags of faccessat need the call faccessat2 (Linux 5.8). Filters of containers that are older than it
 * refuse it with EPERM, which the C library takes for the answer. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether entries can be made in a directory; 0 or -errno. Where the effective IDs cannot be asked for, the
 * real ones are: they differ only under setuid. */
static inline int access_directory(int dir_fd, const char *name)
{
    if (faccessat(dir_fd, name, W_OK | X_OK, AT_EACCESS) == 0 ||
        (errno == EPERM && syscall(SYS_faccessat, dir_fd, name, W_OK | X_OK) == 0))
        return 0;
    return -errno;
}

/* Whether a file of this path can be written to: it is there and may be, or its directory takes new ones. 0
 * or -errno. For a dry run, which makes nothing. */
int access_writable_file(const char *path);

/* Whether there is such a name, a dangling link included; 0 or -errno. */
static inline int access_name(int dir_fd, const char *name)
{
    struct stat status;
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}
