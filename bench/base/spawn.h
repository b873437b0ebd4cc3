/* bench/base/spawn: other programs, run beside a measurement without ever being in its way. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In the place of a descriptor. */
#define SPAWN_NOTHING   (-1) /* /dev/null */
#define SPAWN_HEARD     (-2) /* what is printed there goes to `hear` */
#define SPAWN_AS_OUTPUT (-3) /* stderr: where stdout goes */

struct spawn {
    const char *const *argv;   /* the program, looked for in PATH, first; NULL last */
    char *const *environment;  /* NULL: ours */
    int in_fd, out_fd, err_fd; /* a descriptor or SPAWN_... */
    int (*hear)(void *context, int number, const char *text, size_t n); /* negative: it is killed */
    void *context;
    const struct clock *clock;
    uint64_t timeout_ns;           /* 0: no limit */
    const atomic_int *interrupted; /* may be NULL */
};

/* Runs a program as the leader of a process group of its own, and waits for its end, not for that of what it
 * leaves running. It has none of our descriptors but the three, and signals that fstune ignores or blocks
 * work as usual in it. 0 and what waitpid says; -ENOENT: there is no such program; -ETIMEDOUT, -EINTR or what
 * `hear` returned: its group was killed; -ECHILD: how it ended is not known. A process that the kernel does
 * not let die is left behind rather than waited for. */
int spawn_run(const struct spawn *spawn, int *ret_status);

/* 1: the process has ended; 0: it has not; -ECHILD: how it ended is not known. */
int spawn_reap(pid_t pid, int *ret_status);
/* The same, waiting for so long at most. */
int spawn_reap_within(pid_t pid, uint64_t wait_ns, int *ret_status);

/* What a program prints on stdout: at most size - 1 bytes, then a zero. As spawn_run; -EFBIG: it printed more
 * than fits. */
int spawn_capture(const char *const argv[], const struct clock *clock, uint64_t timeout_ns,
                  const atomic_int *interrupted, char *buffer, size_t size, int *ret_status, struct err *err);
