/* models/cawl/cawl: what writes cost on Linux, the page cache included, predicted and not measured.
 *
 * Source: Gholami and Schintke, "CAWL: A Cache-aware Write Performance Model of Linux Systems" (digest
 * section 3); numbers of equations and algorithms are the paper's. Pure numbers: no clock, no file, no
 * randomness; the same input gives the same output.
 *
 * Where the paper is silent or cannot be followed, in all modes:
 * - A chunk needs a seek (is_rnd: c_sk, or the flush of a stream) when it does not begin where the chunk
 *   before it in the same file ended; a file's first chunk does not.
 * - No new byte is written faster than bw_ramdisk, even where bw_reduced is larger.
 * - Dirty bytes are whole; what the flusher has begun of a byte counts when the byte is complete.
 * - A throttled write takes no longer than the flusher needs down to the setpoint, and then the write at the
 *   rate there. So at limit_hard, where pos_ratio is 0, it waits; there is no division by 0.
 * - A chunk larger than limit_hard - setpoint is written in parts of that size (in at most 64), each at the
 *   rate of its moment: the paper's rate for the whole chunk would let 1 GiB pass a limit of 200 MB.
 *   sc_w is paid once. So dirty never is above limit_hard + one chunk.
 * - A chunk that overlaps no cached block is cached too (line 19 of algorithm 1 would forget it). Rewritten
 *   bytes that lie together become one block. Whole blocks are balanced, the oldest first, until at most two
 *   thirds of the dirty bytes are active.
 * - Every file has a buffer of its own in algorithm 2. An empty one is not flushed, the delay of a chunk
 * passes before the flush that a seek causes, and no second is counted twice (lines 48 and 51 add the cost of
 * a system call, which has passed, to the delay).
 *
 * bw_avg is the paper's, over all writes: under a lasting load it approaches bw_dev, and dirty the setpoint.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A machine and its file system, in the paper's names. Rates, sizes and dirty_expire > 0; costs >= 0;
 * limit_bg < limit_hard. Sizes are below 2^63, bs and bf at least 1. */
struct cawl_host {
    double bw_mem_bps;                 /* copying large blocks in memory */
    double bw_ramdisk_bps;             /* write(2) into the page cache below the background limit */
    double bw_ramdisk_first_touch_bps; /* the same into memory that nobody has touched yet; 0: not known */
    double bw_reduced_bps;             /* write(2) into the page cache while pages are written back */
    double bw_rewrite_bps;             /* write(2) over pages that are dirty already; 0: not known */
    double bw_dev_bps, bw_rdev_bps;    /* the device, written and read */
    double bw_writeback_bps;           /* the kernel writes dirty pages to the device; 0: not known */
    double bw_page_bps;                /* bytes of a write(2) of at most CAWL_SMALL_BYTES; 0: not known */
    double bw_buffer_bps;              /* bytes into the buffer of a stream; 0: not known */
    double sc_w_s, sc_sw_s;            /* fixed cost of a write call, and of a synchronous one */
    double sc_f_s;                     /* of a call of the C library that writes into a buffer */
    double c_sk_s;                     /* a seek */
    double bs_bytes;                   /* logical block of the device */
    double bf_bytes;                   /* buffer of the C library's streams */
    double limit_bg_bytes, limit_hard_bytes; /* dirty memory: writeback begins, writers wait */
    double dirty_expire_s;                   /* so old dirty pages are written back in any case */
};

/* Of a call: so many bytes are written page by page; what is more arrives in larger pieces. */
#define CAWL_SMALL_BYTES 16384.0

/* One write; sizes > 0. */
struct cawl_chunk {
    uint32_t file;
    uint64_t offset_bytes, size_bytes;
    double delay_s; /* computing before it, >= 0 */
};

enum cawl_mode {
    CAWL_DIRECT, /* O_DIRECT and synchronous, equation 2 */
    CAWL_SYNC,   /* synchronous through the page cache, equation 3 */
    CAWL_NOSYNC, /* algorithm 1 */
    CAWL_STDIO,  /* algorithm 2 on top of algorithm 1 */
    CAWL_NAIVE,  /* SimGrid's: size / bw_dev */
    CAWL_N_MODES
};

extern const char *const cawl_mode_names[CAWL_N_MODES]; /* "direct", ... */

/* Where the paper's assumptions end; all zero is the plain model. Costs, rates and sizes >= 0. */
struct cawl_options {
    /* Bytes that are not in the cache yet arrive at bw_ramdisk_first_touch_bps (then > 0), or at the rate of
     * the state if that is smaller. Nothing is in the cache before the first chunk, and nothing leaves it. */
    bool first_touch;
    /* Bytes that are dirty already are written at bw_rewrite_bps (then > 0) in every state: no page has to be
     * found for them, and Linux, which counts a page when it becomes dirty, lets nobody wait for them. The
     * paper takes them for new ones. */
    bool rewrites;
    /* stdio: what is left in the buffers is written at the end (fflush), file by file. */
    bool close;
    /* The rate changes inside a chunk, where dirty passes limit_bg or the setpoint, and in 64 steps above it;
     * the flusher works on what was dirty before, and begins the moment that a block expires. The paper takes
     * one rate for a chunk, adds the chunk before it flushes, and flushes for a whole interval at whose end a
     * block has expired. */
    bool piecewise;
    /* Writers wait as they do in Linux since 3.10: at bw_dev x pos_ratio instead of bw_avg x pos_ratio, with
     * pos_ratio = 1 halfway between the paper's setpoint, where waiting begins, and limit_hard; it is 2 where
     * waiting begins. */
    bool balanced;
    /* sync, and the flusher of nosync and stdio: dirty pages are written to the device at bw_writeback_bps
     * (then > 0). The paper takes bw_dev, the rate of direct writes, which the kernel's many requests at a
     * time may exceed. */
    bool writeback;
    /* Small calls as they are measured: the first CAWL_SMALL_BYTES of a call that are not dirty yet arrive at
     * bw_page_bps, if that is less than bw_ramdisk; into a stream's buffer a chunk costs sc_f, and its bytes
     * there bw_buffer (both rates then > 0). The paper has bw_ramdisk and bw_mem, rates of large blocks,
     * which lie in memory and not in the processor's cache. */
    bool small_calls;
    /* Of the dirty limits that this device or cgroup has, <= 1; 0: all of it. */
    double limit_share;
    /* Alike, at the same time, each to its own files, this one included; 0: 1. Each gets an equal share of
     * the limits and of the device; memory bandwidth is not shared. Results are one writer's. */
    uint32_t n_writers;
    /* Expired pages are looked for at multiples of this (dirty_writeback_centisecs); 0: always. */
    double writeback_interval_s;
    /* Blocks are allocated late, at writeback (and in sync writes), at this rate on top of bw_dev, rewritten
     * ones again; 0: costs nothing. */
    double allocation_bps;
    /* direct and sync: larger requests are split by the kernel (max_sectors_kb), and each part after the
     * first costs split_s; 0: never. The flusher's requests are part of bw_dev. */
    double max_request_bytes, split_s;
    /* A device with credit, full at first: burst_bps (> bw_dev, with writeback also > bw_writeback) while it
     * lasts, then bw_dev. Credit shrinks by what goes beyond bw_dev, and grows by bw_dev while the device is
     * idle. burst_bytes 0: none. Not naive. */
    double burst_bytes, burst_bps;
};

enum cawl_run { CAWL_FREE_RUN, CAWL_ASYNC_RUN, CAWL_THROTTLE_RUN, CAWL_N_RUNS };

extern const char *const cawl_run_names[CAWL_N_RUNS]; /* "free_run", ... */

/* The state changed (or was entered first) with this chunk. A state counts as left downwards only when dirty
 * is below its border by a hundredth of the room between limit_bg and limit_hard: under a lasting load small
 * chunks cross the setpoint with every write. The costs know no such margin. */
struct cawl_change {
    enum cawl_run run;
    size_t chunk;
    double at_s;            /* since the beginning, delays included */
    uint64_t written_bytes; /* by then */
};

struct cawl_prediction {
    size_t n;
    double *costs_s;             /* of each chunk */
    double *end_s;               /* when it was over, since the beginning, delays included */
    double *dirty_bytes;         /* then (stdio: after the last system call); all 0 in the modes that leave
                                    nothing dirty */
    struct cawl_change *changes; /* in order; none in modes without a page cache */
    size_t n_changes;
    double close_s;    /* of the last flush of the stream, not in costs_s; 0 without */
    double left_bytes; /* dirty when all of that is over */
    double total_s;    /* sum of the costs, close_s included, delays not */
};

/* Predicts the chunks in their order. O(n log n) time and O(n) memory. n may be 0. 0; -EINVAL for values
 * outside their ranges (offset + size must fit 63 bits, the sum of the sizes 64); -ENOMEM. ret is filled only
 * on 0; cawl_prediction_done frees it. */
int cawl_predict(const struct cawl_host *host, const struct cawl_options *options, enum cawl_mode mode,
                 const struct cawl_chunk *chunks, size_t n, struct cawl_prediction *ret);

/* The device's time for so many dirty bytes of each writer, without credit. */
double cawl_written_back_s(const struct cawl_host *host, const struct cawl_options *options, double bytes);

/* What the small pieces of a call cost beyond bw_ramdisk, with so many bytes that are not dirty yet; 0
 * without options->small_calls. */
double cawl_small_s(const struct cawl_host *host, const struct cawl_options *options, double bytes);

/* What is left of the limits of dirty memory for one writer. */
double cawl_limit_share(const struct cawl_options *options);

/* Accepts a zeroed one. */
void cawl_prediction_done(struct cawl_prediction *prediction);
