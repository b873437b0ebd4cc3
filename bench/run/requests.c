/* bench/run/requests: threads that share a number, the next request's. */
#include "bench/run/requests.h"

#include "bench/base/full_io.h"

#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#define SLEEP_NS 10000000ULL /* then it looks whether it is interrupted */

struct requests {
    const struct requests_plan *plan;
    atomic_size_t next, n_made;
    atomic_int failure;        /* a negative errno */
    atomic_size_t failed_item; /* the first of them */
    uint64_t start_ns, buffer_bytes;
    int fd;
};

struct requests_thread {
    struct requests *requests;
    pthread_t thread;
    uint32_t number;
};

static bool is_over(const struct requests *requests)
{
    const struct requests_plan *plan = requests->plan;
    return atomic_load(&requests->failure) != 0 ||
           (plan->interrupted != NULL && atomic_load(plan->interrupted) != 0) ||
           (plan->end_ns > 0 && clock_now_ns(plan->clock) >= plan->end_ns);
}

static bool wait_until(const struct requests *requests, uint64_t time_ns)
{
    const struct clock *clock = requests->plan->clock;
    for (uint64_t now_ns = clock_now_ns(clock); now_ns < time_ns; now_ns = clock_now_ns(clock)) {
        if (is_over(requests))
            return false;
        clock_sleep_until_ns(clock, time_ns - now_ns < SLEEP_NS ? time_ns : now_ns + SLEEP_NS);
    }
    return !is_over(requests);
}

static int transfer(const struct requests *requests, const struct requests_item *item, void *buffer)
{
    if (item->writes)
        return full_io_write(requests->fd, buffer, item->n_bytes, item->offset_bytes, NULL);
    return full_io_read(requests->fd, buffer, item->n_bytes, item->offset_bytes);
}

static int make(const struct requests *requests, const struct requests_item *item, uint32_t thread,
                void *buffer)
{
    const struct requests_plan *plan = requests->plan;
    const struct requests_observer *observer = &plan->observer;
    int code = 0;
    if (item->n_bytes > 0) {
        uint64_t start_ns = clock_now_ns(plan->clock);
        observer->begins(observer->data, start_ns);
        code = transfer(requests, item, buffer);
        uint64_t end_ns = clock_now_ns(plan->clock);
        observer->ends(observer->data, end_ns);
        if (code == 0)
            observer->took(observer->data, item, thread, false, start_ns, end_ns);
    }
    if (code == 0 && item->flushes) {
        uint64_t start_ns = clock_now_ns(plan->clock);
        code = full_io_sync(requests->fd);
        observer->took(observer->data, item, thread, true, start_ns, clock_now_ns(plan->clock));
    }
    return code;
}

static void *work(void *context)
{
    const struct requests_thread *thread = context;
    struct requests *requests = thread->requests;
    const struct requests_plan *plan = requests->plan;
    void *buffer = plan->arena->memory + thread->number * requests->buffer_bytes;
    while (!is_over(requests)) {
        size_t i = atomic_fetch_add(&requests->next, 1);
        if (i >= plan->n || (plan->timed && !wait_until(requests, requests->start_ns + plan->items[i].at_ns)))
            break;
        int code = make(requests, &plan->items[i], thread->number, buffer), none = 0;
        if (code == 0)
            atomic_fetch_add(&requests->n_made, 1);
        else if (atomic_compare_exchange_strong(&requests->failure, &none, code))
            atomic_store(&requests->failed_item, i);
    }
    return NULL;
}

static uint64_t largest(const struct requests_plan *plan)
{
    uint64_t most = 4096;
    for (size_t i = 0; i < plan->n; i++)
        most = plan->items[i].n_bytes > most ? plan->items[i].n_bytes : most;
    return (most + 4095) / 4096 * 4096;
}

static int check(const struct requests_plan *plan, struct err *err)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct requests_item *item = &plan->items[i];
        if (item->n_bytes > REQUESTS_BYTES_MOST || item->n_bytes > plan->target->size_bytes ||
            item->offset_bytes > plan->target->size_bytes - item->n_bytes)
            return err_set(err, -EINVAL, "request %zu: %" PRIu32 " bytes at %" PRIu64 " have no place in %s",
                           i, item->n_bytes, item->offset_bytes, plan->target->name);
    }
    return 0;
}

/* Fewer threads than asked for would be another load. */
static int run_threads(struct requests *requests, struct requests_thread *threads, struct err *err)
{
    const struct requests_plan *plan = requests->plan;
    uint32_t n = 0;
    int code = 0;
    requests->start_ns = clock_now_ns(plan->clock);
    for (; n < plan->n_threads && code == 0; n++) {
        threads[n] = (struct requests_thread){.requests = requests, .number = n};
        code = -pthread_create(&threads[n].thread, NULL, work, &threads[n]);
        if (code != 0) {
            atomic_store(&requests->failure, code);
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i].thread, NULL);
    return code == 0 ? 0 : err_sys(err, code, "cannot start %" PRIu32 " threads", plan->n_threads);
}

int requests_run(const struct requests_plan *plan, size_t *ret_n, struct err *err)
{
    static struct requests_thread threads[REQUESTS_THREADS_MOST];
    struct requests requests = {.plan = plan, .buffer_bytes = largest(plan), .fd = -1};
    bool writes = false;
    for (size_t i = 0; i < plan->n; i++)
        writes = writes || plan->items[i].writes;
    int code = plan->n_threads > REQUESTS_THREADS_MOST ? -EINVAL : check(plan, err);
    if (code == 0)
        code = arena_reserve(plan->arena, requests.buffer_bytes * plan->n_threads, plan->seed, err);
    if (code == 0)
        code = target_open_run(plan->target, plan->direct, writes, &requests.fd, err);
    if (code == 0)
        code = run_threads(&requests, threads, err);
    if (requests.fd >= 0)
        close(requests.fd);
    *ret_n = atomic_load(&requests.n_made);
    int failure = atomic_load(&requests.failure);
    if (code == 0 && failure != 0)
        code = err_sys(err, failure, "request %zu", atomic_load(&requests.failed_item));
    if (code == 0 && plan->interrupted != NULL && atomic_load(plan->interrupted) != 0)
        code = -EINTR;
    return code;
}
