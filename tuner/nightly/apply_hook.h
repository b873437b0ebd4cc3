/* tuner/nightly/apply_hook: a command of the configuration, run by /bin/sh in surroundings that are the same
 * every night: a fixed PATH, LANG=C, HOME=/ and the facts given; no input; a process group of its own. */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define APPLY_HOOK_MAX_FACTS 16

struct apply_hook {
    const char *what;         /* "check", for messages */
    const char *command;      /* "": nothing is run, and that is a success */
    const char *file;         /* told as FSTUNE_SNIPPET; NULL: none */
    const char *const *facts; /* "FSTUNE_TARGET=vm1", at most APPLY_HOOK_MAX_FACTS; NULL ends them */
    uint64_t timeout_ns;
    const atomic_int *interrupted; /* may be NULL */
};

/* Waits until the command has ended; what it leaves running goes on. 0: it exited with 0. -EREMOTEIO: another
 * code or a signal; the text has it, and the last line that it printed. -ETIMEDOUT, -EINTR: its group was
 * killed. Other negative errno: it could not be started. */
int apply_hook_run(const struct apply_hook *hook, struct err *err);
