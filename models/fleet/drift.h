/* models/fleet/drift: which groups of hosts changed, where many groups are looked at.
 *
 * Each host of a group gives one logarithm of a ratio (after by before); their mean is judged by Student's t.
 * Of the groups that are called changed, at most the given share is so by chance on average (Benjamini and
 * Hochberg 1995). */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>

/* A group with fewer hosts is not judged. */
#define DRIFT_LEAST_HOSTS 3

struct drift {
    size_t n, n_slower; /* hosts, and those whose ratio is below 1 */
    double ratio;       /* geometric mean */
    struct interval bounds;
    double p; /* that chance gives such a mean or a farther one; NaN: not judged */
    bool changed;
};

/* All but `changed`. confidence: of the bounds. */
struct drift drift_of(const double *log_ratios, size_t n, double confidence);

/* Sets `changed` of all groups together; rate: the share of false alarms among them, 0..1. 0 or -ENOMEM. */
int drift_discover(struct drift *groups, size_t n, double rate);
