/* bench/atoms/intercept: holds up an activity from outside: the kernel reports each to us before it goes on.
 *
 * The activities run on a thread of their own, on the same processor; the calling thread answers the reports
 * after the shared delay. A filter of system calls stays with its thread, so the thread is a new one each
 * time. */
#pragma once

#include "bench/atoms/atoms.h"

struct interceptor {
    /* On the thread of the activities: from now on they are reported to *ret_fd. 0; -EOPNOTSUPP: not here. */
    int (*begin)(const struct atom *atom, struct atom_shared *shared, int *ret_fd);
    /* Takes one report, does the delay and lets the activity go on. 0 or a negative errno. */
    int (*answer)(int fd, struct atom_shared *shared);
};

/* System calls (seccomp) and page faults (userfaultfd). */
extern const struct interceptor intercept_calls, intercept_faults;

/* Runs work(state, n), whose activities are held up as the atom says; *ret_ns: how long it took. 0 or a
 * negative errno. */
int intercept_run(const struct atom *atom, int (*work)(void *state, uint64_t n), void *state, uint64_t n,
                  struct atom_shared *shared, uint64_t *ret_ns);

/* Has the faults of these pages reported if faults are: of new memory those of absent pages, of a file those
 * of pages that the kernel has and the process does not. 0 or a negative errno. */
int intercept_faults_of(const struct atom_shared *shared, void *pages, size_t bytes, bool is_file);
