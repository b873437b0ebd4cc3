/* bench/observe/neighbour: one run of the reference program, alone or beside a command. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/disturber.h"
#include "bench/observe/observer.h"
#include "bench/observe/pressure.h"
#include "bench/observe/reference.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct neighbour {
    struct reference *reference;
    struct observer *observer;
    const atomic_int *interrupted; /* may be NULL */
    int interrupt_fd;              /* becomes readable when that changes; -1: none */
    uint64_t settle_ns;            /* that the command runs before the reference starts */
    uint64_t timeout_ns;           /* of a run of the reference; 0: none */
};

struct neighbour_run {
    double *times_s;            /* [n_points] of the reference, the first is 0; owned by the caller */
    struct disturber_work work; /* of the command while the reference ran */
    double seconds;
    struct pressure pressure; /* seconds of waiting meanwhile; NaN where it is not known */
};

/* Writes back what is dirty in the reference's file system, starts the command (NULL: the reference runs
 * alone), lets it run for settle_ns, runs the reference, and ends the command. 0; -EOVERFLOW: the observation
 * lost events, repeat the run; -EINTR; -ETIMEDOUT; -ECANCELED: the command failed; other negative errno. */
int neighbour_run(struct neighbour *neighbour, const char *const *command, struct neighbour_run *run,
                  struct err *err);

/* Whether the points were passed one after the other. -EOVERFLOW: one was not seen; the run says nothing
 * then. -ESTALE: the observer looked so late that two have the same time, the one at which it looked. A
 * command's own files may be opened together. */
int neighbour_check_points(const uint64_t *seen_ns, size_t n, bool may_be_equal, struct err *err);

/* The times that count of our own reference, which also notes them itself: what was seen, or, where the
 * observer looked too late, what the reference noted. As neighbour_check_points, but no -ESTALE. */
int neighbour_choose_times(const uint64_t *seen_ns, const uint64_t *noted_ns, size_t n,
                           const uint64_t **ret_ns, struct err *err);
