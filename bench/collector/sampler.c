/* bench/collector/sampler: the timers of threads, the handler, and the programs and libraries that are known.
 */
#include "bench/collector/sampler.h"

#include "bench/collector/collector.h"
#include "bench/collector/modules.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST_TIMERS 1024U
/* The kernel's name of the calling thread's time in user mode (include/linux/posix-timers.h): thread 0 is the
 * caller, 4 a thread's clock, 1 its virtual time. */
#define OWN_USER_TIME ((clockid_t)(~0U << 3 | 4U | 1U))

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_ADDRESSES true
#else
#define HAS_ADDRESSES false
#endif

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static bool is_on;
static int timers[MOST_TIMERS];    /* one more than its number; 0: free */
static __thread uint32_t own_slot; /* one more than its place; 0: none */
static pthread_key_t at_end;

static void set_timer(int timer, uint64_t interval_ns)
{
    struct itimerspec each = {.it_value.tv_nsec = (long)interval_ns,
                              .it_interval.tv_nsec = (long)interval_ns};
    syscall(SYS_timer_settime, timer, 0, &each, NULL);
}

static void delete_timer(uint32_t slot)
{
    int timer = __atomic_exchange_n(&timers[slot], 0, __ATOMIC_ACQ_REL);
    if (timer > 0)
        syscall(SYS_timer_delete, timer - 1);
}

bool sampler_is_on(void)
{
    return __atomic_load_n(&is_on, __ATOMIC_ACQUIRE);
}

static uint64_t address_of(const void *context)
{
    const ucontext_t *state = context;
#if defined(__x86_64__)
    return (uint64_t)state->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return state->uc_mcontext.pc;
#else
    return state == NULL;
#endif
}

static void take_sample(const siginfo_t *info, const void *context)
{
    uint64_t offset_bytes = 0;
    const struct module *module = modules_find(address_of(context), &offset_bytes);
    uint64_t file = module != NULL ? module->file : 0;
    if (module != NULL)
        sink_name(file, module->path);
    sink_sample(file, offset_bytes, 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0));
}

/* A signal that is not from our timers does what it would have done without us. */
static void handle(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == timers) {
        if (sampler_is_on() && collector_is_on())
            take_sample(info, context);
    } else {
        sampler_leave();
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
    }
    errno = saved;
}

bool sampler_is_ours(const void *handler)
{
    const union {
        void (*handler)(int, siginfo_t *, void *);
        const void *address;
    } ours = {.handler = handle};
    return handler == ours.address;
}

static void set_handler(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    real_sigaction(SIGPROF, &action, NULL);
}

/* Not where the program has put another one there by a system call of its own. */
static bool has_ours(void)
{
    struct sigaction now;
    const union {
        void (*handler)(int, siginfo_t *, void *);
        const void *address;
    } found = {.handler = real_sigaction(SIGPROF, NULL, &now) == 0 ? now.sa_sigaction : NULL};
    return sampler_is_ours(found.address);
}

/* While it is ignored, the system forgets signals that wait for any thread. */
void sampler_leave(void)
{
    int saved = errno;
    if (__atomic_exchange_n(&is_on, false, __ATOMIC_ACQ_REL)) {
        for (uint32_t i = 0; i < MOST_TIMERS; i++)
            delete_timer(i);
        if (has_ours()) {
            set_handler(SIG_IGN);
            set_handler(SIG_DFL);
        }
    }
    errno = saved;
}

static void end_thread(void *unused)
{
    (void)unused;
    if (own_slot > 0)
        delete_timer(own_slot - 1);
    own_slot = 0;
}

static bool is_held(void)
{
    sigset_t mask;
    return pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGPROF) != 0;
}

/* Its place. MOST_TIMERS: there is none, or the system makes no more timers for this user. */
static uint32_t make_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    int timer, none;
    event.sigev_value.sival_ptr = timers;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, OWN_USER_TIME, &event, &timer) != 0)
        return MOST_TIMERS;
    for (uint32_t i = 0, at = (uint32_t)event.sigev_notify_thread_id; i < MOST_TIMERS; i++, at++) {
        none = 0;
        if (__atomic_compare_exchange_n(&timers[at % MOST_TIMERS], &none, timer + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return at % MOST_TIMERS;
    }
    syscall(SYS_timer_delete, timer);
    return MOST_TIMERS;
}

/* Whoever leaves meanwhile deletes the timer, or is seen here. */
void sampler_thread_begin(void)
{
    int saved = errno;
    if (sampler_is_on() && !has_ours())
        sampler_leave();
    if (!sampler_is_on() || is_held())
        return;
    uint32_t slot = own_slot > 0 ? own_slot - 1 : make_timer();
    if (slot == MOST_TIMERS) {
        sink_add(SINK_LOST, 1);
        errno = saved;
        return;
    }
    own_slot = slot + 1;
    pthread_setspecific(at_end, timers);
    int timer = __atomic_load_n(&timers[slot], __ATOMIC_ACQUIRE);
    if (!sampler_is_on())
        end_thread(NULL);
    else if (timer > 0)
        set_timer(timer - 1, sink_sample_ns());
    errno = saved;
}

void sampler_thread_hold(void)
{
    int saved = errno;
    int timer = own_slot > 0 ? __atomic_load_n(&timers[own_slot - 1], __ATOMIC_ACQUIRE) : 0;
    if (timer > 0)
        set_timer(timer - 1, 0);
    errno = saved;
}

void sampler_after_fork(void)
{
    if (!sampler_is_on())
        return;
    memset(timers, 0, sizeof timers);
    own_slot = 0;
    sampler_thread_begin();
}

static bool is_taken(void)
{
    struct sigaction before;
    return real_sigaction(SIGPROF, NULL, &before) != 0 || before.sa_handler != SIG_DFL;
}

void sampler_start(void)
{
    union {
        void *address;
        int (*call)(int, const struct sigaction *, struct sigaction *);
    } real = {.address = collector_real("sigaction")};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK};
    real_sigaction = real.call;
    if (!HAS_ADDRESSES || is_taken() || pthread_key_create(&at_end, end_thread) != 0)
        return;
    modules_look();
    /* No handler of the program's may leave ours by a jump. */
    sigfillset(&action.sa_mask);
    if (real_sigaction(SIGPROF, &action, NULL) != 0)
        return;
    __atomic_store_n(&is_on, true, __ATOMIC_RELEASE);
    sampler_thread_begin();
}
