/* models/cawl/cawl_stdio: algorithm 2 in cases calculated by hand. bf is 100, bw_mem 1000, a system call 0.5
 * s. */
#include "models/cawl/cawl.h"

#include "tests/models/cawl/cawl_rig.h"
#include "tests/test.h"

static const struct cawl_options plain_model = {0};
static const struct cawl_options closing = {.close = true};

TEST(a_chunk_that_fits_only_fills_the_buffer)
{
    const struct cawl_rig_step steps[] = {{0, 40, 0, 0.04, 0}, {40, 59, 0, 0.059, 0}};
    const struct cawl_chunk chunk = {0, 0, 40, 0};

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, steps);

    AUTO(cawl_prediction_done)
    struct cawl_prediction prediction = cawl_rig_predict(&plain_model, CAWL_STDIO, &chunk, 1);

    assert_int_equal(prediction.n_changes, 0);
}

TEST(a_full_buffer_waits_for_the_next_chunk)
{
    const struct cawl_rig_step steps[] = {
        {0, 40, 0, 0.04, 0}, {40, 60, 0, 0.06, 0}, {100, 10, 0, 1.5 + 0.01, 100}, {110, 90, 0, 0.09, 100}};

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, steps);
}

TEST(a_chunk_over_the_boundary_fills_writes_and_keeps_the_rest)
{
    const struct cawl_rig_step steps[] = {
        {0, 70, 0, 0.07, 0}, {70, 70, 0, 0.03 + 1.5 + 0.04, 100}, {140, 60, 0, 0.06, 100}};

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, steps);
}

TEST(whole_buffers_of_a_large_chunk_bypass_the_buffer)
{
    const struct cawl_rig_step bypass[] = {
        {0, 10, 0, 0.01, 0}, {10, 250, 0, 0.09 + 1.5 + 1.5 + 0.06, 200 - 15}, {260, 10, 0, 0.01, 185}};
    const struct cawl_rig_step exact[] = {{0, 200, 0, 0.1 + 1.5 + 1.5, 200 - 15}};
    const struct cawl_rig_step rest_just_short[] = {{0, 199, 0, 0.1 + 1.5 + 0.099, 100}};

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, bypass);
    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, exact);
    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, rest_just_short);
}

TEST(a_seek_writes_what_is_pending_first)
{
    const struct cawl_rig_step steps[] = {
        {500, 40, 0, 0.04, 0},               /* an empty buffer is not flushed */
        {0, 10, 0, 0.9 + 0.01, 40},          /* 40 at 100 a second, and 0.5 */
        {10, 10, 0, 0.01, 40},               /* sequential */
        {505, 5, 0, 0.7 + 0.005, 60},        /* 20 bytes at offset 0 */
        {505, 100, 0, 0.55 + 0.1, 60},       /* 5 at 505: dirty already; then the buffer is just full */
        {0, 1, 0, 0.5 + 1 + 0.001, 60 + 65}, /* [505, 605) of which [505, 540) is dirty */
    };

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, steps);
}

TEST(delays_pass_at_the_next_system_call_and_only_once)
{
    /* 100 bytes are in the cache at 1.61; at the next system call they are 33 s old. */
    const struct cawl_rig_step steps[] = {{0, 100, 0, 0.1, 0},
                                          {100, 10, 0, 1.51, 100},
                                          {110, 60, 11, 0.06, 100},
                                          {170, 30, 11, 0.03, 100},
                                          {200, 1, 11, 1.5 + 0.001, 100}};
    const struct cawl_rig_step seeks[] = {
        {0, 50, 5, 0.05, 0}, {100, 50, 6, 1 + 0.05, 50}, {0, 50, 7, 1.05, 100}};

    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, steps);
    CAWL_RIG_CHECK(&plain_model, CAWL_STDIO, seeks);
}

TEST(every_file_has_its_buffer)
{
    const struct cawl_chunk chunks[] = {
        {9, 0, 60, 0}, {4, 0, 60, 0}, {9, 60, 40, 0}, {4, 60, 40, 0}, {9, 100, 1, 0}};
    AUTO(cawl_prediction_done)
    struct cawl_prediction prediction = cawl_rig_predict(&plain_model, CAWL_STDIO, chunks, 5);

    assert_close(prediction.costs_s[1], 0.06, 1e-12);
    assert_close(prediction.costs_s[3], 0.04, 1e-12);
    assert_close(prediction.costs_s[4], 1.501, 1e-12);
    assert_close(prediction.dirty_bytes[4], 100, 0);
}

TEST(closing_writes_what_is_left_of_every_file)
{
    const struct cawl_chunk chunks[] = {{1, 0, 60, 0}, {2, 0, 20, 0}, {3, 0, 20, 0}};
    AUTO(cawl_prediction_done)
    struct cawl_prediction open = cawl_rig_predict(&plain_model, CAWL_STDIO, chunks, 3);
    AUTO(cawl_prediction_done)
    struct cawl_prediction closed = cawl_rig_predict(&closing, CAWL_STDIO, chunks, 3);

    assert_close(open.close_s, 0, 0);
    assert_close(closed.close_s, 3 * 0.5 + 1, 1e-12);
    assert_close(closed.total_s, open.total_s + closed.close_s, 1e-12);
}

TEST(small_chunks_through_the_library_are_cheaper_than_system_calls)
{
    struct cawl_chunk chunks[100];

    for (size_t i = 0; i < 100; i++)
        chunks[i] = (struct cawl_chunk){0, 2 * i, 2, 0};

    AUTO(cawl_prediction_done)
    struct cawl_prediction library = cawl_rig_predict(&closing, CAWL_STDIO, chunks, 100);
    AUTO(cawl_prediction_done)
    struct cawl_prediction calls = cawl_rig_predict(&closing, CAWL_NOSYNC, chunks, 100);

    assert_close(library.total_s, 0.2 + 2 * 1.5, 1e-9);
    assert_close(calls.total_s, 100 * 0.52, 1e-9);
}

TEST(small_calls_into_the_buffer_have_a_cost_of_their_own)
{
    const struct cawl_options options = {.small_calls = true};
    /* 0.25 a chunk, 500 bytes a second; 100 bytes by a system call: 0.5, and 20 a second. */
    const struct cawl_rig_step steps[] = {{0, 70, 0, 0.25 + 0.14, 0},
                                          {70, 70, 0, 0.25 + 0.06 + 0.5 + 5 + 0.08, 100}};

    CAWL_RIG_CHECK(&options, CAWL_STDIO, steps);
}

TEST(time_in_the_library_passes_for_the_flusher)
{
    const struct cawl_options options = {.small_calls = true};
    /* A buffer, written at 0.25 + 0.2, and 11 chunks of the library's time: what is 30 s old is written back
     * before the next system call. */
    const struct cawl_rig_step steps[] = {{0, 100, 0, 0.25 + 0.2, 0},
                                          {100, 99, 0, 0.25 + 5.5 + 0.198, 100},
                                          {199, 1, 29.9, 0.25 + 0.002, 100},
                                          {200, 1, 0, 0.25 + 5.5 + 0.002, 100}};

    CAWL_RIG_CHECK(&options, CAWL_STDIO, steps);
}
