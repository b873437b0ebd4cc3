/* bench/base/clock_quick: the processor's counter, set right by the clock again and again. */
#include "bench/base/clock_quick.h"

#include "bench/base/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#include <math.h>
#include <x86intrin.h>

#define SOURCE      "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define LEAST_NS    1000000U /* of what the rate is taken from at first */
#define TRUST_NS    1000000U /* after which a thread looks at the clock again */
#define LOOK_TICKS  500U     /* that a look may take, or it was interrupted */
#define RATE_LOG2   32       /* the rate is a fraction of 2^32 */
#define RATE_CHANGE 0.001

/* Where a thread looked at the clock last; ns 0: nowhere. */
struct look {
    uint64_t ticks, ns;
};

static struct look first; /* of the process, from which the rate is taken */
static uint64_t rate;     /* ns of a tick; 0: not known yet */
static uint64_t trust_ticks, rate_from_ns;
static bool is_trusted;
static __thread struct look last;
static __thread uint64_t given_ns; /* what the thread was told last */

void clock_quick_start(void)
{
    char name[8] = "";
    int fd = (int)syscall(SYS_openat, AT_FDCWD, SOURCE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    is_trusted = syscall(SYS_read, fd, name, sizeof name - 1) == 4 && strcmp(name, "tsc\n") == 0;
    syscall(SYS_close, fd);
}

static void start_over(const struct look *look)
{
    __atomic_store_n(&rate, 0, __ATOMIC_RELAXED);
    rate_from_ns = 0;
    first.ticks = look->ticks;
    __atomic_store_n(&first.ns, look->ns, __ATOMIC_RELEASE);
}

/* The longer the time is from which it is taken, the better it is known: each time it has doubled. Another
 * rate than before means that the machine slept, or moved to another host: the look before is of no use. */
static void take_rate(const struct look *look)
{
    uint64_t from_ns = rate_from_ns, known = rate, since_ns = __atomic_load_n(&first.ns, __ATOMIC_ACQUIRE);
    uint64_t passed_ns = look->ns - since_ns, passed_ticks = look->ticks - first.ticks;
    if (since_ns == 0) {
        start_over(look);
        return;
    }
    if (look->ns < since_ns || passed_ns < LEAST_NS || passed_ns < 2 * from_ns || passed_ticks == 0)
        return;
    double found = (double)passed_ns / (double)passed_ticks * (double)(1ULL << RATE_LOG2);
    if (known != 0 && fabs(found - (double)known) > RATE_CHANGE * (double)known) {
        start_over(look);
        return;
    }
    rate_from_ns = passed_ns;
    __atomic_store_n(&trust_ticks, (uint64_t)((double)TRUST_NS * (double)passed_ticks / (double)passed_ns),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&rate, (uint64_t)found, __ATOMIC_RELAXED);
}

/* One thread at a time takes the rate. */
static void try_to_take_rate(const struct look *look)
{
    static bool is_busy;
    if (__atomic_test_and_set(&is_busy, __ATOMIC_ACQUIRE))
        return;
    take_rate(look);
    __atomic_clear(&is_busy, __ATOMIC_RELEASE);
}

/* A signal handler may come in between: it finds no look rather than half of one. */
static uint64_t look_at_clock(void)
{
    struct look look = {.ticks = __rdtsc()};
    look.ns = clock_now_ns(&clock_monotonic);
    if (__rdtsc() - look.ticks > LOOK_TICKS)
        return look.ns;
    try_to_take_rate(&look);
    __atomic_store_n(&last.ns, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    last.ticks = look.ticks;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&last.ns, look.ns, __ATOMIC_RELAXED);
    return look.ns;
}

static uint64_t estimate_ns(void)
{
    uint64_t ns = __atomic_load_n(&last.ns, __ATOMIC_RELAXED), passed = __rdtsc() - last.ticks;
    uint64_t known_rate = __atomic_load_n(&rate, __ATOMIC_RELAXED);
    if (ns == 0 || known_rate == 0 || passed >= __atomic_load_n(&trust_ticks, __ATOMIC_RELAXED))
        return look_at_clock();
    return ns + (passed * known_rate >> RATE_LOG2);
}

/* A new look, or a rate that is better known, may put the time a little back: callers take differences. */
uint64_t clock_quick_ns(void)
{
    if (!is_trusted)
        return clock_now_ns(&clock_monotonic);
    uint64_t ns = estimate_ns(), before_ns = given_ns;
    given_ns = ns > before_ns ? ns : before_ns;
    return given_ns;
}

#else

void clock_quick_start(void)
{
}

uint64_t clock_quick_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

#endif
