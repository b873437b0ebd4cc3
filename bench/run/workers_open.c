/* What the threads of one run need: descriptors, queues, buffers, statistics. */
#include "bench/run/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* A simulated file has 2^50 bytes, which is always enough. */
static uint64_t region_bytes(const struct workers *workers)
{
    return workers->env->world != NULL ? 1ULL << 50
                                       : measure_region_bytes(workers->env, &workers->plan->point);
}

static void choose_shape(struct workers *workers, double truth_bps)
{
    const struct point *point = &workers->plan->point;
    workers->n = point->threads * measure_n_members(workers->env);
    workers->n_files = workers->env->world != NULL ? 1 : target_n_files(workers->env->target);
    workers->n_calls = point->queue_depth;
    workers->requests_per_call = workers->rounds_per_call = 1;
    workers->ops = workers->env->world != NULL ? &ioapi_simulator : ioapi_table[point->api];
    if (workers->env->world != NULL) {
        simulator_run_init(&workers->simulator, workers->env->world, point, truth_bps,
                           workers->plan->duration_ns, workers->plan->seed);
        workers->n = 1;
        workers->n_calls = workers->simulator.n_in_flight;
        workers->requests_per_call = workers->rounds_per_call =
            workers->plan->rate_bps > 0 ? 1 : simulator_requests_per_call(&workers->simulator);
    } else if (point->api == API_PVEC) {
        workers->n_calls = 1;
        workers->requests_per_call = point->queue_depth;
    }
}

static int open_descriptors(struct worker *worker, const struct workers *workers, struct err *err)
{
    const struct measure_env *env = workers->env;
    const struct measure_plan *plan = workers->plan;
    bool writes = pattern_writes(&plan->pattern);
    int advice = pattern_is_random(&plan->pattern) ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL;
    uint32_t n_files = workers->n_files;
    worker->fds = calloc(n_files, sizeof *worker->fds);
    if (worker->fds == NULL)
        return err_set(err, -ENOMEM, "no memory for %u descriptors", n_files);
    for (uint32_t i = 0; i < n_files && env->world == NULL; i++) {
        int result = target_open_file(measure_member(env, worker->member), i, plan->point.direct != 0, writes,
                                      &worker->fds[i], err);
        if (result < 0)
            return result;
        worker->n_open = i + 1;
        if (env->advise)
            (void)posix_fadvise(worker->fds[i], 0, 0, advice);
    }
    return 0;
}

static int open_queue(struct worker *worker, struct workers *workers, struct err *err)
{
    const struct measure_plan *plan = workers->plan;
    struct ioapi_config config = {
        .fd = worker->fds[0],
        .n_calls = workers->n_calls,
        .request_size_bytes = plan->point.request_size_bytes,
        .requests_per_call = workers->requests_per_call,
        .sync_each = plan->point.sync == SYNC_EACH && pattern_writes(&plan->pattern),
        .cooperative_ring = workers->env->cooperative_ring,
        .simulator = &workers->simulator,
    };
    void *state = calloc(1, workers->ops->state_size);
    if (state == NULL)
        return err_set(err, -ENOMEM, "no memory for the I/O API's state");
    int result = workers->ops->open(state, &config, err);
    if (result < 0) {
        workers->ops->close(state);
        free(state);
        return result;
    }
    worker->io = worker->pump.io = state;
    return 0;
}

static uint64_t shift_bytes(const struct workers *workers)
{
    return workers->env->world != NULL ? 0 : measure_shift_bytes(workers->env, &workers->plan->point);
}

/* Threads that share a region start their sequential streams apart: side by side they would read each other's
 * cached pages. */
static void spread_streams(struct offsets *offsets, uint32_t index, uint32_t n)
{
    for (size_t i = 0; i < 2; i++)
        offsets->next_seq[i] = (offsets->next_seq[i] + offsets->n_units[i] / n * index) % offsets->n_units[i];
}

/* Where the worker's part of its file begins. */
static uint64_t base_bytes(const struct workers *workers, const struct worker *worker)
{
    const struct measure_env *env = workers->env;
    uint64_t bytes = env->world != NULL ? 0 : measure_member(env, worker->member)->base_bytes;
    if (!env->shared_region)
        bytes += region_bytes(workers) * worker->index;
    return workers->n_files > 1 ? bytes : bytes + shift_bytes(workers);
}

static int open_worker(struct workers *workers, uint32_t index, unsigned char *buffers, struct err *err)
{
    struct worker *worker = &workers->worker[index];
    const struct measure_plan *plan = workers->plan;
    uint32_t n_members = measure_n_members(workers->env);
    worker->all = workers;
    worker->member = index % n_members;
    worker->index = index / n_members;
    worker->stats.counted.latency = malloc(sizeof(struct histogram));
    worker->stats.outside.latency = malloc(sizeof(struct histogram));
    if (worker->stats.counted.latency == NULL || worker->stats.outside.latency == NULL)
        return err_set(err, -ENOMEM, "no memory for latency histograms");
    int result = open_descriptors(worker, workers, err);
    if (result < 0)
        return result;
    struct pump_config config = {
        .clock = workers->env->clock,
        .ops = workers->ops,
        .pattern = plan->pattern,
        .base_bytes = base_bytes(workers, worker),
        .region_bytes = region_bytes(workers),
        .fds = worker->fds,
        .n_files = workers->n_files,
        .shift_bytes = shift_bytes(workers),
        .n_calls = workers->n_calls,
        .request_size_bytes = plan->point.request_size_bytes,
        .write_size_bytes = plan->point.write_size_bytes,
        .requests_per_call = workers->requests_per_call,
        .rounds_per_call = workers->rounds_per_call,
        .buffers = buffers,
        .batch_requests = plan->batch_requests,
        /* Direct I/O is queued by submit, not done. */
        .works_in_submit = workers->ops->inline_io && plan->point.direct == 0,
        .skew = workers->env->skew,
        .content = workers->env->content,
        .verify = workers->env->verify,
        .seed = rng_derive(plan->seed, 100 + index),
    };
    result = pump_init(&worker->pump, &config, err);
    if (result == 0 && workers->env->shared_region && plan->point.threads > 1)
        spread_streams(&worker->pump.offsets, worker->index, plan->point.threads);
    if (result == 0)
        result = warmup_init(&worker->judge, plan->warmup_coef, plan->warmup_window);
    return result < 0 ? result : open_queue(worker, workers, err);
}

int workers_open(struct workers *workers, const struct measure_env *env, const struct measure_plan *plan,
                 double truth_bps, struct err *err)
{
    *workers = (struct workers){.env = env, .plan = plan};
    choose_shape(workers, truth_bps);
    workers->cap_bytes = measure_cap_bytes(env, &plan->pattern, &plan->point);
    if (plan->max_bytes != 0 && plan->max_bytes < workers->cap_bytes)
        workers->cap_bytes = plan->max_bytes;
    uint64_t call_bytes = factors_largest_size_bytes(&plan->point) * workers->requests_per_call;
    if (workers->cap_bytes / workers->n < call_bytes)
        return err_set(err, -EFBIG,
                       "a run may move %" PRIu64 " bytes, which is less than one request of %" PRIu64
                       " bytes in each thread; use a smaller --request-size",
                       workers->cap_bytes, call_bytes);
    uint64_t worker_bytes = call_bytes * workers->n_calls;
    if (env->world == NULL) {
        int result = arena_reserve(env->arena, worker_bytes * workers->n, plan->seed, err);
        if (result < 0)
            return result;
    }
    atomic_init(&workers->window.n_to_open, workers->n * workers->n_calls);
    atomic_init(&workers->window.n_to_close, workers->n * workers->n_calls);
    workers->worker = calloc(workers->n, sizeof *workers->worker);
    if (workers->worker == NULL)
        return err_set(err, -ENOMEM, "no memory for %u threads", workers->n);
    target_allow_descriptors((uint64_t)workers->n_files * (workers->n + 1));
    for (uint32_t i = 0; i < workers->n; i++) {
        unsigned char *buffers = env->world == NULL ? env->arena->memory + i * worker_bytes : NULL;
        int result = open_worker(workers, i, buffers, err);
        if (result < 0)
            return result;
    }
    return 0;
}

void worker_close_queue(struct worker *worker)
{
    if (worker->io != NULL)
        worker->all->ops->close(worker->io);
    free(worker->io);
    worker->io = NULL;
}

void workers_close(struct workers *workers)
{
    for (uint32_t i = 0; workers->worker != NULL && i < workers->n; i++) {
        struct worker *worker = &workers->worker[i];
        worker_close_queue(worker);
        pump_done(&worker->pump);
        free(worker->stats.counted.latency);
        free(worker->stats.outside.latency);
        for (uint32_t file = 0; file < worker->n_open; file++)
            close(worker->fds[file]);
        free(worker->fds);
    }
    free(workers->worker);
    workers->worker = NULL;
}
