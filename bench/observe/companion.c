/* The reference program in a thread, beside runs of ours. */
#include "bench/observe/companion.h"

#include "bench/base/clock.h"
#include "bench/observe/reference_internal.h"

#include <signal.h>

static bool goes_on(const struct companion *companion)
{
    return !atomic_load(&companion->stop) &&
           companion->written_bytes + reference_step_bytes(companion->reference) <=
               companion->most_write_bytes;
}

static void *run(void *argument)
{
    struct companion *companion = argument;
    const struct reference *reference = companion->reference;
    volatile uint64_t kept;
    uint64_t sum = 0;
    size_t step = 0;
    while (goes_on(companion) && companion->result == 0) {
        companion->begun_ns = clock_now_ns(&clock_monotonic);
        uint32_t done = 0;
        for (; done < reference->n_steps && goes_on(companion) && companion->result == 0; done++) {
            companion->result = reference_step(reference, step++, &sum);
            companion->written_bytes += reference_step_bytes(reference);
        }
        if (atomic_load(&companion->stop))
            break;
        if (done == reference->n_steps && companion->n_intervals < COMPANION_MAX_INTERVALS)
            companion->interval_s[companion->n_intervals++] =
                (double)(clock_now_ns(&clock_monotonic) - companion->begun_ns) / 1e9;
        companion->begun_ns = 0;
    }
    kept = sum; /* or the compiler would leave the sums out */
    (void)kept;
    return NULL;
}

int companion_start(struct companion *companion, struct err *err)
{
    sigset_t all, before;
    companion->n_intervals = 0;
    companion->written_bytes = companion->begun_ns = 0;
    companion->seconds = 0;
    companion->result = 0;
    atomic_store(&companion->stop, false);
    reference_drop_files(companion->reference);
    companion->start_ns = clock_now_ns(&clock_monotonic);
    /* Signals belong to the thread that waits for them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&companion->thread, NULL, run, companion);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    companion->runs = result == 0;
    return result == 0 ? 0 : err_sys(err, result, "no thread can be started for the reference program");
}

/* The thread has ended. */
static void count_last_interval(struct companion *companion, uint64_t end_ns)
{
    if (companion->begun_ns == 0 || companion->begun_ns >= end_ns ||
        companion->n_intervals == COMPANION_MAX_INTERVALS)
        return;
    double longest_s = 0, seconds = (double)(end_ns - companion->begun_ns) / 1e9;
    for (size_t i = 0; i < companion->n_intervals; i++)
        longest_s = companion->interval_s[i] > longest_s ? companion->interval_s[i] : longest_s;
    if (seconds > longest_s)
        companion->interval_s[companion->n_intervals++] = seconds;
}

int companion_stop(struct companion *companion, struct err *err)
{
    if (!companion->runs)
        return 0;
    const uint64_t end_ns = clock_now_ns(&clock_monotonic);
    atomic_store(&companion->stop, true);
    pthread_join(companion->thread, NULL);
    companion->runs = false;
    companion->seconds = (double)(end_ns - companion->start_ns) / 1e9;
    count_last_interval(companion, end_ns);
    return companion->result == 0 ? 0
                                  : err_io(err, companion->result, "%s: the reference program failed",
                                           companion->reference->directory);
}
