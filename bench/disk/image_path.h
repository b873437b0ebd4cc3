/* bench/disk/image_path: the ways in which a request to an image is made.
 *
 * Every way moves the same bytes: a way decides when and through which descriptor, never whether. Direct
 * requests must be aligned, and no cached request may be under way meanwhile; the caller sees to both. */
#pragma once

#include "bench/disk/image.h"

#include <pthread.h>

#define IMAGE_LANE_BYTES   (512U << 10) /* of a direct request that are moved at once */
#define IMAGE_MAX_PIECES   8
#define IMAGE_AHEAD_KERNEL 1 /* the kernel's own read-ahead */

struct image_way {
    bool direct;
    uint32_t piece_bytes; /* requests are split into such pieces, which are made at once; 0: not split */
    uint32_t ahead_bytes; /* read ahead of a sequential reader; 0: nothing, or IMAGE_AHEAD_KERNEL */
    uint32_t out_bytes;   /* gathered in the page cache before they are written out; 0: until the flush, or
                             as the kernel does */
};

struct image_lane;

/* What requests need while they are made; each has its own meanwhile. As many as there are requests at once.
 */
struct image_lanes {
    pthread_mutex_t lock;
    struct image_lane *free;
};

int image_lanes_open(struct image_lanes *lanes);
void image_lanes_close(struct image_lanes *lanes);

/* Whether pieces can be made at once here (io_uring). */
bool image_can_split(void);

static inline bool image_is_aligned(const struct image *image, uint64_t offset_bytes, uint64_t n_bytes)
{
    return (offset_bytes | n_bytes) % image->align_bytes == 0;
}

/* 0 or a negative errno; then what the range holds, or what of it arrived, is not known. */
int image_read(const struct image *image, struct image_lanes *lanes, struct image_way way, void *buffer,
               size_t n_bytes, uint64_t offset_bytes);
int image_write(const struct image *image, struct image_lanes *lanes, struct image_way way,
                const void *buffer, size_t n_bytes, uint64_t offset_bytes);

/* Lets the kernel read the range into the page cache without waiting for it. */
void image_read_ahead(const struct image *image, uint64_t offset_bytes, uint64_t n_bytes);

/* Lets the kernel write what the page cache has gathered, without waiting for it. Negative errno: some of it
 * is lost, and the kernel may tell nobody else: ext4 drops what it finds no room for. What could not be
 * written for another reason stays in the page cache, and a write that fails later is told by the next
 * image_sync. */
int image_write_out(const struct image *image);
