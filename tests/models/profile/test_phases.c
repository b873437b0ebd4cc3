/* Tests of models/profile/phases. */
#include "models/profile/phases.h"
#include "tests/models/profile/store_rig.h"

EACH_TEST(rig_setup, rig_teardown);

static struct phase phases[PHASES_MOST];

static void take_at(uint64_t ms, enum profile_direction direction, uint64_t offset)
{
    const struct profile_request request = {.start_ns = ms * RIG_MS,
                                            .file = 1 + direction,
                                            .handle = 1,
                                            .offset_bytes = offset,
                                            .n_bytes = 4096,
                                            .direction = direction};
    store_take(store, &request);
}

TEST(a_recording_without_requests_has_no_phase)
{
    assert_int_equal(phases_find(store, phases), 0);
}

TEST(an_even_mix_is_one_phase)
{
    for (uint64_t i = 0; i < 20000; i++)
        take_at(i, rig_random(10) < 7 ? PROFILE_READ : PROFILE_WRITE, rig_random(1U << 20) * 4096);
    assert_int_equal(phases_find(store, phases), 1);
    assert_close(phases[0].end_s, 20, 0.01);
}

TEST(loading_then_asking_are_two_phases)
{
    for (uint64_t i = 0; i < 20000; i++) {
        if (i < 8000)
            take_at(i, PROFILE_WRITE, i * 4096);
        else
            take_at(i, PROFILE_READ, rig_random(1U << 20) * 4096);
    }
    assert_int_equal(phases_find(store, phases), 2);
    assert_close(phases[0].end_s, 8, 0.2);
    assert_true(phases[0].n[TIMELINE_SEQ_WRITE] > 7900);
    assert_true(phases[1].n[TIMELINE_RAND_READ] > 11900);
}

TEST(a_mix_that_comes_back_is_a_phase_again)
{
    for (uint64_t i = 0; i < 30000; i++)
        take_at(i, i / 10000 == 1 ? PROFILE_WRITE : PROFILE_READ, rig_random(1U << 20) * 4096);
    assert_int_equal(phases_find(store, phases), 3);
}
