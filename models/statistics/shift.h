/* models/statistics/shift: did everything that is measured change at one moment, or drift?
 *
 * Values of several groups come interleaved in order of time; each group has a level of its own (fixed
 * effects). Found is the moment that explains most of the scatter inside the groups, or a common line over
 * time where that explains more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* |t| that a change must reach. The moment is searched for, and groups scatter unequally: the bar is far
 * above that of a test whose moment is known (5 stands for about 1 in 1,000 false alarms over some hundred
 * normal values, see tests/models/statistics/test_shift.c). */
#define SHIFT_T 5.0

struct shift {
    bool shifted; /* all groups changed before values[change] */
    size_t change;
    double difference; /* after - before, in the values' unit */
    bool drifts;       /* or: they drift, by `difference` from the first to the last value */
    double t;          /* of the difference */
};

/* group[i]: number of the group of values[i], any numbers. 0; -EINVAL for a value that is not finite;
 * -ENOMEM. */
int shift_of(const size_t *group, const double *values, size_t n, struct shift *ret_shift);
