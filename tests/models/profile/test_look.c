/* Tests of models/profile/look and look_streams: what came between two looks. */
#include "models/profile/look.h"
#include "models/profile/look_streams.h"
#include "tests/models/profile/store_rig.h"

EACH_TEST(rig_setup, rig_teardown);

static struct look start, first, second;
static struct look_rates rates;

#define SECOND_NS 1000000000ULL

TEST(rates_are_what_came_between_two_looks)
{
    look_start(&start, store);
    for (uint64_t i = 0; i < 100; i++)
        rig_read(1, i * 4096, 4096);
    look_take(&first, store, SECOND_NS);
    for (uint64_t i = 0; i < 50; i++)
        rig_write(2, i * 65536, 65536);
    store_flush(store, 2, store->last_ns, 0);
    look_take(&second, store, 3 * SECOND_NS);
    look_compare(&first, &second, &rates);
    assert_close(rates.seconds, 2, 1e-9);
    assert_close(rates.all_requests, 25, 1e-9);
    assert_close(rates.requests[SUMMARY_SEQ_WRITE], 25, 1e-9);
    assert_close(rates.share[SUMMARY_SEQ_WRITE], 1, 1e-9);
    assert_close(rates.requests[SUMMARY_SEQ_READ], 0, 1e-9);
    assert_close(rates.bps[PROFILE_WRITE], 25 * 65536, 1e-3);
    assert_close(rates.flushes, 0.5, 1e-9);
    assert_int_equal(rates.size[PROFILE_WRITE], 65536);
    assert_int_equal(rates.size[PROFILE_READ], 0);
    look_compare(&start, &second, &rates);
    assert_close(rates.all_requests, 50, 1e-9);
    assert_int_equal(rates.size[PROFILE_READ], 4096);
    assert_int_equal(look_requests(&second), rig_summary()->n_requests);
}

TEST(the_usual_size_is_that_of_now)
{
    for (uint64_t i = 0; i < 100; i++)
        rig_read(1, i * 4096, 4096);
    look_take(&first, store, SECOND_NS);
    for (uint64_t i = 0; i < 10; i++)
        rig_read(1, i * 9000, 9000);
    look_take(&second, store, 2 * SECOND_NS);
    look_compare(&first, &second, &rates);
    assert_int_equal(rates.size[PROFILE_READ], 9000);
}

TEST(without_requests_there_are_no_shares_and_no_depth)
{
    look_take(&first, store, SECOND_NS);
    look_take(&second, store, 2 * SECOND_NS);
    look_compare(&first, &second, &rates);
    assert_true(isnan(rates.share[0]) && isnan(rates.depth) && isnan(rates.direct_share));
    assert_close(rates.all_requests, 0, 0);
    look_compare(&second, &second, &rates);
    assert_close(rates.all_requests, 0, 0);
}

TEST(a_pause_is_no_time)
{
    look_start(&start, store);
    store_begin(store, SECOND_NS, 1);
    store_pause(store, 2 * SECOND_NS);
    look_take(&first, store, 3 * SECOND_NS);
    look_take(&second, store, 5 * SECOND_NS);
    look_compare(&start, &second, &rates);
    assert_close(rates.seconds, 2, 1e-9);
    look_compare(&first, &second, &rates);
    assert_close(rates.seconds, 0, 0);
    assert_close(second.busy_ns, 1e9, 1);
    store_go_on(store, 6 * SECOND_NS);
    look_take(&second, store, 7 * SECOND_NS);
    look_compare(&start, &second, &rates);
    assert_close(rates.seconds, 3, 1e-9);
}

TEST(what_is_still_in_flight_counts_for_the_depth)
{
    store_begin(store, SECOND_NS, 4);
    look_take(&first, store, 2 * SECOND_NS);
    look_take(&second, store, 3 * SECOND_NS);
    look_compare(&first, &second, &rates);
    assert_close(rates.depth, 4, 1e-9);
    store_end(store, 4 * SECOND_NS, 4);
    look_take(&second, store, 6 * SECOND_NS);
    assert_close(second.busy_ns, 3e9, 1);
    assert_close(second.area_ns, 12e9, 1);
}

TEST(the_busiest_streams_are_those_of_now)
{
    struct look_streams before, after;
    struct look_stream busiest[LOOK_BUSIEST];
    assert_int_equal(look_streams_open(&before, store), 0);
    assert_int_equal(look_streams_open(&after, store), 0);
    for (uint64_t i = 0; i < 100; i++)
        rig_read(1, i * 65536, 65536);
    look_streams_take(&before, store);
    for (uint64_t file = 2; file < 20; file++) {
        for (uint64_t i = 0; i < file; i++)
            rig_write(file, i * 4096, 4096);
    }
    rig_read(1, 100 * 65536, 65536);
    look_streams_take(&after, store);
    assert_int_equal(look_streams_busiest(&before, &after, busiest), LOOK_BUSIEST);
    assert_int_equal(busiest[0].file, 19);
    assert_int_equal(busiest[0].n_bytes, 19 * 4096);
    assert_int_equal(look_streams_requests(&busiest[0]), 19);
    assert_int_equal(busiest[0].size_bytes, 4096);
    assert_int_equal(busiest[3].n_bytes, 65536);
    assert_int_equal(look_streams_requests(&busiest[3]), 1);
    assert_int_equal(busiest[7].file, 13);
    /* Nothing came since. */
    assert_int_equal(look_streams_busiest(&after, &after, busiest), 0);
    look_streams_close(&before);
    look_streams_close(&after);
}

TEST(bytes_of_kinds_are_parts_of_what_the_directions_moved)
{
    struct look_streams none = {0}, now;
    double bps[SUMMARY_N_KINDS];
    look_start(&start, store);
    for (uint64_t i = 0; i < 64; i++)
        rig_read(1, i * 65536, 65536);
    for (uint64_t i = 0; i < 64; i++)
        rig_read(2, rig_random(1 << 20) * 8192, 4096);
    look_take(&first, store, 2 * SECOND_NS);
    look_compare(&start, &first, &rates);
    assert_int_equal(look_streams_open(&now, store), 0);
    look_streams_take(&now, store);
    look_streams_rates(&none, &now, &rates, bps);
    assert_close(bps[SUMMARY_SEQ_READ], 64 * 65536 / 2.0, 1);
    assert_close(bps[SUMMARY_RAND_READ], 64 * 4096 / 2.0, 1);
    assert_close(bps[SUMMARY_SEQ_WRITE], 0, 0);
    look_streams_rates(&now, &now, &rates, bps);
    assert_true(isnan(bps[SUMMARY_SEQ_READ]) && bps[SUMMARY_RAND_WRITE] == 0);
    look_streams_close(&now);
}

TEST(the_open_files_of_one_file_are_one_stream)
{
    struct look_streams none = {0}, now;
    struct look_stream busiest[LOOK_BUSIEST];
    for (uint32_t handle = 1; handle <= 3; handle++)
        store_take(store, &(struct profile_request){
                              .start_ns = handle, .file = 7, .handle = handle, .thread = 1, .n_bytes = 512});
    assert_int_equal(look_streams_open(&now, store), 0);
    look_streams_take(&now, store);
    assert_int_equal(look_streams_busiest(&none, &now, busiest), 1);
    assert_int_equal(busiest[0].n_bytes, 3 * 512);
    look_streams_close(&now);
}
