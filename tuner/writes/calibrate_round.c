/* One round of a calibration: everything once. */
#include "tuner/writes/calibrate.h"

#include "bench/base/rng.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <math.h>

#define CALL_BYTES   (4ULL << 20)  /* written by calls of one size */
#define BUFFER_BYTES (64ULL << 10) /* written into a stream by calls of one size */
#define READ_BYTES   (64ULL << 20)
/* Free memory goes back 2 s after it became free, and that takes a while. */
#define TAKEN_WAIT_NS 4e9
#define TAKEN_STEP_NS 100000000
#define TOUCH_SHARE   0.15 /* of the budget, at most, to find such memory, and to wait */

/* By the kernel's own flusher where the limits are near enough. On a device where nobody had to wait in the
 * first round there is more to be seen of it than its beginning; all other rounds are then alike, whether
 * somebody waits in one of them or not. */
static int measure_reduced(struct calibration *calibration, double *ret_bps)
{
    const struct dirty_thresholds *thresholds = &calibration->thresholds;
    uint64_t hard = (uint64_t)thresholds->hard_bytes;
    bool is_first = calibration->n_rounds == 0, waited = false;
    if (calibration->flushed_bytes == 0)
        return calibrate_reduced(&calibration->rig, ret_bps, &calibration->err);
    int result = calibrate_flushed(
        &calibration->rig, is_first || calibration->waited ? hard : calibration->flushed_bytes,
        (uint64_t)thresholds->background_bytes, hard, ret_bps, &waited, &calibration->err);
    if (is_first)
        calibration->waited = waited;
    return result;
}

static int measure_cache(struct calibration *calibration, struct calibrate_round *round)
{
    struct calibrate *rig = &calibration->rig;
    struct err *err = &calibration->err;
    double bps = NAN, rewrite_bps = NAN;
    int result = calibrate_cache(rig, &bps, &rewrite_bps, err);
    round->series[CALIBRATE_CACHE] = 1 / bps;
    round->series[CALIBRATE_REWRITE] = 1 / rewrite_bps;
    if (result < 0 || calibration->in_memory)
        return result;
    result = measure_reduced(calibration, &bps);
    if (result == 0)
        round->series[CALIBRATE_REDUCED] = 1 / bps;
    return result == -EAGAIN ? 0 : result;
}

/* Costs of calls of several sizes: of all_bytes of each, or (0) of CALIBRATE_SMALL_CALLS of each. */
static int
measure_sizes(struct calibration *calibration,
              int (*measure)(struct calibrate *rig, uint64_t bytes, size_t n, double *ret_s, struct err *err),
              const double *sizes_bytes, size_t n_sizes, uint64_t all_bytes, double *costs_s, struct rng *rng)
{
    size_t order[CALIBRATE_N_CALLS];
    int result = 0;
    /* Sizes come in another order in every round, so that what drifts meets all alike. */
    rng_order(rng, order, n_sizes);
    for (size_t i = 0; i < n_sizes && result == 0; i++) {
        uint64_t bytes = (uint64_t)sizes_bytes[order[i]];
        result = measure(&calibration->rig, bytes,
                         all_bytes > 0 ? (size_t)(all_bytes / bytes) : CALIBRATE_SMALL_CALLS,
                         &costs_s[order[i]], &calibration->err);
    }
    return result;
}

static int measure_large(struct calibration *calibration, struct calibrate_round *round, struct rng *rng)
{
    size_t order[CALIBRATE_N_LARGE];
    uint64_t bytes[CALIBRATE_N_LARGE];
    double costs_s[CALIBRATE_N_LARGE];
    rng_order(rng, order, CALIBRATE_N_LARGE);
    for (size_t i = 0; i < CALIBRATE_N_LARGE; i++)
        bytes[i] = (uint64_t)calibration->sizes.large_bytes[order[i]];
    uint64_t each_bytes = (uint64_t)calibration->sizes.large_bytes[CALIBRATE_N_LARGE - 1] / 2;
    int result =
        calibrate_large(&calibration->rig, bytes, CALIBRATE_N_LARGE, each_bytes, costs_s, &calibration->err);
    for (size_t i = 0; i < CALIBRATE_N_LARGE && result == 0; i++)
        round->large_s[order[i]] = costs_s[i];
    return result;
}

static uint64_t writeback_bytes(const struct calibration *calibration)
{
    uint64_t largest = (uint64_t)calibration->sizes.large_bytes[CALIBRATE_N_LARGE - 1];
    return calibration->rig.cache_bytes < largest ? calibration->rig.cache_bytes : largest;
}

static int measure_device(struct calibration *calibration, struct calibrate_round *round, struct rng *rng)
{
    struct err *err = &calibration->err;
    double bps = NAN;
    int result = measure_sizes(calibration, calibrate_sync, calibration->sizes.small_bytes, CALIBRATE_N_SMALL,
                               0, round->small_s, rng);
    if (result == 0)
        result = measure_large(calibration, round, rng);
    if (result == 0 && !calibration->in_memory) {
        result = calibrate_writeback(&calibration->rig, writeback_bytes(calibration), &bps, err);
        round->series[CALIBRATE_WRITEBACK] = 1 / bps;
    }
    if (result == 0)
        result = calibrate_seek(&calibration->rig, &round->series[CALIBRATE_SEEK], err);
    if (result == 0)
        result = calibrate_read(&calibration->rig, READ_BYTES, &bps, err);
    round->series[CALIBRATE_READ] = 1 / bps;
    return result;
}

int calibrate_round_measure(void *context)
{
    struct calibration *calibration = context;
    struct calibrate_round *round = &calibration->rounds[calibration->n_rounds];
    struct rng rng;
    double bps = NAN;
    rng_init(&rng, rng_derive(calibration->rig.seed, 100 + calibration->n_rounds));
    for (size_t i = 0; i < CALIBRATE_N_SERIES; i++)
        round->series[i] = i == CALIBRATE_FIRST_TOUCH ? round->series[i] : NAN;
    int result = measure_cache(calibration, round);
    if (result == 0)
        result = measure_sizes(calibration, calibrate_call, calibration->sizes.calls_bytes, CALIBRATE_N_CALLS,
                               CALL_BYTES, round->calls_s, &rng);
    if (result == 0)
        result = measure_sizes(calibration, calibrate_buffer, calibration->sizes.buffer_bytes,
                               CALIBRATE_N_BUFFER, BUFFER_BYTES, round->buffer_s, &rng);
    if (result == 0)
        result = calibrate_memory(&calibration->rig, &bps, &calibration->err);
    round->series[CALIBRATE_MEMORY] = 1 / bps;
    if (result == 0)
        result = measure_device(calibration, round, &rng);
    if (result == 0)
        calibration->n_rounds++;
    return result;
}

int calibrate_round_touch(void *context)
{
    struct calibration *calibration = context;
    const struct session *session = calibration->session;
    double budget_s = (double)session->settings->limits.budget_ns / 1e9;
    uint64_t end_ns = clock_now_ns(&session->clock) + (uint64_t)(TOUCH_SHARE * budget_s * 1e9);
    int result = 0;
    for (size_t i = 0; i < CALIBRATE_MOST_ROUNDS; i++)
        calibration->rounds[i].series[CALIBRATE_FIRST_TOUCH] = NAN;
    for (size_t i = 0; i < CALIBRATE_LEAST_ROUNDS && result == 0 && clock_now_ns(&session->clock) < end_ns;
         i++) {
        double bps;
        result = calibrate_first_touch(&calibration->rig, calibration->soak_bytes, end_ns, &bps,
                                       &calibration->err);
        if (result == 0)
            calibration->rounds[i].series[CALIBRATE_FIRST_TOUCH] = 1 / bps;
        result = result == -EAGAIN ? 0 : result;
    }
    uint64_t wait_ns = (uint64_t)fmin(1e9 * TOUCH_SHARE * budget_s, TAKEN_WAIT_NS);
    for (uint64_t ns = 0; ns < wait_ns && result == 0; ns += TAKEN_STEP_NS) {
        clock_sleep_until_ns(&session->clock, clock_now_ns(&session->clock) + TAKEN_STEP_NS);
        result = atomic_load(&interrupt_signal) > 0 ? -EINTR : 0;
    }
    return result;
}
