/* Context switches between two processes on one processor or two, and wakes of a thread by futex. Where
 * nothing else is asked for both sides stay on one processor, or the scheduler would decide what is timed. */
#include "bench/atoms/atoms_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ping_pong {
    struct atom_shared *shared;
    unsigned partner_cpu;
    int there[2], back[2], own[2]; /* pipes; the last one is never waited for */
    pid_t pid;
};

static void close_pipes(struct ping_pong *pair)
{
    const int fds[] = {pair->there[0], pair->there[1], pair->back[0],
                       pair->back[1],  pair->own[0],   pair->own[1]};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] > 0)
            close(fds[i]);
    }
}

static void answer_pings(void *context)
{
    struct ping_pong *pair = context;
    char byte;
    if (atom_pin(pair->partner_cpu) < 0)
        return;
    close(pair->there[1]);
    while (read(pair->there[0], &byte, 1) == 1) {
        atom_delay(pair->shared);
        if (write(pair->back[1], &byte, 1) != 1)
            return;
    }
}

static void close_ping_pong(void *state)
{
    struct ping_pong *pair = state;
    atom_end_partner(pair->pid);
    close_pipes(pair);
    free(pair);
}

static int open_ping_pong(struct atom_shared *shared, unsigned partner_cpu, void **ret_state)
{
    struct ping_pong *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return -ENOMEM;
    pair->shared = shared;
    pair->partner_cpu = partner_cpu;
    int result = atom_pin(partner_cpu);
    atom_unpin();
    if (result == -ENODEV)
        result = -EOPNOTSUPP;
    if (result == 0 && (pipe(pair->there) != 0 || pipe(pair->back) != 0 || pipe(pair->own) != 0))
        result = -errno;
    if (result == 0)
        result = atom_start_partner(answer_pings, pair, &pair->pid);
    if (result < 0)
        close_ping_pong(pair);
    else
        *ret_state = pair;
    return result;
}

static int open_on_one(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    return open_ping_pong(shared, 0, ret_state);
}

static int open_on_two(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    return open_ping_pong(shared, 1, ret_state);
}

/* A round trip is two switches. */
static int run_round_trips(void *state, uint64_t n)
{
    const struct ping_pong *pair = state;
    char byte = 0;
    int result = atom_pin(0);
    for (uint64_t i = 0; i < n / 2 && result == 0; i++) {
        if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
            result = -EPIPE;
    }
    atom_unpin();
    return result;
}

/* The calls of both sides without the switches. */
static int run_own_pipe(void *state, uint64_t n)
{
    const struct ping_pong *pair = state;
    char byte = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (write(pair->own[1], &byte, 1) != 1 || read(pair->own[0], &byte, 1) != 1)
            return -EPIPE;
    }
    return 0;
}

ATOM(switch_one, "context_switch", "one switch between processes on one processor", open_on_one,
     run_round_trips, close_ping_pong, .delays_each = 0.5, .base = run_own_pipe);

ATOM(switch_two, "wake_other_cpu", "one wake of a process on another processor", open_on_two, run_round_trips,
     close_ping_pong, .delays_each = 0.5, .base = run_own_pipe);

struct futex_pair {
    struct atom_shared *shared;
    pthread_t thread;
};

static void futex_wake(atomic_int *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Until the word is no longer `value`. */
static void futex_wait(atomic_int *word, int value)
{
    while (atomic_load(word) == value)
        (void)syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void *answer_turns(void *context)
{
    struct atom_shared *shared = context;
    (void)atom_pin(0); /* it worked when the test was opened */
    for (;;) {
        futex_wait(&shared->turn, 0);
        if (atomic_load(&shared->stop) != 0)
            return NULL;
        atom_delay(shared);
        atomic_store(&shared->turn, 0);
        futex_wake(&shared->turn);
    }
}

static int open_futex(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    sigset_t all, before;
    (void)place;
    struct futex_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return -ENOMEM;
    pair->shared = shared;
    if (atom_pin(0) < 0) {
        free(pair);
        return -EOPNOTSUPP;
    }
    atom_unpin();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&pair->thread, NULL, answer_turns, shared);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result < 0)
        free(pair);
    else
        *ret_state = pair;
    return result;
}

static int run_turns(void *state, uint64_t n)
{
    struct futex_pair *pair = state;
    int result = atom_pin(0);
    for (uint64_t i = 0; i < n / 2 && result == 0; i++) {
        atomic_store(&pair->shared->turn, 1);
        futex_wake(&pair->shared->turn);
        futex_wait(&pair->shared->turn, 1);
    }
    atom_unpin();
    return result;
}

static void close_futex(void *state)
{
    struct futex_pair *pair = state;
    atomic_store(&pair->shared->stop, 1);
    atomic_store(&pair->shared->turn, 1);
    futex_wake(&pair->shared->turn);
    pthread_join(pair->thread, NULL);
    free(pair);
}

ATOM(futex, "futex", "one wake of a thread", open_futex, run_turns, close_futex, .delays_each = 0.5);
