/* models/cawl/cawl_internal: what the files of models/cawl/cawl share. */
#pragma once

#include "models/cawl/cawl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* A range of a file. Its end is its key and stays; it may lose bytes at its front, and grow there. */
struct cawl_block {
    uint64_t offset, size;
    uint32_t file; /* as the chunks name it */
    enum cawl_list {
        CAWL_FRESH,  /* written once: inactive */
        CAWL_AGED,   /* were active, inactive again */
        CAWL_ACTIVE, /* written more than once */
        CAWL_N_LISTS
    } list;
    double endtime; /* when it was written last */
    TAILQ_ENTRY(cawl_block) by_age;
};

/* Disjoint ranges; zeroed at first. */
struct cawl_map {
    void *tree; /* of tsearch */
};

/* The first block of the file that ends behind offset; NULL without one. */
struct cawl_block *cawl_map_behind(const struct cawl_map *map, uint32_t file, uint64_t offset);

/* The range must not overlap another. NULL: no memory. */
struct cawl_block *cawl_map_add(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size);
void cawl_map_remove(struct cawl_map *map, struct cawl_block *block);
void cawl_map_done(struct cawl_map *map); /* accepts a zeroed one */

/* Bytes of the range that the map does not hold yet; it holds them from now on, neighbours joined. 0,
 * -ENOMEM. */
int cawl_map_cover(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size, uint64_t *ret_new);

/* Each list is in the order of endtime, the oldest block first: blocks enter at the end, and active ones
 * become inactive the oldest first. So the oldest of all is one of three heads. */
struct cawl_cache {
    struct cawl_map map;
    TAILQ_HEAD(cawl_blocks, cawl_block) lists[CAWL_N_LISTS];
    uint64_t bytes[CAWL_N_LISTS];
};

/* From now on it stays where it is: its lists point into it. cawl_map_done of its map frees it. */
void cawl_cache_init(struct cawl_cache *cache);

static inline uint64_t cawl_cache_dirty(const struct cawl_cache *cache)
{
    return cache->bytes[CAWL_FRESH] + cache->bytes[CAWL_AGED] + cache->bytes[CAWL_ACTIVE];
}

/* Makes the range dirty, at endtime, which never goes back: what was dirty already becomes active, in one
 * block where it lies together; the rest is inactive. 0, -ENOMEM. */
int cawl_cache_write(struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size, double endtime);

/* Bytes of the range that are dirty. */
uint64_t cawl_cache_covered(const struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size);

/* When the oldest block was written; INFINITY for an empty cache. */
double cawl_cache_oldest(const struct cawl_cache *cache);

/* Makes old active blocks inactive until at most two thirds of the bytes are active; the oldest inactive
 * block, or NULL for an empty cache. */
struct cawl_block *cawl_cache_evictable(struct cawl_cache *cache);

/* Takes bytes from the front of a block; all of it, and the block is gone. */
void cawl_cache_clean(struct cawl_cache *cache, struct cawl_block *block, uint64_t bytes);

/* Lists, map and sums agree; for assert. O(n log n). */
bool cawl_cache_sound(const struct cawl_cache *cache);

/* The device: a rate, or a rate and a bucket of credit. */
struct cawl_device {
    double rate_bps, burst_bps;            /* burst_bps > rate_bps, or 0 */
    double credit_bytes, max_credit_bytes; /* what may still be written faster */
    double per_byte_s;                     /* on top of each byte: late allocation */
};

struct cawl_device cawl_device_of(const struct cawl_host *host, const struct cawl_options *options,
                                  bool cached); /* by way of the page cache */
/* How long a write takes, and how much is written in a time; neither changes the device. */
double cawl_device_seconds(const struct cawl_device *device, double bytes);
double cawl_device_bytes(const struct cawl_device *device, double seconds);
/* Time passes, writing or idle. */
void cawl_device_busy(struct cawl_device *device, double seconds);
void cawl_device_idle(struct cawl_device *device, double seconds);

/* Of bytes that come into memory at a rate, those that touch it for the first time apart. */
double cawl_copy_seconds(const struct cawl_host *host, double bps, uint64_t size, uint64_t n_new);

/* Algorithm 1. */
struct cawl_engine {
    const struct cawl_host *host;
    const struct cawl_options *options;
    struct cawl_prediction *prediction; /* its changes grow */
    size_t max_changes, chunk;          /* room in it; the chunk that is written now */
    struct cawl_cache cache;
    struct cawl_map touched; /* with options->first_touch: what is in memory, dirty or not */
    struct cawl_device device;
    double limit_bg, limit_hard, setpoint; /* bytes, of one writer */
    double carry;                          /* of a byte that the flusher has begun */
    double time, io_time, bw_avg;
    uint64_t written;
};

void cawl_nosync_init(struct cawl_engine *engine, const struct cawl_host *host,
                      const struct cawl_options *options, struct cawl_prediction *prediction);
void cawl_nosync_done(struct cawl_engine *engine);

/* Time without a system call. */
void cawl_nosync_wait(struct cawl_engine *engine, double seconds);

/* One write(2). 0, -ENOMEM. */
int cawl_nosync_write(struct cawl_engine *engine, uint32_t file, uint64_t offset, uint64_t size,
                      double *ret_cost);

/* Builds with FSTUNE_DEBUG: asserts now and then that the blocks are sound and sum up to dirty. */
void cawl_nosync_check(const struct cawl_engine *engine);

/* A file of a load. */
struct cawl_stream {
    uint32_t file;
    uint64_t end, pending; /* of its last chunk; stdio: bytes before it in the buffer */
};

/* Zeroed at first; tdestroy frees the tree. */
struct cawl_streams {
    void *tree;
    struct cawl_stream *last; /* most loads stay in one file for long */
};

/* The chunk's file, which ends where the chunk begins when it is new. NULL: no memory. */
struct cawl_stream *cawl_stream_of(struct cawl_streams *streams, const struct cawl_chunk *chunk);

/* Each mode: fills costs, end and dirty of a prediction whose arrays exist. 0, -ENOMEM. */
int cawl_nosync_predict(struct cawl_engine *engine, const struct cawl_chunk *chunks);
int cawl_stdio_predict(struct cawl_engine *engine, const struct cawl_chunk *chunks);
int cawl_closed_predict(const struct cawl_host *host, const struct cawl_options *options, enum cawl_mode mode,
                        const struct cawl_chunk *chunks, struct cawl_prediction *prediction);
