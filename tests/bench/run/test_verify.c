/* Tests of bench/io/verify and bench/run/measure: by hand on blocks in memory, and through whole runs on a
 * file that is tampered with. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room */
#include "tests/bench/run/measure_rig.h"
#include "tests/memory_room.h"

#include <pthread.h>

#define BLOCK   VERIFY_BLOCK_BYTES
#define N_BYTES (64 * 1024U)

/* A file in memory, as a perfect disk would hold it. */
struct rig {
    struct verify verify;
    struct err err;
    unsigned char disk[N_BYTES];
};

FIXTURE(setup)
{
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    assert_int_equal(verify_open(&rig->verify, N_BYTES, 1, 5, &rig->err), 0);
    verify_stamp(&rig->verify, rig->disk, 0, N_BYTES);
    *test_state = rig;
    return 0;
}

FIXTURE(teardown)
{
    struct rig *rig = *test_state;
    verify_close(&rig->verify);
    verify_close(&rig->verify);
    free(rig);
    return 0;
}

static struct io_call call_of(struct rig *rig, bool is_write, uint64_t offset, uint64_t size)
{
    return (struct io_call){
        .buffer = rig->disk + offset, .offset_bytes = offset, .size_bytes = size, .is_write = is_write};
}

static int transfer(struct rig *rig, bool is_write, uint64_t offset, uint64_t size)
{
    struct io_call call = call_of(rig, is_write, offset, size);
    verify_begin(&rig->verify, &call);
    return verify_end(&rig->verify, &call, &rig->err);
}

TEST(a_file_with_more_stamps_than_half_of_the_room_is_refused)
{
    struct verify verify = {0};
    struct err err = {0};
    room_bytes = 64 * MIB;
    int large = verify_open(&verify, 4096 * MIB, 1, 5, &err);
    verify_close(&verify);
    int small = verify_open(&verify, 1024 * MIB, 1, 5, NULL);
    verify_close(&verify);
    room_bytes = 0;
    assert_int_equal(large, -ENOMEM);
    assert_non_null(strstr(err.text, "--file-size"));
    assert_int_equal(small, 0);
}

TEST_WITH(what_was_written_is_found, setup, teardown)
{
    struct rig *rig = *test_state;
    assert_int_equal(transfer(rig, false, 0, N_BYTES), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(transfer(rig, true, 4096, 8192), 0);
        assert_int_equal(transfer(rig, false, 0, N_BYTES), 0);
    }
    assert_int_equal(rig->verify.n_compared, 4 * N_BYTES / BLOCK);
    assert_int_equal(rig->verify.n_passed_over, 0);
}

static void check_message(struct rig *rig, uint64_t offset, const char *words)
{
    char place[40];
    snprintf(place, sizeof place, "at offset %llu ", (unsigned long long)offset);
    assert_int_equal(transfer(rig, false, 0, N_BYTES), -EBADMSG);
    if (strstr(rig->err.text, words) == NULL || strstr(rig->err.text, place) == NULL)
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", rig->err.text, words, place);
}

TEST_WITH(any_flipped_bit_is_found, setup, teardown)
{
    struct rig *rig = *test_state;
    for (uint32_t bit = 0; bit < BLOCK * 8; bit++) {
        unsigned char *byte = rig->disk + 3 * (size_t)BLOCK + bit / 8;
        *byte ^= (unsigned char)(1U << bit % 8);
        assert_int_equal(transfer(rig, false, 1024, 2048), -EBADMSG);
        *byte ^= (unsigned char)(1U << bit % 8);
    }
    assert_int_equal(transfer(rig, false, 1024, 2048), 0);
}

TEST_WITH(two_flipped_bits_are_found, setup, teardown)
{
    struct rig *rig = *test_state;
    /* The highest bits of words that share a sum cancel each other in a checksum without rotation. */
    rig->disk[8 * 8 + 7] ^= 0x80;
    rig->disk[12 * 8 + 7] ^= 0x80;
    check_message(rig, 0, "is damaged: expected checksum ");
}

TEST_WITH(damage_is_reported_with_both_values, setup, teardown)
{
    struct rig *rig = *test_state;
    rig->disk[7 * BLOCK + 100] ^= 1;
    check_message(rig, 7 * BLOCK, "is damaged: expected checksum ");
    assert_non_null(strstr(rig->err.text, ", found "));
}

TEST_WITH(lost_write_is_stale, setup, teardown)
{
    struct rig *rig = *test_state;
    unsigned char old[BLOCK];
    memcpy(old, rig->disk + 5 * (size_t)BLOCK, BLOCK);
    assert_int_equal(transfer(rig, true, 5 * (size_t)BLOCK, BLOCK), 0);
    memcpy(rig->disk + 5 * (size_t)BLOCK, old, BLOCK);
    check_message(rig, 5 * BLOCK, "is stale: expected write 2, found write 1");
}

TEST_WITH(misplaced_write_names_both_offsets, setup, teardown)
{
    struct rig *rig = *test_state;
    memcpy(rig->disk + 2 * (size_t)BLOCK, rig->disk + 9 * (size_t)BLOCK, BLOCK);
    check_message(rig, 2 * BLOCK,
                  "is misplaced: expected write 1 to this place, found write 1 to offset 4608");
}

TEST_WITH(zeros_and_data_of_others_are_foreign, setup, teardown)
{
    struct rig *rig = *test_state;
    AUTO(verify_close) struct verify other = {0};
    memset(rig->disk + 4096, 0, BLOCK);
    check_message(rig, 4096, "was not written by this command: expected key ");
    assert_int_equal(verify_open(&other, N_BYTES, 1, 6, NULL), 0);
    verify_stamp(&other, rig->disk, 0, N_BYTES);
    check_message(rig, 0, "was not written by this command: expected key ");
}

/* ---- requests that meet ---- */

TEST_WITH(read_that_meets_a_write_is_not_judged, setup, teardown)
{
    struct rig *rig = *test_state;
    struct io_call reader = call_of(rig, false, 0, BLOCK), writer = call_of(rig, true, 0, BLOCK);
    unsigned char old[BLOCK];
    memcpy(old, rig->disk, BLOCK);
    /* The read began first and finds the old block, although the write is over by then. */
    verify_begin(&rig->verify, &reader);
    verify_begin(&rig->verify, &writer);
    assert_int_equal(verify_end(&rig->verify, &writer, &rig->err), 0);
    reader.buffer = old;
    assert_int_equal(verify_end(&rig->verify, &reader, &rig->err), 0);
    /* The write began first. */
    verify_begin(&rig->verify, &writer);
    verify_begin(&rig->verify, &reader);
    assert_int_equal(verify_end(&rig->verify, &reader, &rig->err), 0);
    assert_int_equal(verify_end(&rig->verify, &writer, &rig->err), 0);
    assert_int_equal(rig->verify.n_passed_over, 2);
    /* The next one meets nobody. */
    verify_begin(&rig->verify, &reader);
    assert_int_equal(verify_end(&rig->verify, &reader, &rig->err), -EBADMSG);
}

TEST_WITH(two_writes_that_meet_leave_the_block_unjudged_until_the_next, setup, teardown)
{
    struct rig *rig = *test_state;
    unsigned char first[BLOCK];
    struct io_call a = call_of(rig, true, 512, BLOCK), b = a;
    verify_begin(&rig->verify, &a);
    memcpy(first, rig->disk + 512, BLOCK);
    verify_begin(&rig->verify, &b);
    assert_int_equal(verify_end(&rig->verify, &b, &rig->err), 0);
    assert_int_equal(verify_end(&rig->verify, &a, &rig->err), 0);
    memcpy(rig->disk + 512, first, BLOCK);
    assert_int_equal(transfer(rig, false, 512, BLOCK), 0);
    assert_int_equal(rig->verify.n_passed_over, 1);
    assert_int_equal(transfer(rig, true, 512, BLOCK), 0);
    memcpy(rig->disk + 512, first, BLOCK);
    assert_int_equal(transfer(rig, false, 512, BLOCK), -EBADMSG);
}

TEST_WITH(abandoned_write_leaves_the_block_unjudged, setup, teardown)
{
    struct rig *rig = *test_state;
    unsigned char old[BLOCK];
    struct io_call call = call_of(rig, true, 0, BLOCK);
    memcpy(old, rig->disk, BLOCK);
    verify_begin(&rig->verify, &call);
    verify_abandon(&rig->verify, &call);
    memcpy(rig->disk, old, BLOCK);
    assert_int_equal(transfer(rig, false, 0, BLOCK), 0);
    call = call_of(rig, false, 0, BLOCK);
    verify_begin(&rig->verify, &call);
    verify_abandon(&rig->verify, &call);
    /* Nothing is under way any more, so that the next write counts again. */
    assert_int_equal(transfer(rig, true, 0, BLOCK), 0);
    memcpy(rig->disk, old, BLOCK);
    assert_int_equal(transfer(rig, false, 0, BLOCK), -EBADMSG);
}

static void *touch_many(void *argument)
{
    struct rig *rig = argument;
    unsigned char block[BLOCK] = {0};
    struct io_call call = {.buffer = block, .offset_bytes = 1024, .size_bytes = BLOCK};
    for (int i = 0; i < 20000; i++) {
        call.is_write = i % 2 == 0;
        verify_begin(&rig->verify, &call);
        verify_abandon(&rig->verify, &call);
    }
    return NULL;
}

TEST_WITH(threads_lose_no_count, setup, teardown)
{
    struct rig *rig = *test_state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, touch_many, rig), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(transfer(rig, true, 1024, BLOCK), 0);
    assert_int_equal(transfer(rig, false, 1024, BLOCK), 0);
    assert_int_equal(rig->verify.n_compared, 1);
    struct verify_stamp stamp;
    memcpy(&stamp, rig->disk + 1024, sizeof stamp);
    assert_int_equal(stamp.n_writes, 1 + 4 * 10000 + 1);
}

/* ---- whole runs ---- */

FIXTURE(open_world)
{
    struct target_plan plan = rig_plan(directory, 4 * MIB);
    plan.verify = &world.verify;
    return world_make_file(&plan);
}

static int run(const char *pattern, enum api api, uint32_t depth, uint32_t threads)
{
    uint64_t max_bytes = world.plan.max_bytes;
    world_plan(pattern, (struct point){4096, depth, 0, api, threads, SYNC_END, 0, 0},
               MEASURE_MIN_DURATION_NS);
    world.plan.max_bytes = max_bytes;
    return world_measure();
}

static void flip(uint64_t offset)
{
    unsigned char byte;
    assert_int_equal(pread(world.target.fd, &byte, 1, (off_t)offset), 1);
    byte ^= 4;
    assert_int_equal(pwrite(world.target.fd, &byte, 1, (off_t)offset), 1);
}

TEST_WITH(filling_is_read_back_whole, open_world, world_leave)
{
    uint64_t bytes = 0;
    assert_int_equal(measure_read_back(&world.env, &bytes, &world.err), 0);
    assert_int_equal(bytes, 4 * MIB);
    assert_int_equal(world.verify.n_compared, 4 * MIB / BLOCK);
    assert_int_equal(measure_read_back(&world.env, &bytes, &world.err), 0);
    assert_int_equal(bytes, 0);
}

TEST_WITH(flaw_in_the_filling_is_found, open_world, world_leave)
{
    uint64_t bytes = 0;
    flip(3 * MIB + 1000);
    assert_int_equal(measure_read_back(&world.env, &bytes, &world.err), -EBADMSG);
    CHECK_HAS(world.err.text, "the target file in ", "the block at offset 3146240 (write 1) is damaged");
}

TEST_WITH(sound_file_passes_under_every_api, open_world, world_leave)
{
    const char *const patterns[] = {"randrw:50", "write", "seq-read=50,rand-write=50"};
    for (int api = 0; api < API_N; api++) {
        if (ioapi_table[api]->probe(NULL) < 0)
            continue;
        for (size_t i = 0; i < 3; i++) {
            int result = run(patterns[i], (enum api)api, api == API_PSYNC ? 1 : 8, 2);
            if (result < 0)
                fail_msg("%s, %s: %s", api_names[api], patterns[i], world.err.text);
        }
    }
    assert_true(world.verify.n_compared > 0);
}

/* In the first request, so that a run reads it however slow the machine is. */
TEST_WITH(flipped_byte_fails_the_run_that_reads_it, open_world, world_leave)
{
    flip(700);
    for (int api = 0; api < API_N; api++) {
        if (ioapi_table[api]->probe(NULL) < 0)
            continue;
        assert_int_equal(run("read", (enum api)api, api == API_PSYNC ? 1 : 8, 1), -EBADMSG);
        assert_non_null(strstr(world.err.text, api_names[api]));
        assert_non_null(strstr(world.err.text, "the block at offset 512 "));
        assert_close(world.result.throughput_bps, 0, 0);
    }
}

/* The run itself never looks at what it wrote. */
TEST_WITH(lost_byte_of_a_write_is_found_after_the_run, open_world, world_leave)
{
    uint64_t bytes = 0;
    assert_int_equal(run("randwrite", API_PSYNC, 1, 1), 0);
    assert_true(world.result.total_bytes_read >= world.result.bytes_written);
    assert_int_equal(measure_read_back(&world.env, &bytes, &world.err), 0);
    assert_int_equal(bytes, 0);
    /* A write beyond those of the next run, of which the last byte never arrives. */
    world.plan.max_bytes = MIB;
    world.arena.memory[4095] ^= 1;
    verify_stamp(&world.verify, world.arena.memory, 3 * MIB, 4096);
    assert_int_equal(pwrite(world.target.fd, world.arena.memory, 4095, 3 * MIB), 4095);
    assert_int_equal(run("write", API_PSYNC, 1, 1), -EBADMSG);
    assert_non_null(strstr(world.err.text, "the block at offset 3149312 "));
}

TEST_WITH(without_verify_nothing_is_stamped_or_compared, open_world, world_leave)
{
    uint64_t compared = world.verify.n_compared;
    flip(12345);
    world.env.verify = NULL;
    assert_int_equal(run("randrw:50", API_PSYNC, 1, 1), 0);
    assert_int_equal(world.verify.n_compared, compared);
}
