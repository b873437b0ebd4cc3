/* bench/collector/wrap_signals: what a program says of SIGPROF, and its new threads, for the sampler. */
#include "bench/collector/collector.h"
#include "bench/collector/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_STACK_BYTES (64U << 10) /* of a thread in which a handler finds room for sure */

/* A child that shares our memory (vfork) has no timers, and ours are none of its business. */
static void give_up(int number)
{
    if (number == SIGPROF && sampler_is_on() && collector_owns_descriptors())
        sampler_leave();
}

WRAPPER(int, sigaction, int number, const struct sigaction *action, struct sigaction *before)
{
    REAL(int, sigaction, int, const struct sigaction *, struct sigaction *);
    if (action != NULL)
        give_up(number);
    int result = real.call(number, action, before);
    if (result == 0 && before != NULL && number == SIGPROF) {
        const union {
            void (*handler)(int, siginfo_t *, void *);
            const void *address;
        } found = {.handler = before->sa_sigaction};
        if (sampler_is_ours(found.address))
            memset(before, 0, sizeof *before);
    }
    return result;
}

#define WRAP_SIGNAL(NAME)                                                                                    \
    WRAPPER(sighandler_t, NAME, int number, sighandler_t handler)                                            \
    {                                                                                                        \
        REAL(sighandler_t, NAME, int, sighandler_t);                                                         \
        give_up(number);                                                                                     \
        return real.call(number, handler);                                                                   \
    }

WRAP_SIGNAL(signal)
WRAP_SIGNAL(bsd_signal)
WRAP_SIGNAL(ssignal)
WRAP_SIGNAL(sysv_signal)
WRAP_SIGNAL(__sysv_signal)
WRAP_SIGNAL(sigset)

WRAPPER(int, sigignore, int number)
{
    REAL(int, sigignore, int);
    give_up(number);
    return real.call(number);
}

WRAPPER(int, siginterrupt, int number, int is_interrupted)
{
    REAL(int, siginterrupt, int, int);
    give_up(number);
    return real.call(number, is_interrupted);
}

WRAPPER(int, sighold, int number)
{
    REAL(int, sighold, int);
    give_up(number);
    return real.call(number);
}

WRAPPER(int, profil, unsigned short *counts, size_t size, size_t offset, unsigned scale)
{
    REAL(int, profil, unsigned short *, size_t, size_t, unsigned);
    give_up(SIGPROF);
    return real.call(counts, size, offset, scale);
}

/* What gcc -pg has called before main. Inside libc it asks for SIGPROF where no wrapper stands. */
WRAPPER(void, __monstartup, unsigned long begin, unsigned long end)
{
    REAL(void, __monstartup, unsigned long, unsigned long);
    give_up(SIGPROF);
    real.call(begin, end);
}

WRAPPER(void, monstartup, unsigned long begin, unsigned long end)
{
    REAL(void, monstartup, unsigned long, unsigned long);
    give_up(SIGPROF);
    real.call(begin, end);
}

static bool holds(int how, const sigset_t *set)
{
    return sampler_is_on() && set != NULL && how != SIG_UNBLOCK && sigismember(set, SIGPROF) == 1;
}

static bool lets_come(int how, const sigset_t *set)
{
    return sampler_is_on() && set != NULL && how != SIG_BLOCK &&
           sigismember(set, SIGPROF) == (how == SIG_UNBLOCK);
}

#define WRAP_MASK(NAME)                                                                                      \
    WRAPPER(int, NAME, int how, const sigset_t *set, sigset_t *before)                                       \
    {                                                                                                        \
        REAL(int, NAME, int, const sigset_t *, sigset_t *);                                                  \
        if (holds(how, set) && collector_owns_descriptors())                                                 \
            sampler_thread_hold();                                                                           \
        bool comes = lets_come(how, set) && collector_owns_descriptors();                                    \
        int result = real.call(how, set, before);                                                            \
        if (comes)                                                                                           \
            sampler_thread_begin();                                                                          \
        return result;                                                                                       \
    }

WRAP_MASK(sigprocmask)
WRAP_MASK(pthread_sigmask)

struct beginning {
    void *(*run)(void *data);
    void *data;
};

static void *begin(void *memory)
{
    const struct beginning beginning = *(struct beginning *)memory;
    free(memory);
    sampler_thread_begin();
    return beginning.run(beginning.data);
}

static bool has_room(const pthread_attr_t *attributes)
{
    size_t n_bytes;
    return attributes == NULL ||
           (pthread_attr_getstacksize(attributes, &n_bytes) == 0 && n_bytes >= LEAST_STACK_BYTES);
}

WRAPPER(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
        void *data)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct beginning *beginning = sampler_is_on() && has_room(attributes) ? malloc(sizeof *beginning) : NULL;
    if (beginning == NULL)
        return real.call(thread, attributes, run, data);
    *beginning = (struct beginning){run, data};
    int result = real.call(thread, attributes, begin, beginning);
    if (result != 0)
        free(beginning);
    return result;
}
