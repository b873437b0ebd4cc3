/* bench/profile/launch: a program that runs as it would without us: with our terminal, descriptors and group.
 */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct launch {
    const char *path;        /* of the program */
    const char *const *argv; /* with its name first; NULL last */
    const char *library;     /* loaded before all others; NULL: none */
    const char *variable;    /* set to `value` for it */
    const char *value;
    bool output_to_stderr;    /* what it prints goes to standard error */
    void (*look)(void *data); /* called every few milliseconds while it runs, and once when it has ended */
    void *data;
    int poll_ms;                   /* how often; 0: some 20 ms */
    uint64_t duration_ns;          /* then the recording ends, not the program; 0: never */
    uint32_t *is_over;             /* becomes 1 when the recording has ended */
    const atomic_int *interrupted; /* the signal that came to us, passed on when it is SIGTERM or SIGHUP */
    bool outlives_us;              /* else it is killed when we end, however that is */
    const bool *is_left;           /* once this is true nobody waits for it any more; may be NULL */
};

/* What the system counted of the program and of its children that it waited for. */
struct launch_end {
    bool is_left;                       /* it goes on; the rest is not known */
    int status;                         /* as waitpid has it */
    bool has_transfers;                 /* the rest is known */
    uint64_t read_bytes, written_bytes; /* by read and write in all forms, of whatever they are */
};

/* Waits until it ends, or is left. 0, or a negative errno where it could not be started. */
int launch_run(const struct launch *launch, struct launch_end *ret_end, struct err *err);
