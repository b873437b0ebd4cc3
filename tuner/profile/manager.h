/* tuner/profile/manager: what one agent sends, into a database of events. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct manager_options {
    const char *events;         /* the database */
    const char *const *program; /* that is the agent, or leads to it; NULL: agents call */
    const char *address;        /* where they call */
    uint64_t duration_ns;       /* then the recording ends; 0: never */
    uint64_t wait_ns;           /* for an agent that does not call, or not again */
    bool is_quiet;
};

struct manager_result {
    int64_t run_id;     /* of the last recording; 0: none has begun */
    uint64_t n, n_lost; /* events of it that are kept, and that were lost */
    uint64_t n_damaged; /* times that what came had to be sent again */
    uint64_t n_cuts;
    double seconds; /* NaN: the agent did not say that it has ended */
    bool goes_on;   /* the command does */
    int status;     /* else how it ended, as waitpid has it */
};

/* Until the agent has said all, or is gone for too long. Orders are read from standard input, a line each:
 * start, stop, reset or quit. Ctrl-C is quit. 0 or a negative errno; -EPIPE: the agent is gone, and what it
 * had sent is kept. ret is filled in either case. */
int manager_run(const struct manager_options *options, struct manager_result *ret, struct err *err);
