/* bench/spawn: other programs, run beside a measurement without ever being in its way. */
#ifndef FSTUNE_BENCH_SPAWN_H
#define FSTUNE_BENCH_SPAWN_H

#include "bench/clock.h"
#include "bench/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts argv[0] (looked for in PATH; NULL ends argv) as the leader of a process group of its own, so that it
 * can be killed with its children. It has none of our descriptors but in_fd as its input (-1: nothing) and
 * out_fd and err_fd as its output (-1: thrown away), and signals that fstune ignores or blocks work as usual
 * in it. 0 or a negative errno; -ENOENT: there is no such program. */
int spawn_start(const char *const argv[], char *const environment[], int in_fd, int out_fd, int err_fd,
                pid_t *ret_pid);

/* What a program prints on stdout: at most size - 1 bytes, then a zero. *ret_status is what waitpid says.
 * 0; -ENOENT: no such program; -ETIMEDOUT or -EINTR (`interrupted`, may be NULL, became non-zero) after its
 * group was killed; -EFBIG: it printed more than fits. A process that the kernel does not let die is left
 * behind rather than waited for. */
int spawn_capture(const char *const argv[], const struct clock *clock, uint64_t timeout_ns,
                  const atomic_int *interrupted, char *buffer, size_t size, int *ret_status, struct err *err);

#endif
