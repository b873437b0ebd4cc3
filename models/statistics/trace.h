/* models/statistics/trace: the shape of throughput over time, and which part of it can be called sustained.
 *
 * Input is a series of rates over windows of equal length (any positive unit; an idle window is 0). Single
 * windows far off are discarded, then repeating shapes and jumps between two levels are looked for, then the
 * strongest change of any other kind - step, ramp, fading excess, slope, slow wave - by likelihood under
 * AR(1) noise (generalised least squares over a grid of correlations, after Prais and Winsten 1954), so that
 * a noisy flat series stays flat. What lies before a change is cut off, and the rest is searched again. Pure:
 * no state kept, no printing.
 *
 * "Steady" means: a reader may take `mean` as the sustained rate, as far as this trace can tell. It cannot
 * tell a change that drowns in the noise: with n windows of coefficient of variation cv and lag-1 correlation
 * r, two halves that differ by less than about 10 cv sqrt((1 + r) / (1 - r) / n) may pass for one level, and
 * below 150 windows a random walk may pass for correlated noise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TRACE_MIN_WINDOWS 20   /* fewer: TRACE_SHORT */
#define TRACE_MAX_WINDOWS 4096 /* more are averaged in pairs first */
#define TRACE_DRIFT_SHARE 0.02 /* a smaller change is none, however significant */

enum trace_shape {
    TRACE_SHORT,     /* too few windows to tell: neither steady nor not */
    TRACE_FLAT,      /* steady from the first window on */
    TRACE_RAMP,      /* a warm-up (up or down), then steady */
    TRACE_SPIKES,    /* steady, with single windows far off */
    TRACE_CLIFF,     /* one lasting fall to a level that then holds: burst credit or a write cache used up */
    TRACE_THROTTLED, /* fell to a level that is pinned: scatter far below that before, or falls and recoveries
                        of a thermal kind */
    TRACE_PERIODIC,  /* saw-tooth or other repeating shape; steady in the mean when at least five periods were
                        seen */
    TRACE_TWO_LEVELS, /* jumps between two levels at irregular times; never steady, since nothing runs at the
                         mean */
    TRACE_DECLINE,    /* falls (or rises) on and on */
    TRACE_UNSTEADY,   /* never steady, no other name fits (a random walk, growing scatter ...) */
    TRACE_N_SHAPES
};

extern const char
    *const trace_shape_names[TRACE_N_SHAPES]; /* "flat", "ramp", "two_levels" ...: stable, for JSON */

struct trace_verdict {
    enum trace_shape shape;
    bool steady;        /* windows [start, end) hold a rate that the later ones do not contradict */
    size_t start, end;  /* the last steady part; all windows after the warm-up where there is none */
    double mean;        /* rate over [start, end) */
    double drift_share; /* fitted change over [start, end), relative to mean; negative: falling */
    bool left;     /* a steady part was seen and then left for good, with too few windows after to call those
                      steady */
    size_t change; /* CLIFF, THROTTLED, left: first window of the new level; else 0 */
    double before; /* rate in the steady part before `change`; NaN where there is none */
    double low, high;      /* TWO_LEVELS and PERIODIC: means of the lower and upper windows; else NaN */
    double high_share;     /* TWO_LEVELS: share of windows in the upper level; else NaN */
    double period_windows; /* PERIODIC; else NaN */
    size_t n_spikes;       /* windows that stand far off */
};

/* 0, -EINVAL for n = 0 or a rate that is negative or not finite, -ENOMEM. */
int trace_classify(const double *rates, size_t n, struct trace_verdict *ret_verdict);
