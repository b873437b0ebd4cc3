/* bench/profile/cpu_samples: where a program and its children spend the processor's time, by samples of the
 * kernel's clock (perf_event_open), which change nothing in them.
 *
 * Samples are counted by place at once, in tables of fixed size: a place is an offset in a program's file or
 * in that of a library. What finds no place is counted together. */
#pragma once

#include "bench/base/err.h"

#include <stdint.h>

struct cpu_samples;

/* Of all programs that this process starts from now on, one sample each interval_ns of the processor's time
 * outside the kernel. 0; -EACCES where this user may not, or a negative errno. */
int cpu_samples_open(struct cpu_samples **ret_samples, uint64_t interval_ns, struct err *err);

/* Counts what has come. The memory between holds about a second's samples of each processor. */
void cpu_samples_poll(struct cpu_samples *samples);

/* Each place and its samples; path NULL: all that found no place. */
void cpu_samples_each(const struct cpu_samples *samples,
                      void (*take)(void *data, const char *path, uint64_t offset_bytes, uint64_t n),
                      void *data);
uint64_t cpu_samples_lost(const struct cpu_samples *samples);
void cpu_samples_close(struct cpu_samples *samples);
