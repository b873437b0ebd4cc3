/* The threads of one run at work: when each begins, is warm, and ends. */
#include "bench/run/workers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The warm-up may take at most one part in so many of what a run may move. */
#define WARMUP_SHARE_OF_CAP 4

/* Limits of control groups turn ten times a second, and those of fast devices oftener. */
#define PAUSE_WAIT_NS 150000000ULL

/* Of each worker: every member has as many as a run must have. */
static uint64_t least_requests(const struct workers *workers)
{
    uint32_t n = workers->n / measure_n_members(workers->env);
    return (MEASURE_MIN_REQUESTS + n - 1) / n;
}

/* How long the worker has been at it: warming up, or counting; 0 before it looks at the clock again. */
static uint64_t age_ns_of(const struct pump_stats *stats)
{
    uint64_t from_ns = stats->opened_ns != 0 ? stats->opened_ns : stats->start_ns;
    return stats->last_complete_ns > from_ns ? stats->last_complete_ns - from_ns : 0;
}

static uint64_t bytes_of(const struct pump_count *count)
{
    return count->bytes_read + count->bytes_written;
}

/* Has this worker done what every run must, while all workers together stay below this rate, even if all that
 * is in flight counts as done? */
static bool is_slower_than(struct worker *worker, double bps)
{
    struct workers *workers = worker->all;
    bool opened = worker->stats.opened_ns != 0;
    const struct pump_count *count = opened ? &worker->stats.counted : &worker->stats.outside;
    uint64_t age_ns = age_ns_of(&worker->stats);
    uint64_t bytes = bytes_of(count), more = bytes - worker->told_bytes[opened];
    worker->told_bytes[opened] = bytes;
    uint64_t all = atomic_fetch_add(&workers->done_bytes[opened], more) + more;
    all += worker->pump.calls[0].size_bytes * workers->n_calls * workers->n;
    return age_ns >= MEASURE_MIN_DURATION_NS && count->n_requests >= least_requests(workers) &&
           (double)all < bps * (double)age_ns / 1e9;
}

/* A start may be slower than the rest, so that only a start that is slower by far ends the run. */
static bool starts_hopelessly(struct worker *worker)
{
    double bps = worker->all->plan->hopeless_bps;
    return bps > 0 && is_slower_than(worker, bps / 2);
}

static bool is_warm(void *context, double batch_latency_ns)
{
    struct worker *worker = context;
    struct workers *workers = worker->all;
    bool steady = warmup_add(&worker->judge, batch_latency_ns);
    if (steady && !worker->stable && age_ns_of(&worker->stats) >= workers->plan->warmup_least_ns) {
        worker->stable = true;
        atomic_fetch_add(&workers->n_stable, 1);
    }
    bool all_stable = workers->env->meet == NULL && atomic_load(&workers->n_stable) == workers->n;
    return all_stable || atomic_load(&workers->failed) != 0 || starts_hopelessly(worker);
}

/* A worker closes early when another one calls the run hopeless, but only after what every run must do. */
static bool may_end(void *context, double batch_latency_ns)
{
    (void)batch_latency_ns;
    struct worker *worker = context;
    struct workers *workers = worker->all;
    const struct pump_count *counted = &worker->stats.counted;
    double bps = workers->plan->hopeless_bps;
    if (atomic_load_explicit(&workers->failed, memory_order_relaxed) != 0)
        return true;
    uint64_t age_ns = age_ns_of(&worker->stats);
    bool opened = worker->stats.opened_ns != 0;
    if (opened && workers->plan->longest_ns != 0 && age_ns >= workers->plan->longest_ns &&
        counted->n_requests >= least_requests(workers))
        return true;
    if (!opened || bps <= 0 || age_ns >= workers->plan->duration_ns)
        return false;
    bool called = atomic_load(&workers->hopeless) != 0;
    if (!is_slower_than(worker, called ? INFINITY : bps))
        return false;
    atomic_store(&workers->hopeless, 1);
    return true;
}

/* A capped run is warm after its share of the bytes, those of the first turnover of its queues among them. */
static uint64_t warmup_cap_bytes(const struct workers *workers, const struct worker *worker)
{
    uint64_t share = workers->cap_bytes / workers->n / WARMUP_SHARE_OF_CAP;
    uint64_t turnover = worker->pump.most_call_bytes * workers->n_calls;
    return share > turnover ? share - turnover : 1;
}

/* Buffered writes that end with a flush are bounded in bytes, so that the flush is bounded in time: B of
 * interfaces, section 5. */
static uint64_t cap_bytes(const struct worker *worker)
{
    const struct workers *workers = worker->all;
    const struct measure_plan *plan = workers->plan;
    if (workers->cap_bytes == UINT64_MAX)
        return 0;
    uint64_t cap = workers->cap_bytes / workers->n;
    if (workers->env->world != NULL || !measure_writes_once(&plan->pattern, &plan->point))
        return cap;
    double flush_bps = measure_flush_bps(workers->env, plan, worker->member);
    if (flush_bps > 0) {
        double bytes = flush_bps * (double)plan->duration_ns / 1e9 / plan->point.threads;
        uint64_t least = least_requests(workers) * factors_largest_size_bytes(&plan->point);
        if (least < worker->pump.most_call_bytes)
            least = worker->pump.most_call_bytes;
        uint64_t bound = bytes < (double)least ? least : (uint64_t)bytes;
        cap = bound < cap ? bound : cap;
    }
    return cap;
}

/* The first worker that comes here says when the timed phase begins for all: they come one after the other,
 * or late, where processors are fewer than workers. */
static uint64_t common_start_ns(struct workers *workers)
{
    unsigned long long first_ns = 0, now_ns = clock_now_ns(workers->env->clock);
    return atomic_compare_exchange_strong(&workers->start_ns, &first_ns, now_ns) ? now_ns : first_ns;
}

/* Writes into the page cache count from the first one on, since the flush that ends the run is about all of
 * them. A simulated run has no flush. */
static bool counts_everything(const struct workers *workers)
{
    const struct measure_plan *plan = workers->plan;
    return plan->whole || (workers->env->world == NULL && measure_writes_once(&plan->pattern, &plan->point));
}

/* Workers take turns. */
static void set_pace(struct pace *pace, const struct worker *worker, uint64_t start_ns)
{
    const struct workers *workers = worker->all;
    const struct measure_plan *plan = workers->plan;
    uint32_t index = (uint32_t)(worker - workers->worker);
    double call_bytes = measure_request_bytes(&plan->pattern, &plan->point) * workers->requests_per_call;
    pace_init(pace, plan->rate_bps / call_bytes, index, workers->n, start_ns);
    if (plan->random_rate)
        pace_randomise(pace, rng_derive(plan->seed, 10000 + index));
}

/* An open loop has no queue that is to be full: its warm-up is a time. */
static void begin_paced(struct pump_end *end, const struct pace *pace)
{
    uint64_t quarter_ns = end->duration_ns / 4;
    end->pace = pace;
    end->window = NULL;
    if (end->warmup_limit_ns > quarter_ns)
        end->warmup_limit_ns = quarter_ns;
    end->duration_ns += end->warmup_limit_ns;
}

static void run_pump(struct worker *worker)
{
    struct workers *workers = worker->all;
    const struct measure_plan *plan = workers->plan;
    bool counts = plan->n_requests != 0, warms_up = !measure_writes_once(&plan->pattern, &plan->point);
    uint64_t least = least_requests(workers), asked = (plan->n_requests + workers->n - 1) / workers->n;
    struct pump_end end = {
        .window = counts_everything(workers) ? NULL : &workers->window,
        .warmup_limit_ns = warms_up ? plan->warmup_limit_ns : 0,
        .warmup_max_bytes = workers->cap_bytes != UINT64_MAX ? warmup_cap_bytes(workers, worker) : 0,
        .is_warm = is_warm,
        .duration_ns = counts ? MEASURE_MIN_DURATION_NS : plan->duration_ns,
        .min_requests = asked > least ? asked : least,
        .max_bytes = cap_bytes(worker),
        .pause_wait_ns = workers->env->rate_is_limited && workers->env->meet == NULL ? PAUSE_WAIT_NS : 0,
        .interrupted = workers->env->interrupted,
        .start_ns = common_start_ns(workers),
        .after_batch = may_end,
        .context = worker,
        .batches_per_stamp = counts ? 1 : PUMP_BATCHES_PER_STAMP,
    };
    struct pace pace;
    set_pace(&pace, worker, end.start_ns);
    if (pace_is_on(&pace))
        begin_paced(&end, &pace);
    worker->result = pump_phase(&worker->pump, &end, &worker->stats, &worker->err);
    if (worker->result == 0)
        return;
    /* A ring may be entered only by the thread that has submitted to it, so that it waits here for what a
     * broken queue has left in flight. */
    atomic_store(&workers->failed, 1);
    worker_close_queue(worker);
}

static void wait_for_all(struct workers *workers)
{
    if (workers->n > 1)
        pthread_barrier_wait(&workers->barrier);
}

/* Where other machines make the run, too, they are waited for, and the time at which all begin. Counters are
 * read while nobody does I/O: all workers are here, none has begun. */
static void get_ready(struct workers *workers)
{
    const struct measure_env *env = workers->env;
    uint64_t start_ns = 0;
    workers->met = env->meet != NULL ? env->meet(env->meet_context, &start_ns, &workers->meet_err) : 0;
    if (env->world == NULL)
        run_monitor_read(&workers->before, &env->device);
    if (start_ns == 0)
        return;
    atomic_store(&workers->start_ns, start_ns);
    workers->window.close_ns = start_ns + workers->plan->warmup_limit_ns + workers->plan->duration_ns;
    clock_sleep_until_ns(env->clock, start_ns);
}

static void run_worker(struct worker *worker)
{
    struct workers *workers = worker->all;
    wait_for_all(workers);
    if (worker == workers->worker)
        get_ready(workers);
    worker->cpu_before = run_monitor_cpu_now();
    wait_for_all(workers);
    if (workers->met == 0)
        run_pump(worker);
    worker->cpu_after = run_monitor_cpu_now();
}

/* Threads pass the gate only when all of them exist: a barrier would wait for ever for one that could not be
 * created. That another worker has failed by then is no reason to stay away from the barrier. */
static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    pthread_mutex_lock(&worker->all->gate);
    bool abandoned = worker->all->abandoned;
    pthread_mutex_unlock(&worker->all->gate);
    if (!abandoned)
        run_worker(worker);
    return NULL;
}

static int run_threads(struct workers *workers, pthread_t *threads, struct err *err)
{
    int result = 0;
    uint32_t n_started = 0;
    pthread_mutex_init(&workers->gate, NULL);
    pthread_mutex_lock(&workers->gate);
    while (result == 0 && n_started < workers->n) {
        result = -pthread_create(&threads[n_started], NULL, worker_main, &workers->worker[n_started]);
        if (result == 0)
            n_started++;
    }
    workers->abandoned = result < 0;
    pthread_mutex_unlock(&workers->gate);
    for (uint32_t i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&workers->gate);
    return result < 0 ? err_sys(err, result, "cannot start %u threads; lower --threads", workers->n) : 0;
}

static int run_all(struct workers *workers, struct err *err)
{
    pthread_t *threads = calloc(workers->n, sizeof *threads);
    if (threads == NULL)
        return err_set(err, -ENOMEM, "no memory for %u threads", workers->n);
    int result = -pthread_barrier_init(&workers->barrier, NULL, workers->n);
    if (result == 0) {
        result = run_threads(workers, threads, err);
        pthread_barrier_destroy(&workers->barrier);
    } else {
        err_sys(err, result, "cannot make a barrier for %u threads", workers->n);
    }
    free(threads);
    return result;
}

/* Names the file in an error of the pump, which knows only the request. */
static int explain(const struct workers *workers, const struct worker *worker, struct err *err)
{
    if (workers->env->world != NULL)
        return err_set(err, worker->result, "%s", worker->err.text);
    return err_set(err, worker->result, "%s: %s%s", measure_member(workers->env, worker->member)->name,
                   worker->err.text, err_advice(worker->result));
}

int workers_run(struct workers *workers, struct err *err)
{
    int result = 0;
    if (workers->n == 1)
        run_worker(&workers->worker[0]);
    else
        result = run_all(workers, err);
    if (workers->met < 0)
        return err_set(err, workers->met, "%s", workers->meet_err.text);
    for (uint32_t i = 0; i < workers->n && result == 0; i++) {
        if (workers->worker[i].result < 0)
            result = explain(workers, &workers->worker[i], err);
    }
    return result;
}
