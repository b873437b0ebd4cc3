/* bench/collector/sampler: where the program spends the processor's time, by SIGPROF, for a recording program
 * that may not ask the kernel for samples (sink_sample_ns).
 *
 * Each thread has a timer on its own time outside the kernel. So the signal comes while the thread computes,
 * never while it is in a system call, and no call ends with EINTR by it. Timers end with exec. As soon as the
 * program says what SIGPROF is to do, it is the program's, and sampling ends in this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In the constructor. Nothing happens where the program was started with another SIGPROF than the default. */
void sampler_start(void);
/* In the child, which has none of its parent's timers. */
void sampler_after_fork(void);
/* No timer, no signal and no handler of ours is left afterwards. */
void sampler_leave(void);

bool sampler_is_on(void);

/* A thread has begun, or lets SIGPROF come again. */
void sampler_thread_begin(void);
/* It is going to hold SIGPROF back: none of ours may be what it finds later. */
void sampler_thread_hold(void);

/* Whether this is what sigaction tells of our handler. */
bool sampler_is_ours(const void *handler);
