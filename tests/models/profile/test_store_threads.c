/* Tests of models/profile/store: threads that use it at once. */
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
