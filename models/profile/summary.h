/* models/profile/summary: what a store says of the program, as numbers and verdicts. */
#pragma once

#include "models/profile/store.h"
#include "models/profile/zipf.h"

#include <stdbool.h>
#include <stdint.h>

#define SUMMARY_MODES 6
/* Fewer requests are too little for a pattern: a share could be wrong by more than a tenth. */
#define SUMMARY_LEAST_REQUESTS 64
#define SUMMARY_LEAST_SHARE    0.02 /* of a kind that is told in the pattern */

enum summary_kind {
    SUMMARY_SEQ_READ,
    SUMMARY_SEQ_WRITE,
    SUMMARY_RAND_READ,
    SUMMARY_RAND_WRITE,
    SUMMARY_N_KINDS
};

/* When writes become durable: never by a flush, all with one flush behind them, each by itself, or some at a
 * time. */
enum summary_sync { SUMMARY_SYNC_NONE, SUMMARY_SYNC_END, SUMMARY_SYNC_EACH, SUMMARY_SYNC_EVERY };

struct summary_sizes {
    uint64_t n, p50, p99;
    struct bins_mode modes[SUMMARY_MODES];
    size_t n_modes;
};

struct summary {
    double seconds, paused_s; /* paused_s: of these the program had nothing recorded */
    uint64_t n_requests, n_lost, n_unjudged, n_strided[PROFILE_N_DIRECTIONS];

    bool is_enough;                    /* for the pattern */
    double share[SUMMARY_N_KINDS];     /* of the requests judged; strided ones are random */
    double margin;                     /* of a share at most, half of an interval of 95 % */
    unsigned percent[SUMMARY_N_KINDS]; /* whole, 100 together; kinds below SUMMARY_LEAST_SHARE are left out */

    struct summary_sizes sizes[PROFILE_N_DIRECTIONS];
    uint64_t alignment_bytes;      /* that 99 % of the requests have */
    double depth_mean;             /* over the time in which anything was in flight; 0: unknown */
    uint64_t depth_p50, depth_max; /* 256 stands for more, too */
    double direct_share, async_share;
    bool uses_rings;    /* most of the asynchronous requests go through io_uring */
    uint64_t n_threads; /* at least */

    enum summary_sync sync;
    uint64_t between_p50; /* writes from flush to flush; 0: no flush */
    double between_mean;  /* the same */
    double flushed_share; /* of the writes, by a flush or by themselves */

    double footprint_bytes;
    double working_set_bytes;    /* of a cache that would serve nine of ten uses that are not the first; 0:
                                    unknown */
    double reused_share;         /* uses of blocks that are not the first */
    struct zipf skew;            /* of the blocks' uses */
    double mean_bps, busy_share; /* over the time without pauses; the first NaN: the source tells no times */
    double spent_s[PROFILE_N_DIRECTIONS], flush_s; /* in calls that wait, of all threads together */
};

/* A store that nobody changes any more, or a copy. */
void summary_make(struct summary *summary, const struct store *store);

/* The pattern of these counts in whole per cent. False where there are none. */
bool summary_percent(const double share[SUMMARY_N_KINDS], unsigned ret_percent[SUMMARY_N_KINDS]);
