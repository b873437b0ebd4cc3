/* models/cawl/cawl_nosync: algorithm 1 in cases calculated by hand, and the options. */

#include "tests/models/cawl/cawl_rig.h"

static const struct cawl_options piecewise = {.piecewise = true};

TEST(the_states_follow_dirty_memory)
{
    const struct cawl_chunk chunks[] = {{0, 0, 100, 0},   {0, 100, 100, 0}, {0, 200, 100, 0},
                                        {0, 300, 100, 0}, {0, 400, 100, 0}, {0, 500, 100, 0}};

    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&plain_model, CAWL_NOSYNC, chunks, 6);

    assert_int_equal(prediction.n_changes, 3);
    assert_int_equal(prediction.changes[0].run, CAWL_FREE_RUN);
    assert_int_equal(prediction.changes[1].run, CAWL_ASYNC_RUN);
    assert_int_equal(prediction.changes[1].chunk, 3);
    assert_int_equal(prediction.changes[1].written_bytes, 300);
    assert_close(prediction.changes[1].at_s, 4.5, 1e-12);
    assert_int_equal(prediction.changes[2].run, CAWL_THROTTLE_RUN);
    assert_close(prediction.changes[2].at_s, 7, 1e-12);
}

TEST(a_lasting_load_runs_at_the_device)
{
    enum { N = 4000 };
    AUTO(auto_free) struct cawl_chunk *chunks = malloc(N * sizeof(*chunks));

    for (int variant = 0; variant < 4; variant++) {
        struct cawl_options options = {.piecewise = variant & 1, .balanced = variant & 2};

        for (size_t i = 0; i < N; i++)
            chunks[i] =
                (struct cawl_chunk){0, i * (uint64_t)(10 + 40 * variant), 10 + 40 * (uint64_t)variant, 0};

        CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&options, CAWL_NOSYNC, chunks, N);
        double seconds = prediction.end_s[N - 1] - prediction.end_s[N / 2 - 1];

        assert_close(N / 2 * (double)chunks[0].size_bytes / seconds, 10, 0.2);
    }
}

TEST(states_that_swing_about_a_border_are_told_once)
{
    enum { N = 2000 };
    struct cawl_chunk chunks[N];

    for (size_t i = 0; i < N; i++)
        chunks[i] = (struct cawl_chunk){0, 4096 * i, 4096, 0};

    struct cawl_host host = cawl_rig_host();

    host.bw_ramdisk_bps = 4e9;
    host.bw_reduced_bps = 2e9;
    host.bw_dev_bps = 5e8;
    host.sc_w_s = 2e-6;
    host.limit_bg_bytes = 5e5;
    host.limit_hard_bytes = 1e6;
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict_on(&host, &plain_model, CAWL_NOSYNC, chunks, N);
    assert_int_equal(prediction.n_changes, 3);
}

TEST(a_burst_that_was_flushed_begins_again_in_free_run)
{
    const struct cawl_chunk chunks[] = {{0, 0, 300, 0}, {0, 300, 10, 0}, {0, 310, 10, 60}};
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&plain_model, CAWL_NOSYNC, chunks, 3);

    assert_int_equal(prediction.changes[prediction.n_changes - 1].run, CAWL_FREE_RUN);
    assert_int_equal(prediction.changes[prediction.n_changes - 1].chunk, 2);
}

TEST(piecewise_the_rate_changes_inside_a_chunk)
{
    /* Up to limit_bg at 100; then dirty grows by 40 a second (50 - 10), 50 bytes up to 240 at the end: the
     * parts differ in how the flusher's bytes are rounded. */
    const struct cawl_chunk chunk = {0, 0, 250, 0};
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&piecewise, CAWL_NOSYNC, &chunk, 1);

    assert_close(prediction.costs_s[0], 0.5 + 2 + 1, 1e-9);
    assert_close(prediction.dirty_bytes[0], 240, 1);
    assert_int_equal(prediction.n_changes, 2);
    assert_int_equal(prediction.changes[1].written_bytes, 200);
    assert_close(prediction.changes[1].at_s, 2.5, 1e-9);
}

TEST(piecewise_small_chunks_cost_what_they_cost_in_the_plain_model)
{
    enum { N = 30 };
    struct cawl_chunk chunks[N];

    for (size_t i = 0; i < N; i++)
        chunks[i] = (struct cawl_chunk){0, 5 * i, 5, 0.1};

    CAWL_RIG_PREDICTION a = cawl_rig_predict(&plain_model, CAWL_NOSYNC, chunks, N);
    CAWL_RIG_PREDICTION b = cawl_rig_predict(&piecewise, CAWL_NOSYNC, chunks, N);

    for (size_t i = 0; i < N; i++)
        assert_close(a.costs_s[i], b.costs_s[i], 1e-9);
}

TEST(balanced_writers_wait_from_the_setpoint_on_at_twice_the_device)
{
    struct cawl_host host = cawl_rig_host();
    const struct cawl_options options = {.balanced = true};
    const struct cawl_chunk chunks[] = {{0, 0, 50, 0},   {0, 50, 50, 0},  {0, 100, 50, 0}, {0, 150, 50, 0},
                                        {0, 200, 50, 0}, {0, 250, 80, 0}, {0, 330, 10, 0}};

    host.sc_w_s = 0;
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict_on(&host, &options, CAWL_NOSYNC, chunks, 7);

    double dirty = prediction.dirty_bytes[5], pos_ratio = 1 + pow((350 - dirty) / 50, 3);

    assert_int_equal(prediction.changes[2].chunk, 6);
    assert_true(dirty >= 300 && dirty < 305);
    assert_close(prediction.costs_s[6], 10 / fmin(50, 10 * pos_ratio), 1e-9);
}

/* Options that only change numbers of the host are compared with such a host. */
static void check_alike(const struct cawl_options *options, const struct cawl_host *host)
{
    struct cawl_chunk chunks[40];
    struct cawl_prediction a, b;

    for (size_t i = 0; i < 40; i++)
        chunks[i] = (struct cawl_chunk){0, i * 7, 10, (double)(i % 4)};
    a = cawl_rig_predict(options, CAWL_NOSYNC, chunks, 40);
    assert_int_equal(cawl_predict(host, &plain_model, CAWL_NOSYNC, chunks, 40, &b), 0);
    for (size_t i = 0; i < 40; i++) {
        assert_close(a.costs_s[i], b.costs_s[i], 1e-9);
        assert_close(a.dirty_bytes[i], b.dirty_bytes[i], 1);
    }
    cawl_prediction_done(&a);
    cawl_prediction_done(&b);
}

TEST(writers_and_shares_divide_limits_and_device)
{
    struct cawl_host host = cawl_rig_host();

    host.limit_bg_bytes = 50;
    host.limit_hard_bytes = 100;
    check_alike(&(struct cawl_options){.limit_share = 0.25}, &host);
    host.bw_dev_bps = 2.5;
    check_alike(&(struct cawl_options){.n_writers = 4}, &host);
    check_alike(&(struct cawl_options){.n_writers = 2, .limit_share = 0.5, .allocation_bps = 10}, &host);

    host = cawl_rig_host();
    host.bw_dev_bps = 5;
    check_alike(&(struct cawl_options){.allocation_bps = 10}, &host);
}

static const struct cawl_rig_case cases[] = {
    {"the states follow dirty memory",
     .steps = {{0, 100, 0, 1.5, 100},        /* free_run */
               {100, 100, 0, 1.5, 200 - 15}, /* at limit_bg the flusher works */
               {200, 100, 0, 1.5, 285 - 15}, /* still free_run: 185 before */
               {300, 100, 0, 2.5, 370 - 25}, /* async_run */
               {400, 100, 0, 2.5, 445 - 25}, /* throttle_run, bw_avg x pos_ratio = 51.9 > bw_reduced */
               {500, 100, 0, 14.5,
                520 - 145}}}, /* limit_hard: 120 bytes of flushing, then as at the setpoint */
    /* Of 16.1 bytes that the flusher writes in the fourth 16 are whole. */
    {"a throttled writer has its average rate times pos_ratio",
     {{0, 100, 0, 1.5, 100},
      {100, 100, 0, 1.5, 200 - 15},
      {200, 100, 0, 1.5, 285 - 15},
      {300, 100, 0, 0.5 + 100.0 / 90, 370 - 16},
      {400, 40, 0, 0.5 + 40 / (400 / (5 + 100.0 / 90) * (1 - 0.54 * 0.54 * 0.54)), 394 - 12}},
     .host = {{CAWL_RIG_AT(bw_reduced_bps), 90}}},
    /* The flusher is so slow that dirty is exactly 300. */
    {"the setpoint itself throttles at the average rate",
     {{0, 100, 0, 2, 100},
      {100, 100, 0, 2, 200},
      {200, 100, 0, 1 + 100.0 / 99, 300},
      {300, 10, 0, 1 + 10 / (300 / (5 + 100.0 / 99)), 310}},
     .host = {{CAWL_RIG_AT(sc_w_s), 1}, {CAWL_RIG_AT(bw_dev_bps), 1e-3}, {CAWL_RIG_AT(bw_reduced_bps), 99}}},
    {"dirty at limit_bg is async",
     {{0, 200, 0, 2.5, 200}, {200, 10, 0, 0.5 + 0.2, 210}},
     .host = {{CAWL_RIG_AT(bw_dev_bps), 1e-3}, {CAWL_RIG_AT(limit_hard_bytes), 500}}},
    {"dirty below limit_bg is not",
     {{0, 200, 0, 2.5, 200}, {200, 10, 0, 0.5 + 0.1, 210}},
     .host = {{CAWL_RIG_AT(bw_dev_bps), 1e-3},
              {CAWL_RIG_AT(limit_bg_bytes), 201},
              {CAWL_RIG_AT(limit_hard_bytes), 500}}},
    {"all of a small call is small",
     {{0, 16384, 0, 0.5 + 819.2, 16384}},
     .options = {.small_calls = true},
     .host = {{CAWL_RIG_AT(limit_bg_bytes), 1e6}, {CAWL_RIG_AT(limit_hard_bytes), 2e6}}},
    {"only the beginning of a call is small",
     {{0, 20000, 0, 0.5 + 819.2 + 36.16, 20000}},
     .options = {.small_calls = true},
     .host = {{CAWL_RIG_AT(limit_bg_bytes), 1e6}, {CAWL_RIG_AT(limit_hard_bytes), 2e6}}},
    {"no small call is faster than bw_ramdisk",
     {{0, 20000, 0, 0.5 + 200, 20000}},
     .options = {.small_calls = true},
     .host = {{CAWL_RIG_AT(limit_bg_bytes), 1e6},
              {CAWL_RIG_AT(limit_hard_bytes), 2e6},
              {CAWL_RIG_AT(bw_page_bps), 200}}},
    {"expired blocks are written back below limit_bg",
     .steps = {{0, 100, 0, 1.5, 100}, {100, 1, 40, 0.51, 1}}},
    {"the flusher is at work on an expired block",
     .steps = {{0, 100, 0, 1.5, 100}, {100, 1, 29.5, 0.51, 101 - 5}}},
    {"a block expires between two chunks",
     .steps = {{0, 100, 0, 1.5, 100},
               {100, 1, 29, 0.51, 101},  /* over at 31.01 s: 29.51 s old */
               {101, 50, 1, 1.5, 126}}}, /* at 32.01 s: expired, 10 written in the delay; 15 async */
    {"overlap on the left is dirty once", .steps = {{100, 50, 0, 1, 50}, {75, 50, 0, 1, 75}}},
    {"overlap on the right is dirty once", .steps = {{100, 50, 0, 1, 50}, {125, 50, 0, 1, 75}}},
    {"overlap inside is dirty once", .steps = {{100, 50, 0, 1, 50}, {110, 10, 0, 0.6, 50}}},
    {"the same bytes are dirty once",
     .steps = {{100, 50, 0, 1, 50}, {100, 50, 0, 1, 50}, {100, 50, 0, 1, 50}}},
    {"inactive blocks go first",
     .steps = {{0, 100, 0, 1.5, 100},
               {0, 100, 0, 1.5, 100},         /* active */
               {100, 100, 0, 1.5, 200 - 15},  /* the new block goes, [100, 115) */
               {0, 100, 0, 1.5, 185},         /* so all of this is still dirty; below limit_bg */
               {100, 15, 0, 0.65, 200 - 6}}}, /* and this is not: dirty grows; 6.5 written */
    /* 100 free (1.5 s), 100 free and 10 flushed, 100 free (dirty 190 before) and 10 flushed, 100 async and 20
     * flushed, 100 throttled at min(bw_avg x pos_ratio, 50): 2 s and 20 flushed. */
    {"a chunk larger than the room is taken in parts",
     .steps = {{0, 500, 0, 1.5 + 1 + 1 + 2 + 2, 500 - 10 - 10 - 20 - 20}}},
    {"rewritten bytes that are dirty have a rate of their own in every state",
     {{0, 100, 0, 0.5 + 1, 100},
      {50, 100, 0, 0.5 + 0.05 + 0.5, 150}, /* half of it dirty */
      {150, 200, 0, 0.5 + 1 + 2, 315},     /* in two parts, up to throttle_run */
      {250, 100, 0, 0.5 + 0.1, 315 - 6},   /* nothing new: nobody waits */
      {250, 100, 60, 0.5 + 1, 100}},       /* written back meanwhile: as new */
     .options = {.rewrites = true}},
    {"the flusher writes at the rate of the kernel",
     {{0, 100, 0, 1.5, 100}, {100, 100, 0, 1.5, 200 - 60}},
     .options = {.writeback = true}},
    /* Limits and rate of one of two: in parts of 50, of which the second comes to limit_bg. */
    {"two share the rate of the kernel",
     {{0, 100, 0, 1.5, 100 - 10}},
     .options = {.writeback = true, .n_writers = 2}},
    /* 1/20 instead of 1/100 for what is new. */
    {"small calls pay for their pages",
     {{0, 50, 0, 0.5 + 2.5, 50}, {0, 50, 0, 0.5 + 2.5, 50}},
     .options = {.small_calls = true}},
    {"small calls pay for pages that are not dirty",
     {{0, 50, 0, 0.5 + 2.5, 50}, {0, 60, 0, 0.5 + 0.05 + 10 * 0.05, 60}},
     .options = {.small_calls = true, .rewrites = true}},
    /* Written at 1.5, expired at 31.5, so 5 of the 35 s are used; the second chunk finds an expired block. */
    {"piecewise the flusher begins when a block expires",
     {{0, 100, 0, 1.5, 100}, {100, 10, 35, 0.7, 60 - 7}},
     .options = {.piecewise = true}},
    {"the plain flusher uses all of the delay", .steps = {{0, 100, 0, 1.5, 100}, {100, 10, 35, 0.6, 10}}},
    /* Expired at 30.8 and 34.6, written by 33.8 and 37.6; the third chunk comes at 39.6. */
    {"piecewise time passes while the flusher works",
     {{0, 30, 0, 0.8, 30}, {30, 30, 3, 0.8, 60}, {60, 1, 35, 0.51, 1}},
     .options = {.piecewise = true}},
    {"expired blocks wait for the writeback interval",
     {{0, 100, 0, 1.5, 100}, {100, 1, 32, 0.51, 101}},
     .options = {.writeback_interval_s = 5}},
    {"piecewise they wait for the writeback interval too",
     {{0, 100, 0, 1.5, 100}, {100, 1, 32, 0.51, 101}},
     .options = {.writeback_interval_s = 5, .piecewise = true}},
    /* The tick is at 35, the second chunk at 37.5. */
    {"expired blocks go with the writeback interval",
     {{0, 100, 0, 1.5, 100}, {100, 10, 36, 0.7, 85 - 7}},
     .options = {.writeback_interval_s = 5, .piecewise = true}},
    {"first touch holds for bytes that are not cached",
     {{0, 100, 0, 0.5 + 10, 100},
      {0, 100, 0, 0.5 + 1, 100},
      {50, 100, 0, 0.5 + 5 + 0.5, 150},
      {0, 150, 60, 0.5 + 1.5, 150}}, /* written back, but still in the cache */
     .options = {.first_touch = true}},
    /* 2 s at 40 use all 60 bytes of credit (40 - 10 a second), then 10 a second. */
    {"credit makes the flusher faster while it lasts",
     {{0, 150, 0, 2, 150}, {150, 100, 0, 1.5, 250 - 60}, {250, 40, 0, 0.9, 230 - 20 - 4}},
     .options = {.burst_bytes = 60, .burst_bps = 40}},
};

TEST(costs_and_dirty_bytes_are_those_calculated_by_hand)
{
    cawl_rig_check_cases(CAWL_NOSYNC, cases, N_OF(cases));
}
