/* A simulated file system, made of a table, chance and a virtual clock, behind the same seam as real I/O. */
#include "bench/io/ioapi_simulator.h"

#include "bench/io/ioapi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* With constant latencies nothing is lost by completing this much of a slot's time at once. */
#define COALESCE_S 0.005
/* Eleven days: a request that takes longer must not overflow the virtual clock. */
#define MAX_WAIT_NS 1e15
/* Shorter periods do not count as bursts. */
#define LEAST_PULSE_S 1e-9

struct pending {
    uint64_t done_ns;
    uint64_t order; /* equal times complete in order of submission: the same seed gives the same bytes */
    struct io_call *call;
};

struct simulator_state {
    struct simulator_run *run;
    struct pending *heap;
    size_t n, capacity;
    uint64_t n_submitted;
    double log_std; /* of one request's latency */
    double ar_state;
};

/* Standard deviation of the logarithm of a lognormal with mean 1 and this coefficient of variation. */
static double log_std_of_cv(double cv)
{
    return sqrt(log1p(cv * cv));
}

/* Longer runs average a disturbance of correlation time tau out (interfaces, section 8). */
static double run_log_std(const struct simulator_noise *noise, double run_seconds)
{
    double std = log_std_of_cv(noise->run_cv), tau = noise->run_cv_seconds;
    if (tau <= 0 || run_seconds <= 0)
        return std;
    double length = run_seconds / tau;
    /* The difference below loses its digits for short runs, where its limit 1 - length / 3 is good. */
    if (length < 1e-6)
        return std;
    return std * sqrt(2 / length * (1 + expm1(-length) / length));
}

/* Which points have two levels is a property of the point, whatever the seed of the command. */
static bool has_two_levels(const struct simulator_noise *noise, const struct point *point)
{
    const uint64_t factors[] = {point->request_size_bytes, point->queue_depth, point->direct, point->api,
                                point->threads};
    struct rng rng;
    uint64_t hash = 0;
    if (noise->level_share <= 0)
        return false;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        hash = rng_derive(hash, factors[i]);
    if (factors_is_split(point))
        hash = rng_derive(hash, point->write_size_bytes);
    rng_init(&rng, hash);
    return rng_uniform(&rng) < noise->level_share;
}

/* Mean of a rate that is divided by `factor` with this probability. */
static double mean_of_division(double probability, double factor)
{
    return 1 - probability + probability / factor;
}

double simulator_truth_factor(const struct simulator_world *world, const struct point *point)
{
    const struct simulator_noise *noise = &world->noise;
    double factor = world->n_trace > 0 ? world->trace[world->n_trace - 1].factor : 1;
    if (noise->outlier_probability > 0)
        factor *= mean_of_division(noise->outlier_probability, noise->outlier_factor);
    if (has_two_levels(noise, point))
        factor *= mean_of_division(noise->level_probability, noise->level_factor);
    return factor;
}

void simulator_run_init(struct simulator_run *run, const struct simulator_world *world,
                        const struct point *point, double truth_bps, uint64_t duration_ns, uint64_t seed)
{
    const struct simulator_noise *noise = &world->noise;
    *world->now_ns += (uint64_t)(noise->setup_seconds * 1e9);
    run->world = world;
    run->truth_bps = truth_bps;
    run->request_size_bytes = point->request_size_bytes;
    run->largest_size_bytes = factors_largest_size_bytes(point);
    run->n_in_flight = point->queue_depth * point->threads;
    run->started_ns = *world->now_ns;
    rng_init(&run->rng, seed);
    double std = run_log_std(noise, (double)duration_ns / 1e9);
    run->run_factor = exp(std * rng_normal(&run->rng) - std * std / 2);
    if (rng_uniform(&run->rng) < noise->outlier_probability)
        run->run_factor /= noise->outlier_factor;
    /* The number is drawn only for points with two levels, so that the others' numbers do not change. */
    if (has_two_levels(noise, point) && rng_uniform(&run->rng) < noise->level_probability)
        run->run_factor /= noise->level_factor;
}

/* Seconds that one read of this run takes on average, disturbances of the moment left out. */
static double base_latency_s(const struct simulator_run *run)
{
    return (double)run->n_in_flight * (double)run->request_size_bytes / (run->truth_bps * run->run_factor);
}

uint32_t simulator_requests_per_call(const struct simulator_run *run)
{
    if (run->world->noise.op_cv > 0)
        return 1;
    double larger = (double)run->largest_size_bytes / (double)run->request_size_bytes;
    double n = COALESCE_S / (base_latency_s(run) * larger);
    return n < 1 ? 1 : n > 1e6 ? 1000000U : (uint32_t)n;
}

static double trace_factor(const struct simulator_world *world, double seconds)
{
    double factor = 1;
    for (size_t i = 0; i < world->n_trace && world->trace[i].seconds <= seconds; i++)
        factor = world->trace[i].factor;
    return factor;
}

/* What multiplies throughput at this moment: drift, trace and the run's own warm-up. */
static double moment_factor(const struct simulator_run *run)
{
    const struct simulator_noise *noise = &run->world->noise;
    uint64_t now_ns = *run->world->now_ns;
    double seconds = (double)now_ns / 1e9, factor = 1;
    if (noise->drift_per_hour != 0)
        factor *= fmax(1 + noise->drift_per_hour * seconds / 3600, 1e-3);
    if (run->world->n_trace > 0)
        factor *= trace_factor(run->world, seconds);
    if (noise->warmup_seconds > 0) {
        double age = (double)(now_ns - run->started_ns) / 1e9;
        factor *= 1 + (noise->warmup_factor - 1) * exp(-3 * age / noise->warmup_seconds);
    }
    return factor;
}

static int simulator_probe(struct err *err)
{
    (void)err;
    return 0;
}

static int simulator_open(void *memory, const struct ioapi_config *config, struct err *err)
{
    struct simulator_state *state = memory;
    *state = (struct simulator_state){.run = config->simulator, .capacity = config->n_calls};
    state->heap = calloc(config->n_calls, sizeof *state->heap);
    if (state->heap == NULL)
        return err_set(err, -ENOMEM, "no memory for %u simulated requests in flight", config->n_calls);
    state->log_std = log_std_of_cv(config->simulator->world->noise.op_cv);
    state->ar_state = rng_normal(&config->simulator->rng);
    return 0;
}

static double latency_noise(struct simulator_state *state)
{
    if (state->log_std <= 0)
        return 1;
    double rho = state->run->world->noise.op_ar1;
    double fresh = rng_normal(&state->run->rng);
    state->ar_state = rho > 0 ? rho * state->ar_state + sqrt(1 - rho * rho) * fresh : fresh;
    return exp(state->log_std * state->ar_state - state->log_std * state->log_std / 2);
}

static int before(const struct pending *a, const struct pending *b)
{
    return a->done_ns != b->done_ns ? a->done_ns < b->done_ns : a->order < b->order;
}

static void heap_push(struct simulator_state *state, struct pending item)
{
    size_t i = state->n++;
    for (; i > 0 && before(&item, &state->heap[(i - 1) / 2]); i = (i - 1) / 2)
        state->heap[i] = state->heap[(i - 1) / 2];
    state->heap[i] = item;
}

static struct io_call *heap_pop(struct simulator_state *state)
{
    struct io_call *top = state->heap[0].call;
    struct pending item = state->heap[--state->n];
    size_t i = 0;
    for (size_t child = 1; child < state->n; child = 2 * i + 1) {
        if (child + 1 < state->n && before(&state->heap[child + 1], &state->heap[child]))
            child++;
        if (!before(&state->heap[child], &item))
            break;
        state->heap[i] = state->heap[child];
        i = child;
    }
    state->heap[i] = item;
    return top;
}

/* A request takes time in proportion to its size, so that the throughput is the table's whatever is drawn. */
static double size_factor(const struct simulator_run *run, const struct io_call *call)
{
    return (double)call->size_bytes / (double)(call->n_requests * run->request_size_bytes);
}

/* Where bytes move only in the first share of each period since the run began, and faster there: the time at
 * which something ends that takes wait_ns at the table's rate. */
static uint64_t through_pulses(const struct simulator_run *run, uint64_t wait_ns)
{
    const struct simulator_noise *noise = &run->world->noise;
    double period_ns = noise->pulse_seconds * 1e9, burst_ns = period_ns * noise->pulse_share;
    uint64_t age_ns = *run->world->now_ns - run->started_ns;
    double phase_ns = fmod((double)age_ns, period_ns), left_ns = (double)wait_ns * noise->pulse_share;
    double rest_ns = fmax(burst_ns - phase_ns, 0);
    if (left_ns <= rest_ns)
        return (uint64_t)left_ns + 1;
    left_ns -= rest_ns;
    double periods = floor(left_ns / burst_ns);
    return (uint64_t)(period_ns - phase_ns + periods * period_ns + left_ns - periods * burst_ns) + 1;
}

static int simulator_submit(void *memory, struct io_call *const *calls, size_t n, size_t *ret_n,
                            struct err *err)
{
    struct simulator_state *state = memory;
    if (state->n + n > state->capacity)
        return err_set(err, -EBUSY, "more simulated requests in flight than the queue depth");
    double latency_ns = base_latency_s(state->run) / moment_factor(state->run) * 1e9;
    for (size_t i = 0; i < n; i++) {
        double call_ns =
            latency_ns * calls[i]->n_rounds * size_factor(state->run, calls[i]) * latency_noise(state);
        uint64_t wait_ns = call_ns < 1 ? 1 : (uint64_t)(fmin(call_ns, MAX_WAIT_NS) + 0.5);
        if (state->run->world->noise.pulse_seconds >= LEAST_PULSE_S)
            wait_ns = through_pulses(state->run, wait_ns);
        heap_push(state,
                  (struct pending){*state->run->world->now_ns + wait_ns, state->n_submitted++, calls[i]});
    }
    *ret_n = n;
    return 0;
}

static int simulator_reap(void *memory, struct io_call **calls, size_t max, uint64_t until_ns, size_t *ret_n,
                          struct err *err)
{
    struct simulator_state *state = memory;
    if (state->n == 0)
        return err_set(err, -ENODATA, "no simulated request is in flight");
    uint64_t *now_ns = state->run->world->now_ns;
    uint64_t next_ns = state->heap[0].done_ns < until_ns ? state->heap[0].done_ns : until_ns;
    if (*now_ns < next_ns)
        *now_ns = next_ns;
    size_t n = 0;
    while (n < max && state->n > 0 && state->heap[0].done_ns <= *now_ns) {
        calls[n] = heap_pop(state);
        calls[n]->result = (int64_t)calls[n]->size_bytes;
        n++;
    }
    *ret_n = n;
    return 0;
}

static void simulator_close(void *memory)
{
    struct simulator_state *state = memory;
    free(state->heap);
    *state = (struct simulator_state){0};
}

const struct ioapi_ops ioapi_simulator = {
    .name = "surface",
    .api = API_N,
    .state_size = sizeof(struct simulator_state),
    .probe = simulator_probe,
    .open = simulator_open,
    .submit = simulator_submit,
    .reap = simulator_reap,
    .close = simulator_close,
};
