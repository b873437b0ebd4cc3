/* bench/base/clock: the machine's monotonic clock and a virtual one. */
#include "bench/base/clock.h"

#include <string.h>
#include <time.h>

static uint64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_now_ns(const struct clock *clock)
{
    (void)clock;
    return read_ns(CLOCK_MONOTONIC);
}

/* An absolute deadline, so that time lost before the call is not slept again. */
static void monotonic_sleep_until_ns(const struct clock *clock, uint64_t deadline_ns)
{
    (void)clock;
    struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / CLOCK_NS_PER_S),
        .tv_nsec = (long)(deadline_ns % CLOCK_NS_PER_S),
    };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

static uint64_t virtual_now_ns(const struct clock *clock)
{
    return *clock->virtual_ns;
}

static void virtual_sleep_until_ns(const struct clock *clock, uint64_t deadline_ns)
{
    if (*clock->virtual_ns < deadline_ns)
        *clock->virtual_ns = deadline_ns;
}

static const struct clock_ops monotonic_ops = {monotonic_now_ns, monotonic_sleep_until_ns};
static const struct clock_ops virtual_ops = {virtual_now_ns, virtual_sleep_until_ns};

const struct clock clock_monotonic = {.ops = &monotonic_ops, .virtual_ns = NULL};

struct clock clock_virtual(uint64_t *hand_ns)
{
    return (struct clock){.ops = &virtual_ops, .virtual_ns = hand_ns};
}

struct timespec clock_time_left(uint64_t until_ns)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    return (struct timespec){.tv_sec = (time_t)(left_ns / CLOCK_NS_PER_S),
                             .tv_nsec = (long)(left_ns % CLOCK_NS_PER_S)};
}

uint64_t clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_suspended_ns(void)
{
    /* Being preempted between the two readings can only make the difference too large: the smallest of a few
     * is the best. */
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t running_ns = read_ns(CLOCK_MONOTONIC);
        uint64_t gap_ns = read_ns(CLOCK_BOOTTIME) - running_ns;
        if (gap_ns < least_ns)
            least_ns = gap_ns;
    }
    return least_ns;
}

uint64_t clock_realtime_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

void clock_format_utc(char buffer[static 24])
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!gmtime_r(&now.tv_sec, &utc) || strftime(buffer, 24, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        memcpy(buffer, "0000-00-00T00:00:00Z", sizeof "0000-00-00T00:00:00Z");
}
