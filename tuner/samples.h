/* tuner/samples: what was measured of every point, replay by replay, and the row of figures made from it
 * (interfaces, section 5). */
#ifndef FSTUNE_TUNER_SAMPLES_H
#define FSTUNE_TUNER_SAMPLES_H

#include "bench/histogram.h"
#include "bench/measure.h"
#include "models/student.h"
#include "tuner/sketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be wrong with a run; bits of a mask. */
enum caution {
    CAUTION_WARMUP_LIMIT = 1,    /* it did not become stable before the warm-up's limit */
    CAUTION_DEPTH = 2,           /* achieved depth below 80 % of the one asked for */
    CAUTION_SELF_CHECK = 4,      /* mean latency x IOPS does not match the achieved depth */
    CAUTION_NOT_COLD = 8,        /* pages of the file stayed in the cache */
    CAUTION_UNVERIFIED = 16,     /* cold, but the kernel does not tell */
    CAUTION_NOT_SETTLED = 32,    /* the device was still busy 2 s after the run */
    CAUTION_PVEC_CONTIGUOUS = 64 /* requests of one call lie side by side, also in a random pattern */
};

struct caution_row {
    enum caution bit;
    const char *code, *text;
};

extern const struct caution_row caution_table[];
extern const size_t caution_n;

struct sample {
    double throughput_bps, iops;
    double latency_mean_ns, latency_p99_ns; /* NaN when the run has too few requests for it */
    double achieved_depth;
    double seconds, warmup_seconds;
    uint64_t bytes;
    enum measure_warmup warmup;
    bool sampled;
    bool fresh; /* made after the choice */
    unsigned cautions;
    struct sketch latency_sketch;
};

struct record {
    struct point point;
    struct sample *samples;
    size_t n, capacity;
    struct histogram *latency[2]; /* [fresh]; NULL while empty */
    int failed;                   /* 0, or the negative errno of a failed run: the point is out */
};

/* Makes a sample of a run. */
struct sample sample_of(const struct measure_plan *plan, const struct measure_result *result,
                        const struct histogram *latency, bool cold);

/* 0 or -ENOMEM. latency is merged into the record's; its sketch is made here. */
int record_add(struct record *record, const struct sample *sample, const struct histogram *latency);
void record_done(struct record *record);

/* Fresh replays become ordinary ones: a new choice was made with them. */
void record_age(struct record *record);

size_t record_count(const struct record *record, bool fresh);

/* Moments of the logarithms of throughput over all, or only fresh, replays. */
struct moments record_log_moments(const struct record *record, bool fresh);

/* Figures of a point. Values that the sample does not support are NaN. */
struct latency_row {
    double mean, ci_low, ci_high, p50, p99, p999, max;
    bool sampled;
    bool ci_corrected; /* ci_low and ci_high allow for skewness (models/skew), else they are Student's */
    struct interval p50_ci, p99_ci, p999_ci; /* of order statistics */
};

struct row {
    struct point point;
    double mean_bps, ci_low_bps, ci_high_bps, std_bps;
    double iops;
    size_t replays;
    double achieved_depth;
    struct latency_row latency_ns;
    unsigned cautions;
    bool ci_corrected; /* as in latency_row, of throughput */
};

/* Row over the fresh replays only, or over all. 0, -ENODATA when there are none, -ENOMEM. */
int row_of(const struct record *record, bool fresh, double confidence, struct row *ret_row);

#endif
