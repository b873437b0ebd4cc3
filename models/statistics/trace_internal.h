/* models/statistics/trace_internal: what the parts of models/statistics/trace hand each other. Series are
 * relative to their median (about 1), so that shares and sizes are one thing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TRACE_POINTS                                                                                         \
    100 /* a longer series is averaged to at most so many points before a change is sought                   \
         */

enum trace_change_kind {
    TRACE_CHANGE_NONE,
    TRACE_CHANGE_STEP,  /* another level from `at` on */
    TRACE_CHANGE_RAMP,  /* a straight way to the level that holds from `at` on */
    TRACE_CHANGE_DECAY, /* an exponential approach; what is left of it is below 1 % from `at` on */
    TRACE_CHANGE_SLOPE, /* level until `at` (0: never), then a straight way to the end */
    TRACE_CHANGE_WAVE   /* less than five cycles of a sine: ups and downs too slow to average out */
};

struct trace_change {
    enum trace_change_kind kind;
    size_t at;               /* point of the series; may lie beyond its end for DECAY */
    double size;             /* change that it makes over the series, in units of the values */
    double likelihood;       /* twice the gain in log likelihood over "no change" */
    double line_likelihood;  /* of a straight line through all points, which needs no search */
    double flat_correlation; /* lag-1 autocorrelation if there is no change at all */
};

/* The best single change of n points (4..TRACE_POINTS) under AR(1) noise by maximum likelihood, whether
 * significant or not. */
struct trace_change trace_change_best(const double *points, size_t n);

/* False for about 99 of 100 flat series, whose noise may have a lag-1 autocorrelation up to 0.8. */
bool trace_change_significant(const struct trace_change *change, size_t n);

/* A shape that repeats at least five times. */
struct trace_period {
    bool found;
    double windows;   /* length of a period */
    double low, high; /* means of the lower and the upper half of its phases */
};

/* 0, -ENOMEM. ret_points (room for n) are the windows; where a period is found, one point for each whole
 * period but the first, about the border between it and the one before. */
int trace_period_find(const double *values, size_t n, struct trace_period *ret_period, double *ret_points,
                      size_t *ret_n_points);

/* Two clusters of windows and how the series moves between them. */
struct trace_split {
    bool two;          /* the clusters are far apart beside their own scatter */
    double low, high;  /* their means */
    double high_share; /* of the windows */
    size_t n_switches;
    bool starts_high;
    bool stays;      /* the last level has been held so long that it does not belong to the jumps before */
    size_t n_cycles; /* from one rise to the next */
    double cycle_windows; /* their mean length; 0 where there is none */
    double cycle_cv;      /* their coefficient of variation */
};

/* 0, -ENOMEM. */
int trace_split_levels(const double *values, size_t n, struct trace_split *ret_split);

/* Replaces windows far off their neighbours by the median around them; the number of them. 0 when they are
 * too many to be exceptions (values then unchanged). scratch has n values. */
size_t trace_remove_spikes(double *values, size_t n, double *scratch);

/* Standard deviation of what is random from one window to the next: from the median of differences, so that
 * single jumps do not count. n >= 2. scratch has n values. */
double trace_scatter(const double *values, size_t n, double *scratch);
