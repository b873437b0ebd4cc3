/* tuner/session/samples: what was measured of every point, replay by replay, and the row of figures made from
 * it (interfaces, section 5). */
#pragma once

#include "bench/base/histogram.h"
#include "bench/run/measure.h"
#include "models/statistics/student.h"
#include "tuner/session/latency_quantiles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
    double throughput_bps, iops;
    double latency_mean_ns, latency_p99_ns; /* NaN when the run has too few requests for it */
    double achieved_depth;
    double seconds, warmup_seconds;
    double trimmed_seconds; /* of the warm-up: what tuner/session/initial_transient left out; latencies hold
                               it */
    uint64_t bytes;         /* that the figures are about */
    uint64_t moved_bytes;   /* with what tuner/session/initial_transient left out */
    enum measure_warmup warmup;
    bool sampled;
    bool confirming;      /* made after the choice */
    bool cut;             /* shorter than planned, because it was hopeless; then its record has no other */
    uint64_t warning_set; /* a set, see tuner/session/warnings */
    struct latency_quantiles latency_quantiles;
};

struct record {
    struct point point;
    struct sample *samples;
    size_t n, capacity;
    struct histogram *latency[2]; /* [confirming]; NULL while empty */
    uint64_t warning_set;         /* of the point, found by looking at several runs */
    int failed;                   /* 0, or the negative errno of a failed run: the point is out */
};

/* Makes a sample of a run and of the warnings about it. */
struct sample sample_of(const struct measure_result *result, const struct histogram *latency,
                        uint64_t warning_set);

/* Adds a replay, with its quantiles; latency is merged into the record's. 0 or -ENOMEM. */
int record_add(struct record *record, const struct sample *sample, const struct histogram *latency);
void record_done(struct record *record);

/* Forgets the replays; what was found out about the point stays. */
void record_discard(struct record *record);

/* Makes replays after the choice ordinary ones, because a new choice was made with them. */
void record_age(struct record *record);

size_t record_count(const struct record *record, bool confirming);

/* Warnings of the point, and those that more than half of its replays carry (of all, or of those after the
 * choice). What only a minority has is an accident and does not belong to the point. */
uint64_t record_warnings(const struct record *record, bool confirming);

/* Moments of the logarithms of throughput over all replays, or only those after the choice. */
struct moments record_log_moments(const struct record *record, bool confirming);

/* Figures of a point. Values that the sample does not support are NaN. */
struct latency_row {
    double mean, ci_low, ci_high, p50, p99, p999, max;
    bool sampled;
    bool ci_corrected; /* ci_low and ci_high allow for skewness (models/statistics/skew), else they are
                          Student's */
    struct interval p50_ci, p99_ci, p999_ci; /* of order statistics */
};

struct row {
    struct point point;
    double mean_bps, ci_low_bps, ci_high_bps, std_bps;
    double iops;
    size_t replays;
    double achieved_depth;
    struct latency_row latency_ns;
    uint64_t warning_set;   /* of any of the replays */
    uint64_t mostly;        /* of more than half of them */
    uint64_t disqualifying; /* those that speak against the point; set by who knows what was asked for */
    bool ci_corrected;      /* as in latency_row, of throughput */
};

/* Row over the confirming replays only, or over all. 0, -ENODATA when there are none, -ENOMEM. */
int row_of(const struct record *record, bool confirming, double confidence, struct row *ret_row);
