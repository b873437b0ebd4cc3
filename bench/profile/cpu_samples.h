/* bench/profile/cpu_samples: where a program and its children spend the processor's time, by samples of the
 * kernel's clock (perf_event_open), which change nothing in them.
 *
 * Samples are counted by place at once, in tables of fixed size: a place is an offset in a program's file or
 * in that of a library, and the place that called it. Callers are found by frame pointers, and are as many as
 * the program was compiled to show, at most CPU_SAMPLES_CALLERS of each sample. What finds no place is
 * counted together. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CPU_SAMPLES_CALLERS 31

struct cpu_samples;

/* Of all programs that this process starts from now on, one sample each interval_ns of the processor's time
 * outside the kernel. 0; -EACCES where this user may not, or a negative errno. */
int cpu_samples_open(struct cpu_samples **ret_samples, uint64_t interval_ns, struct err *err);

/* Counts what has come. The memory between holds about a second's samples of each processor. */
void cpu_samples_poll(struct cpu_samples *samples);

/* While paused, samples that come are passed over. */
void cpu_samples_pause(struct cpu_samples *samples, bool is_paused);

struct cpu_place {
    const char *path; /* NULL: of all that found no place */
    uint64_t offset_bytes;
    uint64_t n;      /* samples here that were not told before; 0: it is told as a caller alone */
    uint32_t number; /* not 0: the first time that it is told as a caller of others */
    uint32_t caller; /* number of the place that called it; 0: not known */
};

/* Each place that has something to tell, once. */
void cpu_samples_tell(struct cpu_samples *samples, void (*take)(void *data, const struct cpu_place *place),
                      void *data);
/* Callers are told anew: who heard of them is gone. */
void cpu_samples_tell_anew(struct cpu_samples *samples);
/* The same, and what was counted and not told is forgotten. */
void cpu_samples_forget(struct cpu_samples *samples);
uint64_t cpu_samples_lost(const struct cpu_samples *samples);
void cpu_samples_close(struct cpu_samples *samples);
