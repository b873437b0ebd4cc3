/* bench/target/target_existing: the guards before a file that belongs to the user is read or overwritten. */
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_NS (2 * CLOCK_NS_PER_S)
#define POLL_NS   (CLOCK_NS_PER_S / 100)

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFCHR:
        return "a character device";
    case S_IFIFO:
        return "a fifo";
    case S_IFSOCK:
        return "a socket";
    default:
        return "something else";
    }
}

/* What is to be overwritten is looked at before a link is followed: another user may have put it there, so
 * that it leads to a file that nobody meant. One to a device is followed, because its size is asked for. */
static int open_named(const struct target_existing *existing, bool *ret_is_link)
{
    struct stat status;
    bool overwrites = existing->for_writing && existing->overwrite && !existing->is_served;
    int fd = open(existing->path, O_PATH | O_CLOEXEC | (overwrites ? O_NOFOLLOW : 0));
    if (fd < 0 || !overwrites || fstat(fd, &status) != 0 || !S_ISLNK(status.st_mode))
        return fd;
    close(fd);
    *ret_is_link = true;
    return open(existing->path, O_PATH | O_CLOEXEC);
}

/* O_PATH neither waits at a fifo nor wakes a device; what it holds is the inode that is examined and reopened
 * afterwards. */
static int open_inode(const struct target_existing *existing, int *ret_fd, struct stat *ret_status,
                      struct err *err)
{
    const char *path = existing->path;
    bool is_link = false;
    int fd = open_named(existing, &is_link);
    if (fd < 0)
        return err_sys(err, -errno, "%s: cannot be opened", path);
    int code = 0;
    if (fstat(fd, ret_status) != 0)
        code = err_sys(err, -errno, "%s: cannot be examined", path);
    else if (is_link && S_ISREG(ret_status->st_mode))
        code =
            err_set(err, -ELOOP, "%s: is a symbolic link; name the file itself to have it overwritten", path);
    else if (!S_ISREG(ret_status->st_mode) && !S_ISBLK(ret_status->st_mode))
        code = err_set(err, -EINVAL, "%s: is %s; only regular files and block devices are measured", path,
                       kind_of(ret_status->st_mode));
    if (code != 0) {
        close(fd);
        return code;
    }
    *ret_fd = fd;
    return 0;
}

/* Programs such as QEMU lock single bytes of an image with OFD locks, others the whole file with flock. Both
 * locks stay with the descriptor, and so until the command ends: who comes later meets them. */
static int take_locks(int fd, const char *path, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
        return err_set(err, -EBUSY, "%s: is locked by another process (fcntl); stop it or give another file",
                       path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return err_set(err, -EBUSY, "%s: is locked by another process (flock); stop it or give another file",
                       path);
    return 0;
}

/* A process that ended with I/O under way may leave its descriptors to the kernel for a moment. */
static bool is_shared_for_long(int fd)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic), end_ns = now_ns + SHARED_NS;
    while (target_is_shared(fd)) {
        now_ns = clock_now_ns(&clock_monotonic);
        if (now_ns >= end_ns)
            return true;
        clock_sleep_until_ns(&clock_monotonic, now_ns + POLL_NS);
    }
    return false;
}

/* The locks come first, so that nobody who heeds them can come after the look. A user with a name says more
 * than a lock without one. */
static int guard_writing(int fd, const char *path, const struct stat *file, struct err *err)
{
    struct target_user user;
    if (file->st_nlink > 1)
        return err_set(err, -EMLINK,
                       "%s: has %lu names (hard links); overwriting it would change them all; copy it", path,
                       (unsigned long)file->st_nlink);
    int code = take_locks(fd, path, err);
    if (target_find_user(fd, true, &user))
        return err_set(err, -EBUSY, "%s: is %s%s; %s or give another file", path,
                       code != 0 ? "locked, and " : "", user.what, user.remedy);
    if (code == 0 && is_shared_for_long(fd))
        return err_set(err, -EBUSY,
                       "%s: is open elsewhere, and not seen from here: in a container, by another user or in "
                       "the kernel; end that or give another file",
                       path);
    return code;
}

int target_check_alone(const struct target *target, struct err *err)
{
    struct target_user user;
    if (target->owned || !target->writable)
        return 0;
    bool is_used = target->is_device
                       ? target_find_kernel_user(target->fd, &user)
                       : target_is_shared(target->fd) && target_find_user(target->fd, false, &user);
    if (target->is_device && !is_used && target_find_image_user(target->fd, &user))
        return err_set(err, -EBUSY, "%s: what is behind it is now also %s; nothing more is written to it",
                       target->name, user.what);
    if (!is_used)
        return 0;
    return err_set(err, -EBUSY, "%s: is now %s; nothing more is written to it", target->name, user.what);
}

/* Locks need the descriptor that the run keeps, so the guards come after opening; opening alone changes
 * nothing. */
static int open_guarded(struct target *target, int inode_fd, const struct target_existing *existing,
                        const struct stat *file, struct err *err)
{
    const char *path = existing->path;
    int code = target_reopen(inode_fd, path, existing->for_writing ? O_RDWR : O_RDONLY, &target->fd, err);
    if (code == -ETXTBSY)
        return err_set(err, code, "%s: is a running program or swap space; give another file", path);
    if (code == 0 && existing->for_writing)
        code = guard_writing(target->fd, path, file, err);
    if (code != 0)
        return code;
    return target_available(target->fd, path, &target->available_bytes, &target->fs_block_bytes, err);
}

static int open_file(struct target *target, int inode_fd, const struct target_existing *existing,
                     const struct stat *file, struct err *err)
{
    const char *path = existing->path;
    if (existing->destroy_device_bytes != 0)
        return err_set(err, -EINVAL,
                       "%s: is a file and not a block device, which %s is about; make sure that "
                       "it is the one you mean, and leave the option out",
                       path, existing->is_served ? "device-size" : "--destroy-device");
    target->size_bytes = (uint64_t)file->st_size / 512 * 512;
    if (target->size_bytes == 0)
        return err_set(err, -EINVAL, "%s: has %lld bytes, less than one request; give a larger file", path,
                       (long long)file->st_size);
    if (existing->for_writing && !existing->overwrite)
        return err_set(err, -EPERM, "%s: this pattern would destroy its contents; allow it with --overwrite",
                       path);
    return open_guarded(target, inode_fd, existing, file, err);
}

int target_open_existing(struct target *target, const struct target_existing *existing, struct err *err)
{
    struct target opened = {.writable = existing->for_writing};
    struct stat file;
    int inode_fd = -1;
    int code = open_inode(existing, &inode_fd, &file, err);
    if (code != 0)
        return code;
    snprintf(opened.name, sizeof(opened.name), "%s", existing->path);
    code = S_ISBLK(file.st_mode) ? target_device_open(&opened, inode_fd, existing, err)
                                 : open_file(&opened, inode_fd, existing, &file, err);
    close(inode_fd);
    if (code != 0)
        target_close(&opened);
    else
        *target = opened;
    return code;
}
