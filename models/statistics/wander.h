/* models/statistics/wander: what all settings have in common at a time.
 *
 * On a shared host or a disk with a cache, rates rise and fall for seconds whatever the setting. A run's
 * value, on a log scale, is taken to be the location of its group, plus what all have in common at its time,
 * plus noise of its own. What is common is an Ornstein-Uhlenbeck process (Uhlenbeck and Ornstein 1930): it
 * forgets by exp(-t / tau). Its variance and tau are those by which the other runs predict a left-out one
 * best; a Kalman filter from each end (Fraser and Potter 1969) needs time in proportion to the runs. Groups
 * and common part are found in turns (backfitting, Buja, Hastie and Tibshirani 1989). */
#pragma once

#include <stddef.h>

struct wander_run {
    size_t group;
    double seconds; /* when; <= 0: unknown, it has nothing in common with others */
    double value;
};

struct wander {
    double variance; /* of what is common; 0: nothing shows that there is any */
    double tau_seconds;
    double noise_variance; /* of a run, beside that */
};

/* runs ascend in time; their groups are < n_groups. Groups of one run tell nothing of it. 0, -ENOMEM. */
int wander_fit(const struct wander_run *runs, size_t n, size_t n_groups, struct wander *ret_wander);

/* Variance of the mean of what is common at these times: what a mean over them may lie off that over a long
 * time. Times <= 0 are left out; 0 where there are none, or nothing is common. */
double wander_mean_variance(const struct wander *wander, const double *seconds, size_t n);

/* By run, what the other runs say that is common at its time, 0 where there is nothing; and the mean over the
 * runs of the variance that is left of it. 0, -ENOMEM. */
int wander_common(const struct wander *wander, const struct wander_run *runs, size_t n, size_t n_groups,
                  double *ret_common, double *ret_variance);
