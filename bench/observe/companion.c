/* The reference program in a thread, beside runs of ours. */
#include "bench/observe/companion.h"

#include "bench/base/clock.h"
#include "bench/observe/reference_internal.h"

#include <signal.h>

static void *run(void *argument)
{
    struct companion *companion = argument;
    const struct reference *reference = companion->reference;
    const uint64_t step_bytes = reference_step_bytes(reference);
    volatile uint64_t kept;
    uint64_t sum = 0;
    for (size_t step = 0; companion->result == 0 && !atomic_load(&companion->stop); step++) {
        if (companion->written_bytes + step_bytes > companion->most_write_bytes) {
            atomic_store(&companion->full_ns, clock_now_ns(&clock_monotonic));
            break;
        }
        companion->result = reference_step(reference, step, &sum);
        companion->written_bytes += step_bytes;
        companion->n_steps += companion->result == 0 && !atomic_load(&companion->stop);
    }
    kept = sum; /* or the compiler would leave the sums out */
    (void)kept;
    return NULL;
}

int companion_start(struct companion *companion, struct err *err)
{
    sigset_t all, before;
    companion->n_steps = companion->written_bytes = 0;
    atomic_store(&companion->full_ns, 0);
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

int companion_stop(struct companion *companion, struct err *err)
{
    if (!companion->runs)
        return 0;
    const uint64_t stop_ns = clock_now_ns(&clock_monotonic);
    atomic_store(&companion->stop, true);
    pthread_join(companion->thread, NULL);
    companion->runs = false;
    const uint64_t full_ns = atomic_load(&companion->full_ns);
    companion->seconds = (double)((full_ns != 0 ? full_ns : stop_ns) - companion->start_ns) / 1e9;
    return companion->result == 0 ? 0
                                  : err_io(err, companion->result, "%s: the reference program failed",
                                           companion->reference->directory);
}
