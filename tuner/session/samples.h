/* tuner/session/samples: what was measured of every point, replay by replay, and the row of figures made from
 * it (interfaces, section 5). */
#pragma once

#include "bench/base/histogram.h"
#include "bench/run/measure.h"
#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATENCY_QUANTILES_N 33

/* The latencies of one run as a few quantiles, so that hundreds of points can keep every replay (a histogram
 * takes 17 KB). */
struct latency_quantiles {
    uint64_t n; /* requests timed; 0: the rest is not set */
    uint64_t
        ns[LATENCY_QUANTILES_N]; /* ascending; from the minimum to the maximum, denser around p99 and p99.9 */
};

struct latency_quantiles latency_quantiles_of(const struct histogram *latency);

/* Fills a histogram (initialised, empty) from quantiles alone, as in a journal: each request is put at the
 * middle between two quantiles. mean_ns becomes their mean where it is above 0. */
void latency_quantiles_unfold(const struct latency_quantiles *quantiles, double mean_ns,
                              struct histogram *histogram);

/* Number of requests that took longer than ns, interpolated; of those that took just as long, half count.
 * 0..n. */
double latency_quantiles_beyond(const struct latency_quantiles *quantiles, double ns);

struct sample {
    double throughput_bps, iops;
    double latency_mean_ns, latency_p99_ns; /* NaN when the run has too few requests for it */
    double achieved_depth;
    double seconds, warmup_seconds;
    double at_seconds;      /* of the search, when it was over; 0: of an earlier command */
    double trimmed_seconds; /* of the warm-up: the initial transient; latencies hold it */
    uint64_t bytes;         /* that the figures are about */
    uint64_t moved_bytes;   /* with those of the initial transient */
    enum measure_warmup warmup;
    bool sampled;
    bool confirming;       /* made after the choice */
    bool cut;              /* shorter than planned, because it was hopeless; then its record has no other */
    double neighbour_cost; /* PCost, see tuner/session/neighbour_costs; NaN: not known */
    uint64_t warning_set;  /* a set, see tuner/session/warnings */
    struct latency_quantiles latency_quantiles;
};

struct record {
    struct point point;
    struct sample *samples;
    size_t n, capacity;
    struct histogram *latency[2]; /* [confirming]; NULL while empty */
    uint64_t warning_set;         /* of the point, found by looking at several runs */
    int failed;                   /* 0, or the negative errno of a failed run: the point is out */
    double flush_bps; /* what bounded the bytes of its runs (struct measure_plan), so that all of them are
                         equally long; 0: nothing but the rate of filling did */
};

/* The part of a run that its warm-up phase left in. Warm-up ends when batch latencies agree with each other,
 * and may miss a slow transient. What is left of it shows in the windows of the whole run
 * (models/statistics/batch_means). */
struct initial_transient {
    double seconds;    /* to leave out at the start; 0: none */
    double rate_ratio; /* of the rest, by the rate of the whole */
};

/* What to leave out of this run. Nothing where the windows do not tell: a flush inside the span, windows
 * without a completion, or too few of them. */
struct initial_transient initial_transient_of(const struct measure_result *result);

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

/* The same of the costs to neighbours, where they are known. */
struct moments record_neighbour_costs(const struct record *record, bool confirming);

/* Figures of a point. Values that the sample does not support are NaN. */
struct latency_row {
    double mean, ci_low, ci_high, p50, p99, p999, max;
    uint64_t n; /* requests that p50 and the like are of; 0: not known */
    bool sampled;
    bool ci_corrected; /* ci_low and ci_high allow for skewness (models/statistics/skew), else they are
                          Student's */
    bool ci_wanders;   /* and for a rate that wanders (models/statistics/wander) */
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
    bool ci_wanders;        /* likewise */
};

/* Row over the confirming replays only, or over all. 0, -ENODATA when there are none, -ENOMEM. */
int row_of(const struct record *record, bool confirming, double confidence, struct row *ret_row);

/* Replays below which a percentile has no interval: requests of one run share its luck, and what that costs
 * shows between runs only. */
#define PERCENTILES_LEAST_RUNS 3

/* Quantile of one run's requests; NaN where no order statistics would bound it at 95 % even if the requests
 * were independent. */
double percentiles_of_run(const struct histogram *latency, double share);

/* Fills p50, p99, p999 and their intervals from the pooled latencies of all replays, or of those after the
 * choice. What the sample does not support becomes NaN. 0 or -ENOMEM. */
int percentiles_fill(const struct record *record, bool confirming, double confidence,
                     const struct histogram *pooled, struct latency_row *row);
