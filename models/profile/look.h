/* models/profile/look: what a store says while the program runs: its counts at a moment, and the rates
 * between two moments. Nobody is stopped for it, so counts of one look may differ by requests that came
 * meanwhile. */
#pragma once

#include "models/profile/store.h"
#include "models/profile/summary.h"

#include <stdint.h>

struct look {
    uint64_t at_ns;                          /* less the pauses: a clock that stands still in them */
    uint64_t n[SUMMARY_N_KINDS], n_unjudged; /* strided requests are random */
    uint64_t bytes[PROFILE_N_DIRECTIONS];
    uint64_t n_flushes, n_direct, n_lost;
    double busy_ns, area_ns; /* time in which anything was in flight, and the same times the depth */
    struct bins sizes[PROFILE_N_DIRECTIONS];
};

/* Rates are for each second; shares and the depth are NaN where nothing came. */
struct look_rates {
    double seconds;
    double requests[SUMMARY_N_KINDS], all_requests; /* all: those that could not be judged, too */
    double bps[PROFILE_N_DIRECTIONS], flushes;
    double share[SUMMARY_N_KINDS], direct_share;
    double depth;                        /* while anything was in flight */
    uint64_t size[PROFILE_N_DIRECTIONS]; /* the usual one; 0: none */
};

void look_take(struct look *look, const struct store *store, uint64_t now_ns);

/* A look before the first request: rates since then are the mean of the recording. */
void look_start(struct look *look, const struct store *store);

void look_compare(const struct look *before, const struct look *after, struct look_rates *ret);

uint64_t look_requests(const struct look *look);
