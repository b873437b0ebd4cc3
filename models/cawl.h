/* models/cawl: what writes cost on Linux, the page cache included, predicted and not measured.
 *
 * Source: Gholami and Schintke, "CAWL: A Cache-aware Write Performance Model of Linux Systems" (digest
 * section 3); numbers of equations and algorithms are the paper's. Pure numbers: no clock, no file, no
 * randomness. */
#ifndef FSTUNE_MODELS_CAWL_H
#define FSTUNE_MODELS_CAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A machine and its file system, in the paper's names. Rates, sizes and dirty_expire > 0; costs >= 0;
 * limit_bg < limit_hard. */
struct cawl_host {
    double bw_mem_bps;                 /* copying large blocks in memory */
    double bw_ramdisk_bps;             /* write(2) into the page cache below the background limit */
    double bw_ramdisk_first_touch_bps; /* the same into memory that nobody has touched yet; 0: not known */
    double bw_reduced_bps;             /* write(2) into the page cache while pages are written back */
    double bw_dev_bps, bw_rdev_bps;    /* the device, written and read */
    double sc_w_s, sc_sw_s;            /* fixed cost of a write call, and of a synchronous one */
    double c_sk_s;                     /* a seek */
    double bs_bytes;                   /* logical block of the device */
    double bf_bytes;                   /* buffer of the C library's streams */
    double limit_bg_bytes, limit_hard_bytes; /* dirty memory: writeback begins, writers wait */
    double dirty_expire_s;                   /* so old dirty pages are written back in any case */
};

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

/* Where the paper's assumptions end; all zero is the plain model. */
struct cawl_options {
    bool first_touch;   /* bytes that are not in the cache yet arrive at bw_ramdisk_first_touch_bps */
    bool close;         /* stdio: what is left in the buffer is written at the end (fflush) */
    double limit_share; /* of the dirty limits that this device or cgroup has; 0: all of it */
    uint32_t n_writers; /* alike, at the same time, this one included; 0: 1 */
    double writeback_interval_s;   /* expired pages are looked for so often (dirty_writeback_centisecs); 0:
                                      always */
    double allocation_bps;         /* blocks allocated late, at writeback, at this rate; 0: costs nothing */
    double max_request_bytes;      /* larger ones are split by the kernel (max_sectors_kb); 0: never */
    double split_s;                /* cost of each part after the first */
    double burst_bytes, burst_bps; /* a device with credit: burst_bps while it lasts, then bw_dev, which also
                                      refills it; 0: none */
};

enum cawl_run { CAWL_FREE_RUN, CAWL_ASYNC_RUN, CAWL_THROTTLE_RUN, CAWL_N_RUNS };

extern const char *const cawl_run_names[CAWL_N_RUNS]; /* "free_run", ... */

/* The state changed (or was entered first) with this chunk. */
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
    double *dirty_bytes;         /* then; all 0 in the modes that leave nothing dirty */
    struct cawl_change *changes; /* in order; none in modes without a page cache */
    size_t n_changes;
    double close_s; /* of the last flush of the stream, not in costs_s; 0 without */
    double total_s; /* sum of the costs, close_s included, delays not */
};

/* Predicts the chunks in their order. O(n log n) time and O(n) memory. 0; -EINVAL for values outside their
 * ranges; -ENOMEM. ret is filled only on 0; cawl_prediction_done frees it. */
int cawl_predict(const struct cawl_host *host, const struct cawl_options *options, enum cawl_mode mode,
                 const struct cawl_chunk *chunks, size_t n, struct cawl_prediction *ret);

/* Accepts a zeroed one. */
void cawl_prediction_done(struct cawl_prediction *prediction);

#endif
