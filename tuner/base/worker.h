/* tuner/base/worker: runs blocking work aside, so that Ctrl-C is answered while a system call sits in
 * uninterruptible sleep. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Calls work(context) in a thread of its own with signals blocked and waits. When a signal comes the work is
 * expected to notice interrupt_signal by itself; if it has not ended within WORKER_GRACE_MS, *ret_abandoned
 * is set and -EINTR returned: the thread still runs, and everything it uses must stay untouched until the
 * process exits. Otherwise the result of work. */
#define WORKER_GRACE_MS 600

int worker_call(int (*work)(void *context), void *context, bool *ret_abandoned, struct err *err);

/* The same with an end: at end_ns of the monotonic clock interrupt_signal becomes INTERRUPT_LATE, as if a
 * signal had come, and the result is -ETIME with or without the thread. UINT64_MAX: no end. */
int worker_call_until(uint64_t end_ns, int (*work)(void *context), void *context, bool *ret_abandoned,
                      struct err *err);
