/* System calls, exceptions, timers and computing. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"
#include "bench/base/clock.h"
#include "bench/base/rng.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLEEP_NS    50000ULL
#define OPERATIONS  1000U       /* of one activity of computing */
#define CHASE_BYTES (16U << 20) /* fits into no second-level cache */
#define CHASE_LINE  64U         /* bytes of a cache line */
#define CHASE_LOADS 100U        /* of one activity */
#define CHASE_N     (CHASE_BYTES / CHASE_LINE)

static int open_nothing(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    *ret_state = shared;
    return 0;
}

static void close_nothing(void *state)
{
    (void)state;
}

static int run_syscalls(void *state, uint64_t n)
{
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        (void)syscall(SYS_getppid);
    return 0;
}

ATOM(syscall, "syscall", "one system call", open_nothing, run_syscalls, close_nothing,
     ATOM_DELAYS_CALLS(SYS_getppid));

/* ThreadSanitizer blocks every signal in a handler, SA_NODEFER or not: there the jump has to undo it. */
#ifdef __SANITIZE_THREAD__
#define JUMP_UNBLOCKS 1
#else
#define JUMP_UNBLOCKS 0
#endif

static sigjmp_buf after_fault;
static struct atom_shared *fault_shared;

static void on_fault(int number)
{
    (void)number;
    atom_delay(fault_shared);
    siglongjmp(after_fault, 1);
}

struct exception {
    struct atom_shared *shared;
    volatile char *forbidden; /* a page that nobody may touch */
    size_t page_bytes;
};

static int open_exception(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    struct exception *exception = calloc(1, sizeof *exception);
    if (exception == NULL)
        return -ENOMEM;
    exception->shared = shared;
    exception->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, exception->page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        free(exception);
        return -ENOMEM;
    }
    exception->forbidden = page;
    *ret_state = exception;
    return 0;
}

static int run_exceptions(void *state, uint64_t n)
{
    struct exception *exception = state;
    struct sigaction action, before;
    volatile uint64_t i = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    /* Not blocked in its handler, so that leaving by a jump needs no system call. */
    action.sa_flags = SA_NODEFER;
    fault_shared = exception->shared;
    if (sigaction(SIGSEGV, &action, &before) != 0)
        return -errno;
    while (i < n) {
        if (sigsetjmp(after_fault, JUMP_UNBLOCKS) == 0)
            *exception->forbidden = 1;
        i = i + 1;
    }
    return sigaction(SIGSEGV, &before, NULL) == 0 ? 0 : -errno;
}

static void close_exception(void *state)
{
    struct exception *exception = state;
    munmap((void *)(uintptr_t)exception->forbidden, exception->page_bytes);
    free(exception);
}

ATOM(exception, "exception", "one fault that a signal handler gets", open_exception, run_exceptions,
     close_exception, .delays_each = 1);

static int run_sleeps(void *state, uint64_t n)
{
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + SLEEP_NS);
    return 0;
}

static int run_no_sleeps(void *state, uint64_t n)
{
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        atom_spin(SLEEP_NS);
    return 0;
}

ATOM(timer, "timer", "one sleep, beyond its time", open_nothing, run_sleeps, close_nothing,
     .base = run_no_sleeps);

/* What has been computed, so that the compiler cannot leave it out. */
static volatile uint64_t kept_integer;
static volatile double kept_floating;

static int run_integers(void *state, uint64_t n)
{
    (void)state;
    uint64_t x = 88172645463325252ULL;
    for (uint64_t i = 0; i < n * OPERATIONS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x += i % 3;
    }
    kept_integer = x;
    return 0;
}

ATOM(integer, "integer", "1000 steps of integer arithmetic", open_nothing, run_integers, close_nothing,
     .base = NULL);

static int run_floats(void *state, uint64_t n)
{
    (void)state;
    double x = 0.5;
    for (uint64_t i = 0; i < n * OPERATIONS; i++)
        x = 3.7 * x * (1 - x) + 1e-9 / (1 + x);
    kept_floating = x;
    return 0;
}

ATOM(floating, "floating", "1000 steps of floating-point arithmetic", open_nothing, run_floats, close_nothing,
     .base = NULL);

/* A ring of all lines in random order: each load needs the one before (Sattolo's algorithm). */
static int open_chase(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    struct rng rng;
    (void)place;
    (void)shared;
    uint32_t *lines = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), CHASE_BYTES);
    if (lines == NULL)
        return -ENOMEM;
    const size_t step = CHASE_LINE / sizeof *lines;
    /* Or every fork of another test would copy its page tables. */
    (void)madvise(lines, CHASE_BYTES, MADV_DONTFORK);
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < CHASE_N; i++)
        lines[i * step] = i;
    for (uint32_t i = CHASE_N - 1; i > 0; i--) {
        const uint32_t other = (uint32_t)(rng_uniform(&rng) * i), held = lines[i * step];
        lines[i * step] = lines[other * step];
        lines[other * step] = held;
    }
    *ret_state = lines;
    return 0;
}

static int run_chase(void *state, uint64_t n)
{
    const uint32_t *lines = state;
    const size_t step = CHASE_LINE / sizeof *lines;
    uint32_t at = (uint32_t)kept_integer % CHASE_N;
    for (uint64_t i = 0; i < n * CHASE_LOADS; i++)
        at = lines[at * step];
    kept_integer = at;
    return 0;
}

ATOM(memory, "memory", "100 loads that miss the caches", open_chase, run_chase, free, .base = NULL);
