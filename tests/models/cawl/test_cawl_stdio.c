/* models/cawl/cawl_stdio: algorithm 2 in cases calculated by hand. bf is 100, bw_mem 1000, a system call 0.5
 * s. */

#include "tests/models/cawl/cawl_rig.h"

static const struct cawl_options closing = {.close = true};

TEST(a_chunk_that_fits_changes_no_state)
{
    const struct cawl_chunk chunk = {0, 0, 40, 0};

    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&plain_model, CAWL_STDIO, &chunk, 1);

    assert_int_equal(prediction.n_changes, 0);
}

TEST(every_file_has_its_buffer)
{
    const struct cawl_chunk chunks[] = {
        {9, 0, 60, 0}, {4, 0, 60, 0}, {9, 60, 40, 0}, {4, 60, 40, 0}, {9, 100, 1, 0}};
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict(&plain_model, CAWL_STDIO, chunks, 5);

    assert_close(prediction.costs_s[1], 0.06, 1e-12);
    assert_close(prediction.costs_s[3], 0.04, 1e-12);
    assert_close(prediction.costs_s[4], 1.501, 1e-12);
    assert_close(prediction.dirty_bytes[4], 100, 0);
}

TEST(closing_writes_what_is_left_of_every_file)
{
    const struct cawl_chunk chunks[] = {{1, 0, 60, 0}, {2, 0, 20, 0}, {3, 0, 20, 0}};
    CAWL_RIG_PREDICTION open = cawl_rig_predict(&plain_model, CAWL_STDIO, chunks, 3);
    CAWL_RIG_PREDICTION closed = cawl_rig_predict(&closing, CAWL_STDIO, chunks, 3);

    assert_close(open.close_s, 0, 0);
    assert_close(closed.close_s, 3 * 0.5 + 1, 1e-12);
    assert_close(closed.total_s, open.total_s + closed.close_s, 1e-12);
}

TEST(small_chunks_through_the_library_are_cheaper_than_system_calls)
{
    struct cawl_chunk chunks[100];

    for (size_t i = 0; i < 100; i++)
        chunks[i] = (struct cawl_chunk){0, 2 * i, 2, 0};

    CAWL_RIG_PREDICTION library = cawl_rig_predict(&closing, CAWL_STDIO, chunks, 100);
    CAWL_RIG_PREDICTION calls = cawl_rig_predict(&closing, CAWL_NOSYNC, chunks, 100);

    assert_close(library.total_s, 0.2 + 2 * 1.5, 1e-9);
    assert_close(calls.total_s, 100 * 0.52, 1e-9);
}

static const struct cawl_rig_case cases[] = {
    {"a chunk that fits only fills the buffer", .steps = {{0, 40, 0, 0.04, 0}, {40, 59, 0, 0.059, 0}}},
    {"a full buffer waits for the next chunk", .steps = {{0, 40, 0, 0.04, 0},
                                                         {40, 60, 0, 0.06, 0},
                                                         {100, 10, 0, 1.5 + 0.01, 100},
                                                         {110, 90, 0, 0.09, 100}}},
    {"a chunk over the boundary fills, writes and keeps the rest",
     .steps = {{0, 70, 0, 0.07, 0}, {70, 70, 0, 0.03 + 1.5 + 0.04, 100}, {140, 60, 0, 0.06, 100}}},
    {"whole buffers of a large chunk bypass the buffer",
     .steps = {{0, 10, 0, 0.01, 0},
               {10, 250, 0, 0.09 + 1.5 + 1.5 + 0.06, 200 - 15},
               {260, 10, 0, 0.01, 185}}},
    {"two whole buffers", .steps = {{0, 200, 0, 0.1 + 1.5 + 1.5, 200 - 15}}},
    {"a byte less than two buffers", .steps = {{0, 199, 0, 0.1 + 1.5 + 0.099, 100}}},
    {"a seek writes what is pending first",
     .steps = {{500, 40, 0, 0.04, 0},         /* an empty buffer is not flushed */
               {0, 10, 0, 0.9 + 0.01, 40},    /* 40 at 100 a second, and 0.5 */
               {10, 10, 0, 0.01, 40},         /* sequential */
               {505, 5, 0, 0.7 + 0.005, 60},  /* 20 bytes at offset 0 */
               {505, 100, 0, 0.55 + 0.1, 60}, /* 5 at 505: dirty already; then the buffer is just full */
               {0, 1, 0, 0.5 + 1 + 0.001, 60 + 65}}}, /* [505, 605) of which [505, 540) is dirty */
    /* 100 bytes are in the cache at 1.61; at the next system call they are 33 s old. */
    {"delays pass at the next system call and only once", .steps = {{0, 100, 0, 0.1, 0},
                                                                    {100, 10, 0, 1.51, 100},
                                                                    {110, 60, 11, 0.06, 100},
                                                                    {170, 30, 11, 0.03, 100},
                                                                    {200, 1, 11, 1.5 + 0.001, 100}}},
    {"delays pass before the flush of a seek",
     .steps = {{0, 50, 5, 0.05, 0}, {100, 50, 6, 1 + 0.05, 50}, {0, 50, 7, 1.05, 100}}},
    /* 0.25 a chunk, 500 bytes a second; 100 bytes by a system call: 0.5, and 20 a second. */
    {"small calls into the buffer have a cost of their own",
     {{0, 70, 0, 0.25 + 0.14, 0}, {70, 70, 0, 0.25 + 0.06 + 0.5 + 5 + 0.08, 100}},
     .options = {.small_calls = true}},
    /* A buffer, written at 0.25 + 0.2, and 11 chunks of the library's time: what is 30 s old is written back
     * before the next system call. */
    {"time in the library passes for the flusher",
     {{0, 100, 0, 0.25 + 0.2, 0},
      {100, 99, 0, 0.25 + 5.5 + 0.198, 100},
      {199, 1, 29.9, 0.25 + 0.002, 100},
      {200, 1, 0, 0.25 + 5.5 + 0.002, 100}},
     .options = {.small_calls = true}},
};

TEST(costs_and_dirty_bytes_are_those_calculated_by_hand)
{
    cawl_rig_check_cases(CAWL_STDIO, cases, N_OF(cases));
}
