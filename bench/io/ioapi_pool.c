/* Worker threads doing pread and pwrite, one per call in flight, as QEMU's aio=threads does.
 *
 * One mutex guards two rings: calls that wait for a worker, and calls to be reaped. A worker that finishes a
 * call takes the next one in the same critical section, so a busy pool costs one lock per call and wakes
 * nobody. */
#include "bench/io/ioapi.h"
#include "bench/io/ioapi_blocking.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Transfers need next to no stack; a thousand workers at the default 8 MiB would meet limits on address
 * space. */
#define POOL_STACK_BYTES (256U << 10)

struct ring {
    struct io_call **calls; /* n_calls */
    uint32_t head, n;
};

struct pool {
    bool opened; /* lock and conditions exist */
    bool stopping;
    bool sync_each;
    bool reaper_waits;
    uint32_t n_calls;
    uint32_t n_threads;
    uint32_t n_idle;      /* workers waiting for work */
    uint32_t n_in_flight; /* accepted and not yet reaped; only the owner's thread uses it */
    struct ring todo, done;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work, completion;
};

static void ring_put(struct ring *ring, uint32_t capacity, struct io_call *call)
{
    ring->calls[(ring->head + ring->n) % capacity] = call;
    ring->n++;
}

static struct io_call *ring_take(struct ring *ring, uint32_t capacity)
{
    struct io_call *call = ring->calls[ring->head];
    ring->head = (ring->head + 1) % capacity;
    ring->n--;
    return call;
}

static void *worker(void *context)
{
    struct pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->todo.n == 0 && !pool->stopping) {
            pool->n_idle++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->n_idle--;
        }
        if (pool->stopping)
            break;
        struct io_call *call = ring_take(&pool->todo, pool->n_calls);
        pthread_mutex_unlock(&pool->lock);
        call->result = ioapi_blocking_transfer(call->fd, call, pool->sync_each);
        pthread_mutex_lock(&pool->lock);
        ring_put(&pool->done, pool->n_calls, call);
        if (pool->reaper_waits) {
            pool->reaper_waits = false; /* one signal is enough until it waits again */
            pthread_cond_signal(&pool->completion);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts n threads and counts them, also on failure, with all signals blocked, so that handlers run where the
 * program expects them. */
static int start_threads(pthread_t *threads, uint32_t n, void *(*run)(void *), void *context,
                         uint32_t *n_started)
{
    size_t stack_bytes = POOL_STACK_BYTES;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (stack_bytes < (size_t)PTHREAD_STACK_MIN)
        stack_bytes = (size_t)PTHREAD_STACK_MIN;
    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return -rc;
    rc = pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (*n_started = 0; rc == 0 && *n_started < n;) {
        rc = pthread_create(&threads[*n_started], &attributes, run, context);
        if (rc == 0)
            ++*n_started;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -rc;
}

static int explain(int code, uint32_t n, struct err *err)
{
    return err_sys(
        err, code,
        "pool: cannot start %u worker threads (see ulimit -u, the cgroup's pids.max, kernel.threads-max)", n);
}

static void *come_and_go(void *context)
{
    return context;
}

static int pool_probe(struct err *err)
{
    pthread_t thread;
    uint32_t n_started = 0;
    int rc = start_threads(&thread, 1, come_and_go, NULL, &n_started);
    if (rc < 0)
        return explain(rc, 1, err);
    pthread_join(thread, NULL);
    return 0;
}

/* Running calls end by themselves; calls that no worker has taken are dropped. */
static void pool_close(void *state)
{
    struct pool *pool = state;
    if (pool->opened) {
        pthread_mutex_lock(&pool->lock);
        pool->stopping = true;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (uint32_t i = 0; i < pool->n_threads; i++)
            pthread_join(pool->threads[i], NULL);
        pthread_cond_destroy(&pool->completion);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool->threads);
    free(pool->done.calls);
    free(pool->todo.calls);
    memset(pool, 0, sizeof(*pool));
}

static int pool_open(void *state, const struct ioapi_config *config, struct err *err)
{
    struct pool *pool = state;
    uint32_t n = config->n_calls;
    int rc = 0;
    if (n < 1)
        return err_set(err, -EINVAL, "pool: a queue depth of 0");
    memset(pool, 0, sizeof(*pool));
    pool->n_calls = n;
    pool->sync_each = config->sync_each;
    pool->todo.calls = calloc(n, sizeof(*pool->todo.calls));
    pool->done.calls = calloc(n, sizeof(*pool->done.calls));
    pool->threads = calloc(n, sizeof(*pool->threads));
    if (pool->todo.calls == NULL || pool->done.calls == NULL || pool->threads == NULL) {
        rc = err_set(err, -ENOMEM, "pool: no memory for %u calls", n);
        goto out;
    }
    pthread_mutex_init(&pool->lock, NULL); /* with default attributes Linux cannot refuse these three */
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->completion, NULL);
    pool->opened = true;
    rc = start_threads(pool->threads, n, worker, pool, &pool->n_threads);
    if (rc < 0)
        explain(rc, n, err);
out:
    if (rc < 0)
        pool_close(pool);
    return rc;
}

static int pool_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err)
{
    struct pool *pool = state;
    (void)err;
    if (n > pool->n_calls - pool->n_in_flight)
        n = pool->n_calls - pool->n_in_flight;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < n; i++)
        ring_put(&pool->todo, pool->n_calls, calls[i]);
    size_t n_wake = n < pool->n_idle ? n : pool->n_idle;
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < n_wake; i++)
        pthread_cond_signal(&pool->work);
    pool->n_in_flight += (uint32_t)n;
    *ret_n = n;
    return 0;
}

/* Ends at until_ns at the latest. The lock is held. */
static void wait_for_completion(struct pool *pool, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / CLOCK_NS_PER_S),
                                   .tv_nsec = (long)(until_ns % CLOCK_NS_PER_S)};
    int rc = 0;
    while (pool->done.n == 0 && rc != ETIMEDOUT) {
        pool->reaper_waits = true;
        rc = until_ns == IOAPI_NO_END
                 ? pthread_cond_wait(&pool->completion, &pool->lock)
                 : pthread_cond_clockwait(&pool->completion, &pool->lock, CLOCK_MONOTONIC, &until);
    }
    pool->reaper_waits = false;
}

static int pool_reap(void *state, struct io_call **calls, size_t max, uint64_t until_ns, size_t *ret_n,
                     struct err *err)
{
    struct pool *pool = state;
    size_t n = 0;
    if (pool->n_in_flight == 0 || max == 0)
        return err_set(err, -EINVAL, "pool: nothing to reap");
    pthread_mutex_lock(&pool->lock);
    wait_for_completion(pool, until_ns);
    while (n < max && pool->done.n > 0)
        calls[n++] = ring_take(&pool->done, pool->n_calls);
    pthread_mutex_unlock(&pool->lock);
    pool->n_in_flight -= (uint32_t)n;
    *ret_n = n;
    return 0;
}

const struct ioapi_ops ioapi_pool = {
    .name = "pool",
    .api = API_POOL,
    .state_size = sizeof(struct pool),
    .probe = pool_probe,
    .open = pool_open,
    .submit = pool_submit,
    .reap = pool_reap,
    .close = pool_close,
};
