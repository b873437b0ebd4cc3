/* Tests of models/profile: requests into the store, and what the summary says of them. */
#include "tests/models/profile/store_rig.h"

#include <errno.h>
#include <pthread.h>

EACH_TEST(rig_setup, rig_teardown);

TEST(a_store_has_room_for_its_parts_or_is_refused)
{
    struct store *small = calloc(1, STORE_MIN_BYTES);
    assert_non_null(small);
    assert_int_equal(store_init(small, STORE_MIN_BYTES - 1, 0), -EINVAL);
    assert_false(store_is_sound(small, STORE_MIN_BYTES));
    assert_int_equal(store_init(small, STORE_MIN_BYTES, 0), 0);
    assert_true(store_is_sound(small, STORE_MIN_BYTES));
    assert_false(store_is_sound(small, STORE_MIN_BYTES + 4096));
    small->streams_at += 8;
    assert_false(store_is_sound(small, STORE_MIN_BYTES));
    small->streams_at -= 8;
    small->blocks.shift = 64;
    assert_false(store_is_sound(small, STORE_MIN_BYTES));
    small->blocks.shift = 0;
    small->timeline.log2_ns = 0;
    assert_false(store_is_sound(small, STORE_MIN_BYTES));
    free(small);
}

TEST(a_renewed_store_counts_anew_and_goes_on_where_files_stand)
{
    for (uint64_t i = 0; i < 100; i++)
        rig_write(1, i * 4096, 4096);
    store_begin(store, store->last_ns, 2);
    uint32_t handle = store_new_handle(store);
    store_renew(store, store->last_ns);
    assert_true(store_is_sound(store, store->n_bytes));
    assert_int_equal(rig_summary()->n_requests, 0);
    assert_int_equal(store_new_handle(store), handle + 1);
    assert_int_equal(flight_depth(&store->flight), 2);
    for (uint64_t i = 100; i < 300; i++)
        rig_write(1, i * 4096, 4096);
    assert_close(rig_summary()->share[SUMMARY_SEQ_WRITE], 1, 0);
    assert_int_equal(rig_summary()->sizes[PROFILE_WRITE].n, 200);
    store_flush(store, 1, store->last_ns, 0);
    assert_int_equal(store->n_flushed_writes, 300);
}

TEST(a_pause_is_no_part_of_what_is_recorded)
{
    store_begin(store, 0, 1);
    store_end(store, 100 * RIG_MS, 1);
    store_pause(store, 200 * RIG_MS);
    assert_true(store_is_paused(store));
    store_pause(store, 250 * RIG_MS);
    store_go_on(store, 700 * RIG_MS);
    assert_false(store_is_paused(store));
    store_go_on(store, 800 * RIG_MS);
    store_end(store, 1200 * RIG_MS, 0);
    assert_close(rig_summary()->seconds, 1.2, 1e-9);
    assert_close(summary.paused_s, 0.5, 1e-9);
    assert_close(summary.busy_share, 0.1 / 0.7, 1e-9);
}

TEST(a_pause_at_the_end_lasts_until_the_last_that_was_seen)
{
    store_pause(store, 100 * RIG_MS);
    assert_close(rig_summary()->seconds, 0.1, 1e-9);
    assert_close(summary.paused_s, 0, 0);
    store_end(store, 150 * RIG_MS, 1);
    store->is_stopped = STORE_OVER;
    assert_close(rig_summary()->paused_s, 0.05, 1e-9);
}

TEST(what_is_in_flight_over_a_pause_has_no_time_in_it)
{
    store_begin(store, 0, 3);
    store_pause(store, 100 * RIG_MS);
    store_skip(store, 400 * RIG_MS);
    store_end(store, 400 * RIG_MS, 1);
    store_go_on(store, 900 * RIG_MS);
    store_end(store, 1000 * RIG_MS, 2);
    assert_int_equal(store->flight.depth_ns[3], 100 * RIG_MS);
    assert_int_equal(store->flight.depth_ns[2], 100 * RIG_MS);
    assert_close(rig_summary()->busy_share, 1, 1e-9);
}

TEST(a_store_that_is_renewed_while_it_is_paused_stays_paused)
{
    store_pause(store, 100 * RIG_MS);
    store_renew(store, 300 * RIG_MS);
    assert_true(store_is_paused(store));
    store_go_on(store, 400 * RIG_MS);
    rig_read(1, 0, 4096);
    assert_close(rig_summary()->paused_s, 0.1, 1e-9);
    assert_int_equal(summary.n_requests, 1);
}

TEST(a_renewed_store_knows_who_is_there_and_what_was_left_out)
{
    store_count(store, STORE_PROCESSES, 3);
    store_join(store, 7);
    rig_read(1, 0, 4096);
    store_count(store, STORE_OTHER_BYTES, 1000);
    store_renew(store, store->last_ns);
    assert_int_equal(store->count[STORE_PROCESSES], 1);
    assert_ptr_equal(store_join(store, 7), &store->processes[0]);
    assert_int_equal(store->count[STORE_PASSED_BYTES], 4096 + 1000 + 2 * STORE_LOADER_BYTES);
}

/* The one that is there is counted once, and nothing that was read before is counted twice. */
TEST(what_was_left_out_does_not_grow_with_every_renewal)
{
    store_count(store, STORE_PROCESSES, 1);
    store_join(store, 7);
    rig_read(1, 0, 4096);
    for (int i = 0; i < 100; i++)
        store_renew(store, store->last_ns);
    assert_int_equal(store->count[STORE_PROCESSES], 1);
    assert_int_equal(store->count[STORE_PASSED_BYTES], 4096);
}

TEST(what_was_lost_before_a_renewal_is_known)
{
    store_count(store, STORE_LOST_REQUESTS, 5);
    store_renew(store, store->last_ns);
    store_count(store, STORE_LOST_REQUESTS, 2);
    assert_int_equal(rig_summary()->n_lost, 2);
    assert_int_equal(store_lost_ever(store), 7);
}

TEST(a_thread_that_comes_late_makes_no_time_below_zero)
{
    store_renew(store, 500 * RIG_MS);
    store->last_ns = 400 * RIG_MS; /* as one leaves it that looked at it before */
    assert_close(rig_summary()->seconds, 0, 0);
}

static void *read_on(void *is_done)
{
    for (uint64_t i = 1; __atomic_load_n((int *)is_done, __ATOMIC_RELAXED) == 0; i++) {
        const struct profile_request request = {
            .start_ns = i * 1000, .file = 2 + i % 3, .handle = 1, .offset_bytes = i * 4096, .n_bytes = 4096};
        store_take(store, &request);
    }
    return NULL;
}

TEST(a_store_may_be_renewed_while_it_is_used)
{
    int is_done = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_on, &is_done), 0);
    for (uint64_t i = 0; i < 200; i++)
        store_renew(store, i * 1000);
    __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    store_renew(store, store->last_ns);
    for (uint64_t i = 0; i < 100; i++)
        rig_read(9, i * 4096, 4096);
    assert_true(store_is_sound(store, store->n_bytes));
    assert_int_equal(rig_summary()->n_requests, 100);
    assert_close(summary.share[SUMMARY_SEQ_READ], 1, 0);
}

TEST(requests_that_follow_each_other_are_sequential)
{
    for (uint64_t i = 0; i < 1000; i++)
        rig_read(1, i * 4096, 4096);
    assert_close(rig_summary()->share[SUMMARY_SEQ_READ], 1, 0);
}

TEST(requests_anywhere_are_random)
{
    for (uint64_t i = 0; i < 5000; i++)
        rig_write(1, rig_random(1U << 20) * 4096, 4096);
    assert_true(rig_summary()->share[SUMMARY_RAND_WRITE] > 0.998);
}

TEST(six_interleaved_runs_in_one_file_are_sequential)
{
    for (uint64_t i = 0; i < 6000; i++)
        rig_read(1, (i % 6) * (1ULL << 30) + i / 6 * 8192, 8192);
    assert_true(rig_summary()->share[SUMMARY_SEQ_READ] > 0.999);
}

TEST(one_run_among_many_random_requests_is_found)
{
    for (uint64_t i = 0, run = 0; i < 20000; i++) {
        if (i % 10 == 0)
            rig_read(1, (1ULL << 40) + run++ * 4096, 4096);
        else
            rig_read(1, rig_random(1U << 20) * 4096, 4096);
    }
    assert_close(rig_summary()->share[SUMMARY_SEQ_READ], 0.1, 0.005);
}

TEST(requests_told_in_the_wrong_order_are_sequential_all_the_same)
{
    for (uint64_t i = 0; i < 2000; i += 2) {
        rig_read(1, (i + 1) * 4096, 4096);
        rig_read(1, i * 4096, 4096);
    }
    assert_true(rig_summary()->share[SUMMARY_SEQ_READ] > 0.99);
}

TEST(random_requests_in_a_small_file_make_no_runs)
{
    for (uint64_t n_places = 4; n_places <= 1024; n_places *= 2) {
        rig_open(STORE_DEFAULT_BYTES);
        for (uint64_t i = 0; i < 20000; i++)
            rig_read(1, rig_random(n_places) * 4096, 4096);
        assert_true(rig_summary()->share[SUMMARY_SEQ_READ] < 0.02);
    }
}

TEST(a_small_file_read_again_and_again_is_read_in_sequence)
{
    for (uint64_t n_places = 8; n_places <= 1024; n_places *= 2) {
        rig_open(STORE_DEFAULT_BYTES);
        for (uint64_t i = 0; i < 20000; i++)
            rig_read(1, i % n_places * 4096, 4096);
        assert_close(rig_summary()->share[SUMMARY_SEQ_READ], 1 - 1.0 / (double)n_places, 0.002);
    }
}

TEST(what_a_killed_process_had_in_flight_has_ended)
{
    struct store_process *process = store_join(store, 4711);
    assert_ptr_equal(store_join(store, 4711), process);
    assert_ptr_not_equal(store_join(store, 4712), process);
    store_begin(store, 0, 2);
    process->n_in_flight = 2;
    store_leave(store, process, 10 * RIG_MS);
    store_begin(store, 20 * RIG_MS, 1);
    store_end(store, 30 * RIG_MS, 1);
    assert_close(rig_summary()->depth_mean, (2 * 10 + 1 * 10) / 20.0, 1e-12);
    assert_int_equal(flight_depth(&store->flight), 0);
}

TEST(steps_of_one_length_are_random_and_have_their_name)
{
    for (uint64_t i = 0; i < 1000; i++)
        rig_read(1, i * 65536, 4096);
    rig_summary();
    assert_close(summary.share[SUMMARY_RAND_READ], 1, 0.002);
    assert_true(summary.n_strided[PROFILE_READ] >= 998);
}

TEST(reading_backwards_is_no_sequence)
{
    for (uint64_t i = 1000; i > 0; i--)
        rig_read(1, i * 4096, 4096);
    assert_close(rig_summary()->share[SUMMARY_SEQ_READ], 0, 0);
    assert_true(summary.n_strided[PROFILE_READ] >= 998);
}

TEST(directions_of_one_file_are_judged_apart)
{
    for (uint64_t i = 0; i < 1000; i++) {
        rig_read(1, i * 4096, 4096);
        rig_write(1, rig_random(1U << 20) * 4096, 4096);
    }
    assert_close(rig_summary()->share[SUMMARY_SEQ_READ], 0.5, 0);
    assert_close(summary.share[SUMMARY_RAND_WRITE], 0.5, 0.002);
}

TEST(a_file_opened_for_each_request_goes_on_where_it_ended)
{
    for (uint32_t i = 0; i < 500; i++) {
        const struct profile_request request = {.start_ns = i,
                                                .file = 1,
                                                .handle = i + 1,
                                                .offset_bytes = i * 100ULL,
                                                .n_bytes = 100,
                                                .direction = PROFILE_WRITE};
        store_take(store, &request);
        store_close(store, 1, i + 1);
    }
    assert_close(rig_summary()->share[SUMMARY_SEQ_WRITE], 1, 0);
    assert_int_equal(store->count[STORE_EVICTED], 0);
}

TEST(usual_sizes_are_exact_also_where_they_share_a_bin)
{
    for (uint64_t i = 0; i < 1000; i++)
        rig_read(1, i << 20, i % 10 < 6 ? 4096 : i % 10 < 9 ? 4608 : 65537);
    const struct summary_sizes *sizes = &rig_summary()->sizes[PROFILE_READ];
    assert_int_equal(sizes->modes[0].value, 4096);
    assert_close((double)sizes->modes[0].n / 1000, 0.6, 0.002);
    assert_int_equal(sizes->modes[1].value, 65537);
    assert_int_equal(sizes->modes[1].n, 100);
    assert_int_equal(sizes->p99, 65537);
}

TEST(depth_is_weighted_by_time)
{
    /* 1 for 10 ms, 3 for 20 ms, idle for 50 ms, 2 for 20 ms. */
    store_begin(store, 0, 1);
    store_begin(store, 10 * RIG_MS, 2);
    store_end(store, 30 * RIG_MS, 3);
    store_begin(store, 80 * RIG_MS, 2);
    store_end(store, 100 * RIG_MS, 2);
    assert_close(rig_summary()->depth_mean, (1 * 10 + 3 * 20 + 2 * 20) / 50.0, 1e-12);
    assert_int_equal(summary.depth_max, 3);
    assert_int_equal(summary.depth_p50, 2);
    assert_close(summary.busy_share, 0.5, 1e-12);
}

TEST(more_ends_than_beginnings_leave_nothing_in_flight)
{
    store_end(store, 5, 3);
    store_begin(store, 10, 1);
    store_end(store, 20, 1);
    assert_close(rig_summary()->depth_mean, 1, 0);
    assert_int_equal(flight_depth(&store->flight), 0);
}

/* Writes n times with a flush behind each `every`, 0: none. */
static void write_and_flush(uint64_t n, uint64_t every)
{
    for (uint64_t i = 1; i <= n; i++) {
        rig_write(1, i * 4096, 4096);
        if (every > 0 && i % every == 0)
            store_flush(store, 1, store->last_ns + 10, 5);
    }
}

TEST(no_flush_is_no_flush)
{
    write_and_flush(100, 0);
    assert_int_equal(rig_summary()->sync, SUMMARY_SYNC_NONE);
    assert_close(summary.flushed_share, 0, 0);
}

TEST(a_flush_behind_each_write_is_each)
{
    write_and_flush(100, 1);
    assert_int_equal(rig_summary()->sync, SUMMARY_SYNC_EACH);
}

TEST(a_flush_every_sixteen_writes_is_told_with_its_number)
{
    write_and_flush(160, 16);
    assert_int_equal(rig_summary()->sync, SUMMARY_SYNC_EVERY);
    assert_int_equal(summary.between_p50, 16);
    assert_close(summary.between_mean, 16, 0);
}

TEST(one_flush_of_each_file_is_at_the_end)
{
    for (uint64_t file = 1; file <= 3; file++) {
        for (uint64_t i = 0; i < 50; i++)
            rig_write(file, i * 4096, 4096);
        store_flush(store, file, store->last_ns + 10, 5);
    }
    assert_int_equal(rig_summary()->sync, SUMMARY_SYNC_END);
}

TEST(a_flush_of_everything_flushes_all_files)
{
    for (uint64_t file = 1; file <= 3; file++)
        rig_write(file, 0, 4096);
    store_flush(store, 0, store->last_ns + 10, 5);
    assert_int_equal(store->n_flushed_writes, 3);
}

TEST(writes_that_are_durable_by_themselves_are_each)
{
    for (uint64_t i = 0; i < 100; i++) {
        const struct profile_request request = {.start_ns = i,
                                                .file = 1,
                                                .offset_bytes = i * 512,
                                                .n_bytes = 512,
                                                .direction = PROFILE_WRITE,
                                                .flags = PROFILE_DURABLE | PROFILE_DIRECT};
        store_take(store, &request);
    }
    assert_int_equal(rig_summary()->sync, SUMMARY_SYNC_EACH);
    assert_close(summary.direct_share, 1, 0);
    assert_int_equal(summary.alignment_bytes, 512);
}

TEST(few_requests_are_too_little_for_a_pattern)
{
    for (uint64_t i = 0; i + 1 < SUMMARY_LEAST_REQUESTS; i++)
        rig_read(1, i * 4096, 4096);
    assert_false(rig_summary()->is_enough);
    rig_read(1, SUMMARY_LEAST_REQUESTS * 4096ULL, 4096);
    assert_true(rig_summary()->is_enough);
}

TEST(whole_per_cent_are_hundred_together_and_leave_out_what_is_small)
{
    static const double thirds[] = {1 / 3.0, 1 / 3.0, 1 / 3.0, 0}, small[] = {0.985, 0.015, 0, 0},
                        none[4] = {0};
    unsigned percent[4];
    assert_true(summary_percent(thirds, percent));
    assert_int_equal(percent[0] + percent[1] + percent[2] + percent[3], 100);
    assert_true(summary_percent(small, percent));
    assert_int_equal(percent[0], 100);
    assert_false(summary_percent(none, percent));
}

TEST(a_stream_whose_lock_is_held_by_the_dead_is_not_judged_and_not_waited_for)
{
    rig_read(1, 0, 4096);
    for (uint64_t i = 0; i < store->n_streams; i++)
        store_streams(store)[i].lock = 1;
    for (uint64_t i = 1; i <= 100; i++)
        rig_read(1, i * 4096, 4096);
    assert_int_equal(store->n_unjudged[PROFILE_READ], 100);
    assert_int_equal(rig_summary()->n_unjudged, 100);
    assert_int_equal(store->bytes[PROFILE_READ], 101 * 4096);
}

/* Files in turn, half of them read in sequence, half at random. */
static double share_of_files(size_t store_bytes, uint64_t n_files)
{
    rig_open(store_bytes);
    for (uint64_t i = 0; i < 60000; i++) {
        uint64_t file = 1 + i % n_files;
        rig_read(file, file % 2 == 0 ? i / n_files * 4096 : rig_random(1U << 20) * 4096, 4096);
    }
    return rig_summary()->share[SUMMARY_SEQ_READ];
}

TEST(a_small_store_finds_nearly_the_same_shares)
{
    assert_close(share_of_files(STORE_DEFAULT_BYTES, 200), 0.5, 0.01);
    assert_true(summary.is_enough);
    assert_close(share_of_files(STORE_MIN_BYTES, 8), 0.5, 0.05);
    assert_true(summary.is_enough);
}

TEST(a_store_that_is_far_too_small_says_so_instead_of_guessing)
{
    share_of_files(STORE_MIN_BYTES, 300);
    assert_false(summary.is_enough);
    assert_true(summary.n_unjudged > 50000);
}

TEST(distinct_blocks_are_estimated_when_the_table_is_full)
{
    rig_open(STORE_MIN_BYTES);
    for (uint64_t i = 0; i < 200000; i++)
        rig_read(1, rig_random(100000) * 4096, 4096);
    /* 86 % of 100,000 blocks are met by 200,000 draws. */
    double blocks = rig_summary()->footprint_bytes / 4096;
    assert_true(store->blocks.shift > 0);
    assert_close(blocks, 86466, 0.25 * 86466);
}

TEST(the_working_set_of_a_loop_is_the_loop)
{
    for (uint64_t i = 0; i < 50000; i++)
        rig_read(1, i % 5000 * 4096, 4096);
    assert_close(rig_summary()->working_set_bytes, 5000 * 4096.0, 0.15 * 5000 * 4096.0);
    assert_close(summary.reused_share, 0.9, 0.01);
}

TEST(intervals_are_joined_without_losing_any_request)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const struct profile_request request = {
            .start_ns = i * 3600 * 1000 * RIG_MS / 1000, .file = 1, .offset_bytes = i * 512, .n_bytes = 512};
        store_take(store, &request);
    }
    for (uint64_t i = 0; i < store->timeline.n_intervals; i++)
        n += store_intervals(store)[i].n[TIMELINE_SEQ_READ];
    assert_int_equal(n, 1000);
    assert_int_equal(store->timeline.n_lost, 0);
}
