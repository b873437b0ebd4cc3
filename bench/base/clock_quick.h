/* bench/base/clock_quick: the monotonic clock for who asks for it very often, a third as expensive.
 *
 * In between two looks at the clock, at most a millisecond apart in each thread, the processor's own counter
 * is read, which some machines do not have, or not at the same rate everywhere: clock_quick_start says
 * whether this one may be trusted, as the kernel does. Differences from the clock are some ten nanoseconds;
 * two threads may differ by as much. In one thread the time never goes back. */
#pragma once

#include <stdint.h>

/* Asks the kernel, by system calls of its own. Before it, or where the counter is of no use, clock_quick_ns
 * is the clock itself. */
void clock_quick_start(void);

uint64_t clock_quick_ns(void);
