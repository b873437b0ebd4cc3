/* Files that only root and we can have made. */
#include "bench/base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(int fd, mode_t type, mode_t forbidden)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
           (status.st_mode & forbidden) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (type == S_IFDIR || status.st_nlink == 1);
}

int private_file_open(const char *directory, const char *name, bool create, mode_t forbidden)
{
    /* O_NONBLOCK: what lies there may be a pipe. */
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (create ? O_CREAT : 0);
    if (create)
        (void)mkdir(directory, 0755); /* only root may; the package's tmpfiles entry has made it before */
    int directory_fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory_fd < 0)
        return -errno;
    int fd = -EPERM;
    if (is_trusted(directory_fd, S_IFDIR, S_IWGRP | S_IWOTH)) {
        fd = openat(directory_fd, name, flags, 0600);
        fd = fd < 0 ? -errno : fd;
    }
    close(directory_fd);
    if (fd >= 0 && !is_trusted(fd, S_IFREG, forbidden)) {
        close(fd);
        fd = -EPERM;
    }
    return fd;
}
