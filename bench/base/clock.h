/* bench/base/clock: the only source of time.
 *
 * Everything that measures takes a `const struct clock *`: the machine's monotonic clock, or a virtual one
 * that a simulated surface moves on. Times are nanoseconds since an arbitrary start. */
#pragma once

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000ULL

struct clock;

struct clock_ops {
    uint64_t (*now_ns)(const struct clock *clock);
    /* Returns when now_ns() >= deadline_ns, or earlier on a signal. */
    void (*sleep_until_ns)(const struct clock *clock, uint64_t deadline_ns);
};

struct clock {
    const struct clock_ops *ops;
    uint64_t *virtual_ns; /* the virtual clock's hand; NULL for the real clock */
};

extern const struct clock clock_monotonic;

/* A clock whose time is *hand_ns, which the caller owns and moves; sleeping moves it to the deadline. */
struct clock clock_virtual(uint64_t *hand_ns);

static inline uint64_t clock_now_ns(const struct clock *clock)
{
    return clock->ops->now_ns(clock);
}

static inline void clock_sleep_until_ns(const struct clock *clock, uint64_t deadline_ns)
{
    clock->ops->sleep_until_ns(clock, deadline_ns);
}

/* From now on the monotonic clock to that time; 0 when it is past. For system calls that wait. */
struct timespec clock_time_left(uint64_t until_ns);

/* Time on a processor that the calling thread has had. */
uint64_t clock_thread_ns(void);

/* Nanoseconds that the machine has been suspended since boot (CLOCK_BOOTTIME - CLOCK_MONOTONIC). */
uint64_t clock_suspended_ns(void);

/* Wall-clock time since 1970, to be compared with the monotonic clock: somebody may set it. */
uint64_t clock_realtime_ns(void);

/* Wall-clock time of day as "YYYY-MM-DDTHH:MM:SSZ". */
void clock_format_utc(char buffer[static 24]);
