/* What the tests of models/cawl/cawl share: a host of small round numbers, and predictions of it. */
#pragma once

#include "models/cawl/cawl.h"

#include "tests/test.h"

/* Type of a variable that frees its prediction when it goes. */
#define CAWL_RIG_PREDICTION AUTO(cawl_prediction_done) struct cawl_prediction

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

static inline struct cawl_prediction cawl_rig_predict_on(const struct cawl_host *host,
                                                         const struct cawl_options *options,
                                                         enum cawl_mode mode, const struct cawl_chunk *chunks,
                                                         size_t n)
{
    struct cawl_prediction prediction = {0};

    assert_int_equal(cawl_predict(host, options, mode, chunks, n, &prediction), 0);
    return prediction;
}

static inline struct cawl_prediction cawl_rig_predict(const struct cawl_options *options, enum cawl_mode mode,
                                                      const struct cawl_chunk *chunks, size_t n)
{
    const struct cawl_host host = cawl_rig_host();

    return cawl_rig_predict_on(&host, options, mode, chunks, n);
}

static const struct cawl_options plain_model = {0};

#define CAWL_RIG_MAX_STEPS  6
#define CAWL_RIG_AT(member) offsetof(struct cawl_host, member)

/* Chunks of file 0, up to the first without a size: what each is to cost and to leave dirty. */
struct cawl_rig_case {
    const char *name;
    struct {
        uint64_t offset, size;
        double delay, cost, dirty;
    } steps[CAWL_RIG_MAX_STEPS + 1];
    struct cawl_options options;
    struct {
        size_t at;
        double value;
    } host[3]; /* where it differs from that of the rig; up to the first at 0 */
};

static inline void cawl_rig_check_case(enum cawl_mode mode, const struct cawl_rig_case *expected)
{
    struct cawl_chunk chunks[CAWL_RIG_MAX_STEPS];
    struct cawl_host host = cawl_rig_host();
    double end = 0, total = 0;
    size_t n = 0;

    for (; expected->steps[n].size > 0; n++)
        chunks[n] = (struct cawl_chunk){0, expected->steps[n].offset, expected->steps[n].size,
                                        expected->steps[n].delay};

    for (size_t i = 0; i < N_OF(expected->host) && expected->host[i].at > 0; i++)
        memcpy((char *)&host + expected->host[i].at, &expected->host[i].value, sizeof(double));

    CAWL_RIG_PREDICTION prediction = cawl_rig_predict_on(&host, &expected->options, mode, chunks, n);

    assert_int_equal(prediction.n, n);
    for (size_t i = 0; i < n; i++) {
        double cost = expected->steps[i].cost, dirty = expected->steps[i].dirty;

        if (!(fabs(prediction.costs_s[i] - cost) <= 1e-9 && fabs(prediction.dirty_bytes[i] - dirty) <= 1e-9))
            fail_msg("%s, chunk %zu: %.10g s and %.10g bytes dirty instead of %.10g s and %.10g bytes",
                     expected->name, i, prediction.costs_s[i], prediction.dirty_bytes[i], cost, dirty);
        end += chunks[i].delay_s + cost;
        total += cost;
        assert_close(prediction.end_s[i], end, 1e-9);
    }
    assert_close(prediction.total_s, total + prediction.close_s, 1e-9);
}

static inline void cawl_rig_check_cases(enum cawl_mode mode, const struct cawl_rig_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cawl_rig_check_case(mode, &cases[i]);
}
