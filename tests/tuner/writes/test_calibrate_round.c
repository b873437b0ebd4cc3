/* Tests of tuner/writes/calibrate_round: how much a round writes for the kernel's own flusher. */
/* LINK: -Wl,--wrap=calibrate_cache -Wl,--wrap=calibrate_flushed -Wl,--wrap=calibrate_call */
/* LINK: -Wl,--wrap=calibrate_buffer -Wl,--wrap=calibrate_memory -Wl,--wrap=calibrate_sync */
/* LINK: -Wl,--wrap=calibrate_large -Wl,--wrap=calibrate_writeback -Wl,--wrap=calibrate_seek */
/* LINK: -Wl,--wrap=calibrate_read */
#include "tests/test.h"
#include "tuner/writes/calibrate.h"

#include <errno.h>

#define HARD     1000000.0
#define N_ROUNDS 5

static struct calibration calibration;
static const bool *waits; /* in each round */
static bool fails;        /* to see enough writes */
static uint64_t asked[N_ROUNDS];

static int give(double *ret)
{
    *ret = 1;
    return 0;
}

WRAP(int, calibrate_cache,
     (__attribute__((unused)) struct calibrate * rig, double *ret_bps, double *ret_rewrite_bps,
      __attribute__((unused)) struct err *err))
{
    *ret_rewrite_bps = 1;
    return give(ret_bps);
}

WRAP(int, calibrate_flushed,
     (__attribute__((unused)) struct calibrate * rig, uint64_t bytes,
      __attribute__((unused)) uint64_t limit_bg_bytes, uint64_t limit_hard_bytes, double *ret_bps,
      bool *ret_waited, struct err *err))
{
    assert_int_equal(limit_hard_bytes, HARD);
    asked[calibration.n_rounds] = bytes;
    *ret_waited = waits[calibration.n_rounds];
    return fails ? err_set(err, -EAGAIN, "too few") : give(ret_bps);
}

/* Every other measurement finds 1, whatever it is asked for. */
#define GIVES(name, ret, ...)                                                                                \
    WRAP(int, name,                                                                                          \
         (__attribute__((unused)) struct calibrate * rig, __VA_ARGS__,                                       \
          __attribute__((unused)) struct err * err))                                                         \
    {                                                                                                        \
        return give(ret);                                                                                    \
    }
#define OF_BYTES __attribute__((unused)) uint64_t bytes
#define OF_CALLS OF_BYTES, __attribute__((unused)) size_t n

GIVES(calibrate_call, ret_s, OF_CALLS, double *ret_s)
GIVES(calibrate_buffer, ret_s, OF_CALLS, double *ret_s)
GIVES(calibrate_sync, ret_s, OF_CALLS, double *ret_s)
GIVES(calibrate_memory, ret_bps, double *ret_bps)
GIVES(calibrate_seek, ret_s, double *ret_s)
GIVES(calibrate_writeback, ret_bps, OF_BYTES, double *ret_bps)
GIVES(calibrate_read, ret_bps, OF_BYTES, double *ret_bps)

WRAP(int, calibrate_large,
     (__attribute__((unused)) struct calibrate * rig, __attribute__((unused)) const uint64_t *sizes, size_t n,
      __attribute__((unused)) uint64_t each, double *ret_s, __attribute__((unused)) struct err *err))
{
    for (size_t i = 0; i < n; i++)
        ret_s[i] = 1;
    return 0;
}

/* Rounds where writers wait so. */
static void make_rounds(const bool waiting[N_ROUNDS])
{
    calibration = (struct calibration){.flushed_bytes = (uint64_t)(2 * HARD),
                                       .thresholds = {.background_bytes = HARD / 2, .hard_bytes = HARD}};
    for (int i = 0; i < CALIBRATE_N_CALLS; i++)
        calibration.sizes.calls_bytes[i] = 512;
    for (int i = 0; i < CALIBRATE_N_BUFFER; i++)
        calibration.sizes.buffer_bytes[i] = 64;
    waits = waiting;
    for (size_t i = 0; i < N_ROUNDS; i++)
        assert_int_equal(calibrate_round_measure(&calibration), 0);
    assert_int_equal(calibration.n_rounds, N_ROUNDS);
    assert_int_equal(asked[0], HARD);
}

/* Twice as much may come to where writers wait although the first round did not. */
TEST(rounds_after_the_first_are_alike)
{
    make_rounds((const bool[]){false, true, false, true, true});
    for (size_t i = 1; i < N_ROUNDS; i++)
        assert_int_equal(asked[i], 2 * HARD);
    make_rounds((const bool[]){true, false, true, false, false});
    for (size_t i = 1; i < N_ROUNDS; i++)
        assert_int_equal(asked[i], HARD);
}

TEST(a_first_round_with_too_few_writes_decides_too)
{
    fails = true;
    make_rounds((const bool[]){true, false, false, false, false});
    fails = false;
    assert_int_equal(asked[N_ROUNDS - 1], HARD);
    assert_true(isnan(calibration.rounds[0].series[CALIBRATE_REDUCED]));
}
