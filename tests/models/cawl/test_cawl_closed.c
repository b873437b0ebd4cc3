/* models/cawl/cawl_closed: equations 2 and 3 and SimGrid's, by hand and against their sums. */

#include "tests/models/cawl/cawl_rig.h"
#include "tests/models/rng.h"

TEST(a_chunk_is_random_by_the_chunk_before_it_in_its_file)
{
    const struct cawl_chunk chunks[] = {{7, 0, 10, 0},    {3, 1000, 10, 0}, {7, 10, 10, 0},
                                        {3, 1010, 10, 0}, {3, 20, 10, 0},   {7, 0, 10, 0}};
    const double expected[] = {3, 3, 3, 3, 6, 6};
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&plain_model, CAWL_DIRECT, chunks, 6);

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

    CAWL_RIG_PREDICTION direct = cawl_rig_predict(&plain_model, CAWL_DIRECT, chunks, N);
    CAWL_RIG_PREDICTION sync = cawl_rig_predict(&plain_model, CAWL_SYNC, chunks, N);

    assert_close(direct.total_s, host.sc_sw_s * N + host.c_sk_s * (N - 1) + size / host.bw_dev_bps, 1e-6);
    assert_close(sync.total_s,
                 host.sc_sw_s * N + host.c_sk_s * (N - 1) + size / host.bw_ramdisk_bps +
                     fit / host.bw_dev_bps +
                     n_rem * (host.bs_bytes / host.bw_rdev_bps + host.bs_bytes / host.bw_dev_bps),
                 1e-6);
    assert_int_equal(direct.n_changes, 0);
}

static const struct cawl_rig_case direct_cases[] = {
    {"direct pays for calls, seeks and the device",
     .steps = {{500, 100, 0, 2 + 10, 0}, /* the first of a file is not random */
               {600, 1, 4, 2 + 0.1, 0},  /* sequential; a delay costs nothing */
               {602, 10, 0, 2 + 3 + 1, 0},
               {602, 10, 0, 2 + 3 + 1, 0}}},
    {"direct does not write back", {{0, 160, 0, 2 + 16, 0}}, .options = {.writeback = true}},
    {"parts of a split direct request cost extra",
     {{0, 32, 0, 2 + 3.2, 0}, {32, 33, 0, 2 + 3.3 + 0.25, 0}, {65, 100, 0, 2 + 10 + 0.75, 0}},
     .options = {.max_request_bytes = 32, .split_s = 0.25}},
    {"direct writes neither touch nor allocate",
     {{0, 32, 0, 2 + 3.2, 0}},
     .options = {.allocation_bps = 10, .first_touch = true}},
    /* 80 bytes in 2 s use the credit up. Then 10 a second; 3 s idle bring back 30: 1 s at 40. */
    {"credit is used up and comes back",
     {{0, 80, 0, 2, 0}, {80, 50, 0, 5, 0}, {130, 50, 3, 1 + 1, 0}, {180, 40, 1e6, 1, 0}},
     .options = {.burst_bytes = 60, .burst_bps = 40},
     .host = {{CAWL_RIG_AT(sc_sw_s), 0}}},
    {"synchronous writers share the device", {{0, 100, 0, 2 + 20, 0}}, .options = {.n_writers = 2}},
};

static const struct cawl_rig_case sync_cases[] = {
    /* bs is 16: read at 20, written at 10 a second. */
    {"sync pays for the copy and for what is left of a block",
     .steps = {{0, 160, 0, 2 + 1.6 + 16, 0},
               {160, 170, 0, 2 + 1.7 + 16 + 0.8 + 1.6, 0},
               {330, 3, 0, 2 + 0.03 + 0.8 + 1.6, 0},
               {0, 16, 0, 2 + 3 + 0.16 + 1.6, 0}}},
    {"sync writes back at the rate of the kernel",
     {{0, 160, 0, 2 + 1.6 + 4, 0}, {160, 170, 0, 2 + 1.7 + 4 + 0.8 + 0.4, 0}},
     .options = {.writeback = true}},
    {"late allocation comes on top of the rate of the kernel",
     {{0, 160, 0, 2 + 1.6 + 4 + 4, 0}},
     .options = {.writeback = true, .allocation_bps = 40}},
    {"parts of a split sync request cost extra",
     {{0, 64, 0, 2 + 0.64 + 6.4 + 0.25, 0}},
     .options = {.max_request_bytes = 32, .split_s = 0.25}},
    {"sync writes touch",
     {{0, 32, 0, 2 + 3.2 + 3.2, 0}, {16, 32, 0, 2 + 3 + 0.16 + 1.6 + 3.2, 0}},
     .options = {.first_touch = true}},
    {"sync writes allocate", {{0, 32, 0, 2 + 0.32 + 6.4, 0}}, .options = {.allocation_bps = 10}},
};

static const struct cawl_rig_case naive_cases[] = {
    {"naive does not write back", {{0, 160, 0, 16, 0}}, .options = {.writeback = true}},
    {"naive knows only the device", .steps = {{0, 100, 3, 10, 0}, {700, 5, 0, 0.5, 0}}},
    {"naive knows no credit",
     {{0, 100, 3, 10, 0}, {700, 5, 0, 0.5, 0}},
     .options = {.burst_bytes = 100, .burst_bps = 50}},
};

TEST(costs_are_those_calculated_by_hand)
{
    cawl_rig_check_cases(CAWL_DIRECT, direct_cases, N_OF(direct_cases));
    cawl_rig_check_cases(CAWL_SYNC, sync_cases, N_OF(sync_cases));
    cawl_rig_check_cases(CAWL_NAIVE, naive_cases, N_OF(naive_cases));
}
