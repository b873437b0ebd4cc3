/* bench/target/target_device: the guards before a block device is measured, or overwritten.
 *
 * What destroys disks is a wrong name, a right name for another disk than yesterday, and a disk that somebody
 * else uses unseen. Against the first two stand the size that has to be typed and what a refusal shows;
 * against the third O_EXCL, which the kernel gives to one at a time - but not to those who do not ask for it,
 * so these are looked for. */
#include "bench/base/units.h"
#include "bench/host/block_device.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS (2 * CLOCK_NS_PER_S)
#define POLL_NS     (CLOCK_NS_PER_S / 20)

#define SHOWN 180 /* of a text in a message */

/* "500107862016 bytes (465.8 GiB), Samsung SSD 860, serial number S3Z" */
static void describe_device(const struct block_device *device, char *text, size_t size)
{
    char bytes[UNITS_TEXT_SIZE];
    snprintf(text, size, "%" PRIu64 " bytes (%s), %s%.60s, %s%.40s", device->size_bytes,
             units_format_bytes(device->size_bytes, bytes), device->model[0] != '\0' ? "" : "model unknown",
             device->model, device->serial[0] != '\0' ? "serial number " : "serial number unknown",
             device->serial);
}

/* Who uses it. Programs that look at new disks (udev) have them open for a moment. */
static int check_unused(int fd, const char *path, struct err *err)
{
    struct target_user user;
    uint64_t now_ns = clock_now_ns(&clock_monotonic), end_ns = now_ns + PATIENCE_NS;
    if (target_device_find_holder(fd, &user))
        return err_set(err, -EBUSY, "%s: is %s; %s or give another device", path, user.what, user.remedy);
    while (target_find_user(fd, true, &user)) {
        now_ns = clock_now_ns(&clock_monotonic);
        if (now_ns >= end_ns)
            return err_set(err, -EBUSY, "%s: is %s; %s or give another device", path, user.what, user.remedy);
        clock_sleep_until_ns(&clock_monotonic, now_ns + POLL_NS);
    }
    if (target_find_image_user(fd, &user))
        return err_set(err, -EBUSY, "%s: what is behind it is also %s; %s or give another device", path,
                       user.what, user.remedy);
    return 0;
}

/* udev leaves a disk alone while its node is locked so; it may just be looking. */
static bool is_flocked_for_long(int fd)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic), end_ns = now_ns + PATIENCE_NS;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        now_ns = clock_now_ns(&clock_monotonic);
        if (now_ns >= end_ns)
            return true;
        clock_sleep_until_ns(&clock_monotonic, now_ns + POLL_NS);
    }
    return false;
}

/* A descriptor that only reads can ask for any lock, but take only one for reading; QEMU yields to that, too,
 * so that a served device, whose descriptor writes, needs no other one. */
static int lock_device(int fd, const char *path, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool is_locked = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    whole = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (is_locked || (fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)))
        return err_set(err, -EBUSY,
                       "%s: is locked by another process (fcntl); stop it or give another device", path);
    if (is_flocked_for_long(fd))
        return err_set(err, -EBUSY,
                       "%s: is locked by another process (flock); stop it or give another device", path);
    return 0;
}

/* What is said of a device that clients are to live on. */
static int refuse_served(const struct target_existing *existing, uint64_t size_bytes, const char *what,
                         const char *contents, struct err *err)
{
    if (existing->destroy_device_bytes != 0)
        return err_set(err, -EPERM,
                       "%s: device-size says %" PRIu64
                       " bytes, but this is a block device of %s; make sure that it is the one you mean; %s",
                       existing->path, existing->destroy_device_bytes, what, contents);
    return err_set(err, -EPERM,
                   "%s: is a block device of %s; clients may overwrite all that is on it (%s); if it is the "
                   "one you mean, add device-size=%" PRIu64 ", or serve it for reading only (nbdkit -r)",
                   existing->path, what, contents, size_bytes);
}

/* One refusal tells all that is missing. */
static int refuse(const struct block_device *device, const struct target_existing *existing,
                  const char *contents, struct err *err)
{
    char what[240], destroyed[SHOWN + 64], size[64] = "";
    bool is_size = existing->destroy_device_bytes == device->size_bytes;
    describe_device(device, what, sizeof(what));
    if (contents[0] != '\0')
        snprintf(destroyed, sizeof(destroyed), "libblkid finds %s", contents);
    else
        snprintf(destroyed, sizeof(destroyed), "libblkid knows nothing of it");
    if (existing->is_served)
        return refuse_served(existing, device->size_bytes, what, destroyed, err);
    if (existing->destroy_device_bytes != 0 && !is_size)
        return err_set(err, -EPERM,
                       "%s: --destroy-device says %" PRIu64
                       " bytes, but this is a block device of %s; make sure that it is the one you mean; "
                       "%s",
                       existing->path, existing->destroy_device_bytes, what, destroyed);
    if (!is_size)
        snprintf(size, sizeof(size), " --destroy-device %" PRIu64, device->size_bytes);
    return err_set(
        err, -EPERM,
        "%s: is a block device of %s; this pattern would destroy all that is on it (%s); if that may be "
        "lost, add%s%s%s",
        existing->path, what, destroyed, existing->overwrite ? "" : " --overwrite", size,
        contents[0] != '\0' && !existing->ignore_signature ? " --ignore-signature" : "");
}

static int check_allowed(int fd, const struct block_device *device, const struct target_existing *existing,
                         struct err *err)
{
    char contents[SHOWN];
    int code = target_device_signatures(fd, contents, sizeof(contents));
    if (code != 0)
        return err_sys(err, code, "%s: what is on it cannot be read, so nothing is written to it",
                       existing->path);
    if (existing->overwrite && existing->destroy_device_bytes == device->size_bytes &&
        (contents[0] == '\0' || existing->ignore_signature || existing->is_served))
        return 0;
    return refuse(device, existing, contents, err);
}

/* All looks, at first and again. */
static int look(int fd, const struct target_existing *existing, struct block_device *ret_device,
                struct err *err)
{
    int code = block_device_of(fd, ret_device);
    if (code != 0)
        return err_sys(err, code, "%s: cannot be asked for its size", existing->path);
    code = check_unused(fd, existing->path, err);
    if (code == 0 && ret_device->read_only)
        code = err_set(err, -EROFS, "%s: is read-only; %s", existing->path,
                       existing->is_served ? "serve it for reading only (nbdkit -r)"
                                           : "only patterns that read can be measured on it");
    return code != 0 ? code : check_allowed(fd, ret_device, existing, err);
}

/* Somebody has it, and the kernel does not say who. The look needs a descriptor, too. */
static int refuse_busy(int inode_fd, const char *path, struct err *err)
{
    int fd = -1;
    int code = target_reopen(inode_fd, path, O_RDONLY, &fd, err);
    if (code != 0)
        return code;
    code = check_unused(fd, path, err);
    close(fd);
    if (code != 0)
        return code;
    return err_set(
        err, -EBUSY,
        "%s: it or a part of it is in use, and not seen from here: mounted in a container, or held "
        "by the kernel or by a program; end that or give another device",
        path);
}

/* The descriptor that is kept only reads, but for a device that is served: whoever closes one that could
 * write has others look at the disk, and runs have their own. The kernel gives O_EXCL to readers and writers
 * alike, but lets nobody without it give back a range whose pages are in the cache, which those who are
 * served may want. */
static int open_to_write(struct target *target, int inode_fd, const struct target_existing *existing,
                         struct block_device *ret_device, struct err *err)
{
    const char *path = existing->path;
    struct err why = {0};
    int flags = existing->is_served ? O_RDWR | O_EXCL : O_RDONLY | O_EXCL;
    int code = target_reopen(inode_fd, path, flags, &target->fd, err);
    if (code == -EBUSY)
        return refuse_busy(inode_fd, path, err);
    if (code != 0)
        return code;
    int lock_code = lock_device(target->fd, path, &why);
    code = look(target->fd, existing, ret_device, err);
    return code == -EBUSY || lock_code == 0 ? code : err_set(err, lock_code, "%s", why.text);
}

static int open_to_read(struct target *target, int inode_fd, const struct target_existing *existing,
                        struct block_device *ret_device, struct err *err)
{
    int code = target_reopen(inode_fd, existing->path, O_RDONLY, &target->fd, err);
    if (code == 0 && (code = block_device_of(target->fd, ret_device)) != 0)
        return err_sys(err, code, "%s: cannot be asked for its size", existing->path);
    return code;
}

int target_device_open(struct target *target, int inode_fd, const struct target_existing *existing,
                       struct err *err)
{
    struct block_device device = {0};
    int code = existing->for_writing ? open_to_write(target, inode_fd, existing, &device, err)
                                     : open_to_read(target, inode_fd, existing, &device, err);
    if (code != 0)
        return code;
    target->is_device = true;
    target->size_bytes = device.size_bytes / device.sector_bytes * device.sector_bytes;
    target->fs_block_bytes = device.sector_bytes;
    target->available_bytes = UINT64_MAX;
    if (target->size_bytes == 0)
        return err_set(err, -ENOMEDIUM, "%s: has no size: no medium is in it, or nothing is attached to it",
                       existing->path);
    return 0;
}

int target_check_again(const struct target *target, const struct target_existing *existing, struct err *err)
{
    struct block_device device;
    if (!target->is_device || !target->writable)
        return 0;
    return look(target->fd, existing, &device, err);
}

int target_size_of(int fd, uint64_t *ret_bytes)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (S_ISBLK(status.st_mode))
        return ioctl(fd, BLKGETSIZE64, ret_bytes) == 0 ? 0 : -errno;
    *ret_bytes = (uint64_t)status.st_size;
    return 0;
}
