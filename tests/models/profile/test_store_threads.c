/* Tests of models/profile/store: threads that use it at once. */
#include "models/profile/store_slots.h"
#include "tests/models/profile/store_rig.h"

#include <pthread.h>

EACH_TEST(rig_setup, rig_teardown);

static void *feed(void *number)
{
    uint64_t file = *(uint64_t *)number;
    for (uint64_t i = 0; i < 20000; i++) {
        const struct profile_request request = {.start_ns = i,
                                                .file = file,
                                                .handle = (uint32_t)file,
                                                .thread = (uint32_t)file,
                                                .offset_bytes = i * 4096,
                                                .n_bytes = 4096};
        store_begin(store, i, 1);
        store_take(store, &request);
        store_end(store, i, 1);
    }
    return NULL;
}

TEST(threads_together_lose_nothing)
{
    pthread_t threads[4];
    static uint64_t files[] = {1, 2, 3, 4};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, feed, &files[i]), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    rig_summary();
    assert_int_equal(summary.n_requests, 80000);
    assert_int_equal(summary.sizes[PROFILE_READ].n, 80000);
    assert_int_equal(flight_depth(&store->flight), 0);
    assert_int_equal(summary.n_threads, 4);
    assert_true(summary.share[SUMMARY_SEQ_READ] > 0.999);
}

/* Many more files than the smallest store has slots: each request pushes another file out, and names come and
 * go with the slots. */
#define N_CROWDED 1000

static void *crowd(void *number)
{
    const uint64_t thread = *(uint64_t *)number;
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t file = 1 + (i * 7 + thread * 3) % N_CROWDED;
        char name[32], found[STORE_NAME_SIZE];
        const struct profile_request request = {.start_ns = i,
                                                .file = file,
                                                .handle = (uint32_t)file,
                                                .thread = (uint32_t)thread,
                                                .offset_bytes = i * 4096,
                                                .n_bytes = 4096,
                                                .direction = PROFILE_WRITE};
        snprintf(name, sizeof name, "/data/of/many/files/%04u", (unsigned)file);
        store_take(store, &request);
        store_name(store, file, name);
        if (store_find_name(store, file, found))
            assert_string_equal(found, name);
    }
    return NULL;
}

TEST(threads_that_push_out_each_others_files_lose_no_request_and_mix_no_names)
{
    pthread_t threads[4];
    static uint64_t numbers[] = {1, 2, 3, 4};
    rig_open(STORE_MIN_BYTES);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd, &numbers[i]), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    rig_summary();
    assert_int_equal(summary.n_requests, 20000);
}

/* As where a thread was killed in the midst of naming another file. */
TEST(a_name_is_found_though_its_lock_is_held_for_good)
{
    char found[STORE_NAME_SIZE];
    store_name(store, 7, "/var/lib/data");
    for (uint64_t set = 0; set < store->n_files / STORE_SLOTS_WAYS; set++)
        *(uint32_t *)(void *)((char *)store + store->locks_at + set * sizeof(uint64_t)) = 1;
    assert_true(store_find_name(store, 7, found));
    assert_string_equal(found, "/var/lib/data");
    assert_false(store_find_name(store, 8, found));
    /* A thread that was killed while it wrote one leaves half of it. */
    for (size_t i = 0; i < store->n_files; i++)
        store_files(store)[i].is_named = 0;
    assert_false(store_find_name(store, 7, found));
}
