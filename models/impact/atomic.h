/* models/impact/atomic: how long a program takes in a virtual machine, from how often it does what the atomic
 * tests time, and what these cost on the host and in the guest (Klemenkov 2011):
 *
 *     T_vm = T_0 + sum over i of gamma_i (t_i_guest - t_i_host)
 *
 * T_0 is its time on the host and gamma_i the count of activity i. */
#pragma once

#include "models/statistics/student.h"

#include <stddef.h>

/* A cost with its interval, in seconds. */
struct atomic_cost {
    double s;
    struct interval interval; /* NaN: not known, counts as none */
};

struct atomic_term {
    double count;
    struct atomic_cost host, guest;
};

struct atomic_prediction {
    double vm_s;
    struct interval interval; /* of vm_s: the intervals of all parts, taken as independent of one another */
    double explained_s;       /* of the time on the host, by the terms */
};

/* Counts and the time on the host >= 0. A cost may be below 0: a difference of two timings that noise hides
 * is taken as it was measured, with its interval. 0; -EINVAL where a count is negative or anything not
 * finite. */
int atomic_predict(struct atomic_cost host, const struct atomic_term *terms, size_t n,
                   struct atomic_prediction *ret);
