/* Blocking work in a thread aside. */
#include "tuner/base/worker.h"

#include "bench/base/clock.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Owned by the thread and the caller together; an abandoned one is left to the exit of the process. */
struct job {
    int (*work)(void *context);
    void *context;
    int result;
    int done_fd;
};

static void *run_job(void *argument)
{
    struct job *job = argument;
    uint64_t one = 1;
    job->result = job->work(job->context);
    ssize_t written = write(job->done_fd, &one, sizeof one);
    (void)written;
    return NULL;
}

static int start_job(struct job *job, pthread_t *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(thread, NULL, run_job, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

/* For poll; rounded up, so that it does not return before the end. */
static int milliseconds_to(uint64_t end_ns)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (end_ns == UINT64_MAX)
        return -1;
    uint64_t left_ms = end_ns > now_ns ? (end_ns - now_ns) / 1000000 + 1 : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* True when the job has ended; false when it was given up. */
static bool wait_for(const struct job *job, uint64_t end_ns)
{
    struct pollfd fds[2] = {{.fd = job->done_fd, .events = POLLIN},
                            {.fd = interrupt_descriptor(), .events = POLLIN}};
    for (;;) {
        bool asked = atomic_load(&interrupt_signal) != 0;
        int n = poll(fds, asked ? 1 : 2, asked ? WORKER_GRACE_MS : milliseconds_to(end_ns));
        if (n > 0 && (fds[0].revents & POLLIN) != 0)
            return true;
        if (n == 0 && asked)
            return false;
        int none = 0;
        if (n == 0 && milliseconds_to(end_ns) == 0)
            atomic_compare_exchange_strong(&interrupt_signal, &none, INTERRUPT_LATE);
    }
}

/* What a job that was asked to end is called, whether it did or not. */
static int interrupted(struct err *err)
{
    if (atomic_load(&interrupt_signal) == INTERRUPT_LATE)
        return err_set(err, -ETIME,
                       "the time is over and the kernel still holds a request: the device is too slow or "
                       "stalls (see dmesg)");
    return err_set(err, -EINTR, "interrupted while the kernel was still writing");
}

int worker_call(int (*work)(void *context), void *context, bool *ret_abandoned, struct err *err)
{
    return worker_call_until(UINT64_MAX, work, context, ret_abandoned, err);
}

int worker_call_until(uint64_t end_ns, int (*work)(void *context), void *context, bool *ret_abandoned,
                      struct err *err)
{
    pthread_t thread;
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        return err_set(err, -ENOMEM, "no memory for a thread");
    *job = (struct job){.work = work, .context = context, .done_fd = eventfd(0, EFD_CLOEXEC)};
    int result = job->done_fd < 0 ? -errno : start_job(job, &thread);
    if (result < 0) {
        err_sys(err, result, "cannot start a thread");
    } else if (wait_for(job, end_ns)) {
        pthread_join(thread, NULL);
        result = job->result;
        if (result == -EINTR && atomic_load(&interrupt_signal) == INTERRUPT_LATE)
            result = interrupted(err);
        /* Without a signal it is the file system's word: an error like others. */
        if (result == -EINTR && atomic_load(&interrupt_signal) == 0)
            result = -EIO;
    } else {
        pthread_detach(thread);
        *ret_abandoned = true;
        return interrupted(err);
    }
    if (job->done_fd >= 0)
        close(job->done_fd);
    free(job);
    return result;
}
