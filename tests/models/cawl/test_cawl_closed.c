/* models/cawl/cawl_closed: equations 2 and 3 and SimGrid's, by hand and against their sums. */
#include "models/cawl/cawl.h"

#include "tests/models/cawl/cawl_rig.h"
#include "tests/models/rng.h"

static const struct cawl_options plain_model = {0};

TEST(direct_pays_for_calls_seeks_and_the_device)
{
    const struct cawl_rig_step steps[] = {
        {500, 100, 0, 2 + 10, 0}, /* the first of a file is not random */
        {600, 1, 4, 2 + 0.1, 0},  /* sequential; a delay costs nothing */
        {602, 10, 0, 2 + 3 + 1, 0},
        {602, 10, 0, 2 + 3 + 1, 0},
    };

    CAWL_RIG_CHECK(&plain_model, CAWL_DIRECT, steps);
}

TEST(sync_pays_for_the_copy_and_for_what_is_left_of_a_block)
{
    /* bs is 16: read at 20, written at 10 a second. */
    const struct cawl_rig_step steps[] = {
        {0, 160, 0, 2 + 1.6 + 16, 0},
        {160, 170, 0, 2 + 1.7 + 16 + 0.8 + 1.6, 0},
        {330, 3, 0, 2 + 0.03 + 0.8 + 1.6, 0},
        {0, 16, 0, 2 + 3 + 0.16 + 1.6, 0},
    };

    CAWL_RIG_CHECK(&plain_model, CAWL_SYNC, steps);
}

TEST(sync_writes_back_at_the_rate_of_the_kernel)
{
    const struct cawl_options options = {.writeback = true};
    const struct cawl_options both = {.writeback = true, .allocation_bps = 40};
    const struct cawl_rig_step sync[] = {{0, 160, 0, 2 + 1.6 + 4, 0},
                                         {160, 170, 0, 2 + 1.7 + 4 + 0.8 + 0.4, 0}};
    const struct cawl_rig_step late[] = {{0, 160, 0, 2 + 1.6 + 4 + 4, 0}};
    const struct cawl_rig_step direct[] = {{0, 160, 0, 2 + 16, 0}};
    const struct cawl_rig_step naive[] = {{0, 160, 0, 16, 0}};

    CAWL_RIG_CHECK(&options, CAWL_SYNC, sync);
    CAWL_RIG_CHECK(&both, CAWL_SYNC, late);
    CAWL_RIG_CHECK(&options, CAWL_DIRECT, direct);
    CAWL_RIG_CHECK(&options, CAWL_NAIVE, naive);
}

TEST(naive_knows_only_the_device)
{
    const struct cawl_options credit = {.burst_bytes = 100, .burst_bps = 50};
    const struct cawl_rig_step steps[] = {{0, 100, 3, 10, 0}, {700, 5, 0, 0.5, 0}};

    CAWL_RIG_CHECK(&plain_model, CAWL_NAIVE, steps);
    CAWL_RIG_CHECK(&credit, CAWL_NAIVE, steps);
}

TEST(a_chunk_is_random_by_the_chunk_before_it_in_its_file)
{
    const struct cawl_chunk chunks[] = {{7, 0, 10, 0},    {3, 1000, 10, 0}, {7, 10, 10, 0},
                                        {3, 1010, 10, 0}, {3, 20, 10, 0},   {7, 0, 10, 0}};
    const double expected[] = {3, 3, 3, 3, 6, 6};
    AUTO(cawl_prediction_done)
    struct cawl_prediction prediction = cawl_rig_predict(&plain_model, CAWL_DIRECT, chunks, 6);

    for (size_t i = 0; i < 6; i++)
        assert_close(prediction.costs_s[i], expected[i], 1e-12);
}

TEST(costs_add_up_to_the_equations)
{
    enum { N = 500 };
    gsl_rng_set(rng, 0);
    struct cawl_host host = cawl_rig_host();
    struct cawl_chunk chunks[N];
    double size = 0, fit = 0, n_rem = 0;

    for (size_t i = 0; i < N; i++) {
        uint64_t bytes = 1 + gsl_rng_uniform_int(rng, 300);

        chunks[i] = (struct cawl_chunk){0, 10000 * (uint64_t)i, bytes, 0};
        size += (double)bytes;
        fit += (double)(bytes - bytes % 16);
        n_rem += bytes % 16 != 0;
    }

    AUTO(cawl_prediction_done)
    struct cawl_prediction direct = cawl_rig_predict(&plain_model, CAWL_DIRECT, chunks, N);
    AUTO(cawl_prediction_done)
    struct cawl_prediction sync = cawl_rig_predict(&plain_model, CAWL_SYNC, chunks, N);

    assert_close(direct.total_s, host.sc_sw_s * N + host.c_sk_s * (N - 1) + size / host.bw_dev_bps, 1e-6);
    assert_close(sync.total_s,
                 host.sc_sw_s * N + host.c_sk_s * (N - 1) + size / host.bw_ramdisk_bps +
                     fit / host.bw_dev_bps +
                     n_rem * (host.bs_bytes / host.bw_rdev_bps + host.bs_bytes / host.bw_dev_bps),
                 1e-6);
    assert_int_equal(direct.n_changes, 0);
}

TEST(parts_of_a_split_request_cost_extra)
{
    const struct cawl_options options = {.max_request_bytes = 32, .split_s = 0.25};
    const struct cawl_rig_step direct[] = {
        {0, 32, 0, 2 + 3.2, 0}, {32, 33, 0, 2 + 3.3 + 0.25, 0}, {65, 100, 0, 2 + 10 + 0.75, 0}};
    const struct cawl_rig_step sync[] = {{0, 64, 0, 2 + 0.64 + 6.4 + 0.25, 0}};

    CAWL_RIG_CHECK(&options, CAWL_DIRECT, direct);
    CAWL_RIG_CHECK(&options, CAWL_SYNC, sync);
}

TEST(credit_is_used_up_and_comes_back)
{
    struct cawl_host host = cawl_rig_host();
    const struct cawl_options options = {.burst_bytes = 60, .burst_bps = 40};
    /* 80 bytes in 2 s use the credit up. Then 10 a second; 3 s idle bring back 30: 1 s at 40. */
    const struct cawl_chunk chunks[] = {{0, 0, 80, 0}, {0, 80, 50, 0}, {0, 130, 50, 3}, {0, 180, 40, 1e6}};
    const double expected[] = {2, 5, 1 + 1, 1};
    AUTO(cawl_prediction_done) struct cawl_prediction prediction;

    host.sc_sw_s = 0;
    assert_int_equal(cawl_predict(&host, &options, CAWL_DIRECT, chunks, 4, &prediction), 0);
    for (size_t i = 0; i < 4; i++)
        assert_close(prediction.costs_s[i], expected[i], 1e-12);
}

TEST(sync_writes_touch_and_allocate_too)
{
    const struct cawl_options both = {.allocation_bps = 10, .first_touch = true};
    const struct cawl_rig_step touch[] = {{0, 32, 0, 2 + 3.2 + 3.2, 0},
                                          {16, 32, 0, 2 + 3 + 0.16 + 1.6 + 3.2, 0}};
    const struct cawl_rig_step late[] = {{0, 32, 0, 2 + 0.32 + 6.4, 0}};
    const struct cawl_rig_step direct[] = {{0, 32, 0, 2 + 3.2, 0}};

    CAWL_RIG_CHECK(&(struct cawl_options){.first_touch = true}, CAWL_SYNC, touch);
    CAWL_RIG_CHECK(&(struct cawl_options){.allocation_bps = 10}, CAWL_SYNC, late);
    CAWL_RIG_CHECK(&both, CAWL_DIRECT, direct);
}

TEST(synchronous_writers_share_the_device)
{
    const struct cawl_rig_step steps[] = {{0, 100, 0, 2 + 20, 0}};

    CAWL_RIG_CHECK(&(struct cawl_options){.n_writers = 2}, CAWL_DIRECT, steps);
}
