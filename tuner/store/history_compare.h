/* tuner/store/history_compare: what changed between two nights, point by point.
 *
 * Ratios of means of log replays with Welch's interval (models/statistics/student). All points are asked at
 * once, so each interval is wide enough that all of them together hold at the confidence (Bonferroni).
 * Replays of one run share what that night was like: a change says that the nights differ, not why. */
#pragma once

#include "models/statistics/student.h"
#include "tuner/store/history.h"

#define HISTORY_COMPARE_CONFIDENCE 0.95

struct history_ratio {
    struct point point; /* of the first run */
    char conditions[HISTORY_CONDITIONS_SIZE];
    size_t n[2];            /* replays that were compared */
    double mean_bps[2];     /* geometric means */
    double ratio;           /* second by first; NaN without replays in both */
    struct interval bounds; /* of it; NaN with less than 2 replays in one of them */
    bool changed;           /* 1 lies outside */
};

struct history_comparison {
    struct history_ratio *points; /* those of both runs, tested ones with the largest change first */
    size_t n, n_tested, n_changed;
    size_t n_only[2];            /* points of one run alone */
    bool has_answers;            /* both have a point that is their answer: */
    struct history_ratio answer; /* each with its own point; confirming replays where both have 2 */
    double seconds[2];           /* mean length of the replays; ratios of unlike lengths mislead */
};

/* 0 or -ENOMEM; the result is released by history_compare_done. infos: of the runs; replays: theirs. */
int history_compare(const struct history_info infos[2], const struct history_replay *const replays[2],
                    const size_t n[2], struct history_comparison *ret_comparison);
void history_compare_done(struct history_comparison *comparison);
