/* The descriptors of a served image. */
#include "bench/disk/image.h"

#include "bench/base/full_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define XFS_MAGIC 0x58465342

/* Before a direct request these write out the cached pages of its range, and they forget them after a direct
 * write. Others, such as FUSE and NFS, promise less. */
static bool keeps_cache_coherent(int fd)
{
    struct statfs status;
    if (fstatfs(fd, &status) != 0)
        return false;
    uint32_t type = (uint32_t)status.f_type; /* signed, where longs have 32 bits */
    return type == EXT4_SUPER_MAGIC || type == XFS_MAGIC || type == BTRFS_SUPER_MAGIC;
}

static int refuse_direct(struct image *image, const char *why)
{
    snprintf(image->direct_why, sizeof(image->direct_why), "%s", why);
    return 0;
}

static int open_direct(struct image *image, struct err *err)
{
    struct target *target = &image->target;
    if (!target->is_device && !keeps_cache_coherent(target->fd))
        return refuse_direct(image, "only on ext4, xfs and btrfs are direct and cached requests known to "
                                    "see each other's data");
    int code = target_prove_direct_within(target, 0, err);
    if (code != 0)
        return code;
    if (target->direct_read != TARGET_DIRECT_PROVED || target->direct_offset_align_bytes == 0)
        return refuse_direct(image, target->direct_why);
    image->align_bytes = target->direct_offset_align_bytes;
    if (image->size_bytes % image->align_bytes != 0)
        return refuse_direct(image, "the image's size is no multiple of the blocks of direct requests");
    return target_open_run(target, true, image->writable, &image->fd_direct, err);
}

static int open_descriptors(struct image *image, struct err *err)
{
    struct stat status;
    const struct target *target = &image->target;
    if (fstat(target->fd, &status) != 0)
        return err_sys(err, -errno, "%s: cannot be examined", target->name);
    image->size_bytes = target->is_device ? target->size_bytes : (uint64_t)status.st_size;
    int code = target_open_run(target, false, image->writable, &image->fd_cached, err);
    if (code == 0)
        code = target_open_run(target, false, false, &image->fd_scattered, err);
    if (code == 0)
        posix_fadvise(image->fd_scattered, 0, 0, POSIX_FADV_RANDOM);
    return code != 0 ? code : open_direct(image, err);
}

int image_open(struct image *image, const char *path, bool writable, uint64_t device_bytes, struct err *err)
{
    struct target_existing existing = {.path = path,
                                       .for_writing = writable,
                                       .overwrite = true,
                                       .destroy_device_bytes = device_bytes,
                                       .is_served = true};
    struct image opened = {.fd_cached = -1, .fd_scattered = -1, .fd_direct = -1, .writable = writable};
    int code = target_open_existing(&opened.target, &existing, err);
    if (code == 0)
        code = open_descriptors(&opened, err);
    if (code == 0)
        *image = opened;
    else
        image_close(&opened);
    return code;
}

void image_close(struct image *image)
{
    const int fds[] = {image->fd_cached, image->fd_scattered, image->fd_direct};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] > 0)
            close(fds[i]);
    }
    target_close(&image->target);
    *image = (struct image){.fd_direct = -1};
}

int image_sync(const struct image *image)
{
    return full_io_sync(image->target.fd);
}

/* A device takes whole sectors, and only through the descriptor that has O_EXCL. */
int image_zero(const struct image *image, uint64_t offset_bytes, uint64_t n_bytes, bool punch)
{
    if (image->target.is_device && (offset_bytes | n_bytes) % image->target.fs_block_bytes != 0)
        return -EOPNOTSUPP;
    int mode = punch ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : FALLOC_FL_ZERO_RANGE;
    unsigned n_tries = 0;
    int result;
    do
        result = fallocate(image->target.fd, mode, (off_t)offset_bytes, (off_t)n_bytes);
    while (result != 0 && retry_interrupted(&n_tries));
    if (result == 0)
        return 0;
    return errno == ENOSYS || errno == ENOTTY || errno == ENODEV ? -EOPNOTSUPP : -errno;
}

/* The place in the file that lseek moves is used by nobody else: data are moved at offsets. */
int image_extent(const struct image *image, uint64_t offset_bytes, uint64_t *ret_end_bytes, bool *ret_is_hole)
{
    if (image->target.is_device) {
        *ret_end_bytes = image->size_bytes;
        *ret_is_hole = false;
        return 0;
    }
    off_t data = lseek(image->fd_scattered, (off_t)offset_bytes, SEEK_DATA), end;
    if (data < 0 && errno != ENXIO)
        return -errno;
    *ret_is_hole = data < 0 || (uint64_t)data > offset_bytes;
    if (data < 0)
        end = lseek(image->fd_scattered, 0, SEEK_END);
    else
        end = *ret_is_hole ? data : lseek(image->fd_scattered, (off_t)offset_bytes, SEEK_HOLE);
    if (end < 0)
        return -errno;
    if (data < 0 && end <= (off_t)offset_bytes)
        return -EIO;
    /* A hole was made in between: what nobody looked at again counts as data. */
    bool is_empty = end <= (off_t)offset_bytes;
    *ret_end_bytes = is_empty ? image->size_bytes : (uint64_t)end;
    return 0;
}
