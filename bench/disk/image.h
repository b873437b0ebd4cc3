/* bench/disk/image: a disk image that is served to others: its descriptors, and what can be done with it
 * beside reading and writing (image_path.h).
 *
 * What the kernel promises for one inode holds for all its descriptors: an fdatasync covers what was written
 * through any of them. All flushes go through one descriptor, because the kernel reports a lost write once to
 * each. */
#pragma once

#include "bench/base/err.h"
#include "bench/target/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
    struct target target; /* with the locks and guards of a user's file; its descriptor flushes */
    int fd_cached;        /* through the page cache, with the kernel's read-ahead */
    int fd_scattered;     /* the same without read-ahead */
    int fd_direct;        /* past the page cache; -1: not possible, or not safe */
    bool writable;
    uint64_t size_bytes;
    uint32_t align_bytes; /* of offsets and lengths of direct requests */
    char direct_why[160]; /* why there is no direct I/O */
};

/* A regular file or a block device; one that is written must be used by nobody else, and of a device the size
 * must be known (device_bytes; 0: not given), as target_open_existing has it. Direct I/O is offered where the
 * kernel keeps it and the page cache at one (devices, ext4, xfs, btrfs) and a direct read was seen to pass by
 * the cache; the proof writes nothing. */
int image_open(struct image *image, const char *path, bool writable, uint64_t device_bytes, struct err *err);
/* Accepts a zeroed image. */
void image_close(struct image *image);

/* 0 or a negative errno: all writes that have returned are durable. */
int image_sync(const struct image *image);

/* The range reads as zeroes afterwards. punch: its space is given back where the file system can. -EOPNOTSUPP
 * where neither is possible without writing, or not of these borders. */
int image_zero(const struct image *image, uint64_t offset_bytes, uint64_t n_bytes, bool punch);

/* Where the part that begins at offset ends, and whether it is a hole; a device has none. -EIO: somebody made
 * the file shorter, and what was there is no hole. */
int image_extent(const struct image *image, uint64_t offset_bytes, uint64_t *ret_end_bytes,
                 bool *ret_is_hole);
