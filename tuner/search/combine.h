/* tuner/search/combine: from what several clients measured at the same time to one result, and clocks of
 * several machines. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/histogram.h"
#include "bench/run/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run may begin or close so much later at one client, as a share of its length: others measured without
 * that client's load for that long. */
#define COMBINE_LATE_SHARE 0.05

/* What a client did in a run; times are those of its own clock until combine_align. */
struct client_report {
    int32_t code; /* 0 or a negative errno, with words */
    char text[ERR_TEXT_SIZE];
    struct measure_result result;
    struct histogram latency;
    uint64_t run_warnings, target_warnings;
};

/* How far another clock is ahead of ours. A message there and back takes some time, and nothing tells which
 * part of it is the way there: half of the least time is the error (Cristian 1989). Zeroed: not known. */
struct clock_offset {
    int64_t ahead_ns;
    uint64_t error_ns, n;
};

/* The other clock said there_ns between our sent_ns and back_ns. */
void clock_offset_add(struct clock_offset *offset, uint64_t sent_ns, uint64_t there_ns, uint64_t back_ns);

/* Turns the times of a report into those of our clock. */
void combine_align(struct client_report *report, const struct clock_offset *offset);

/* Who spoilt the run of n clients, all of which succeeded: the one that began after `latest_ns` by more than
 * the share, or whose window was open when another had stopped. n: nobody. *ret_late_ns: by how much. */
size_t combine_find_late(const struct client_report *reports, size_t n, uint64_t latest_ns,
                         uint64_t *ret_late_ns);

/* The result of all. In a common window rates add up; where everything counts until a flush is over, all
 * bytes are divided by the time until the last client has ended. start_ns: when all began. Of other figures
 * the worst stands, of depths the mean; the machine's facts stay those of the first. */
void combine_reports(const struct client_report *reports, size_t n, uint64_t start_ns,
                     struct measure_result *ret, struct histogram *latency);

/* What the length of a run is to be multiplied with, because a client made too few requests in it, or came to
 * the end of its bytes; 1: it is right. */
double combine_length_factor(const struct client_report *reports, size_t n);

/* (sum of rates)^2 / (n x sum of squares): 1 where all are equal, 1/n where one has all (Jain 1984). NaN
 * where all are 0. */
double combine_jain(const double *rates_bps, size_t n);
