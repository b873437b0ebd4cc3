/* What the tests of models/cawl/cawl share: a host of small round numbers, and predictions of it. */
#pragma once

#include "models/cawl/cawl.h"

#include "tests/test.h"

/* Bytes and seconds, as if both were large. */
static inline struct cawl_host cawl_rig_host(void)
{
    return (struct cawl_host){.bw_mem_bps = 1000,
                              .bw_ramdisk_bps = 100,
                              .bw_ramdisk_first_touch_bps = 10,
                              .bw_reduced_bps = 50,
                              .bw_rewrite_bps = 1000,
                              .bw_dev_bps = 10,
                              .bw_rdev_bps = 20,
                              .bw_writeback_bps = 40,
                              .bw_page_bps = 20,
                              .bw_buffer_bps = 500,
                              .sc_w_s = 0.5,
                              .sc_sw_s = 2,
                              .sc_f_s = 0.25,
                              .c_sk_s = 3,
                              .bs_bytes = 16,
                              .bf_bytes = 100,
                              .limit_bg_bytes = 200,
                              .limit_hard_bytes = 400,
                              .dirty_expire_s = 30};
}

static inline struct cawl_prediction cawl_rig_predict(const struct cawl_options *options, enum cawl_mode mode,
                                                      const struct cawl_chunk *chunks, size_t n)
{
    struct cawl_host host = cawl_rig_host();
    struct cawl_prediction prediction = {0};

    assert_int_equal(cawl_predict(&host, options, mode, chunks, n, &prediction), 0);
    return prediction;
}

/* A chunk of file 0 that is to cost so much and to leave so much dirty. */
struct cawl_rig_step {
    uint64_t offset, size;
    double delay, cost, dirty;
};

#define CAWL_RIG_MAX_STEPS 16

static inline void cawl_rig_check(const struct cawl_options *options, enum cawl_mode mode,
                                  const struct cawl_rig_step *steps, size_t n)
{
    struct cawl_chunk chunks[CAWL_RIG_MAX_STEPS];
    double end = 0, total = 0;

    assert_true(n <= CAWL_RIG_MAX_STEPS);
    for (size_t i = 0; i < n; i++)
        chunks[i] = (struct cawl_chunk){0, steps[i].offset, steps[i].size, steps[i].delay};

    AUTO(cawl_prediction_done) struct cawl_prediction prediction = cawl_rig_predict(options, mode, chunks, n);

    assert_int_equal(prediction.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_close(prediction.costs_s[i], steps[i].cost, 1e-9);
        assert_close(prediction.dirty_bytes[i], steps[i].dirty, 1e-9);
        end += steps[i].delay + steps[i].cost;
        total += steps[i].cost;
        assert_close(prediction.end_s[i], end, 1e-9);
    }
    assert_close(prediction.total_s, total + prediction.close_s, 1e-9);
}

#define CAWL_RIG_CHECK(options, mode, steps)                                                                 \
    cawl_rig_check((options), (mode), (steps), sizeof(steps) / sizeof(*(steps)))
