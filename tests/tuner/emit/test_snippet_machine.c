/* Settings that virtual machines have in common are legal, and honour the guest's flushes. */
#include "tests/tuner/emit/snippet_rig.h"

EACH_TEST(snippet_reset, NULL);

TEST(cache_modes_follow_direct_and_the_wish_for_directsync)
{
    static const char *const modes[2][2] = {{"writeback", "writethrough"}, {"none", "directsync"}};
    for (unsigned direct = 0; direct < 2; direct++) {
        for (unsigned request = 0; request < 2; request++) {
            for (unsigned sync = 0; sync < SYNC_N; sync++) {
                snippet_recommendation.point.direct = direct;
                snippet_recommendation.point.sync = (enum sync)sync;
                snippet_request.directsync = request != 0;
                assert_string_equal(snippet_cache_mode(&snippet_request), modes[direct][request]);
                assert_non_null(
                    strstr(snippet_cache_meaning(&snippet_request), request ? "durable" : "flushes"));
            }
        }
    }
}

TEST(native_is_for_direct_alone)
{
    static const char *const engines[API_N][2] = {[API_PSYNC] = {"threads", "threads"},
                                                  [API_PVEC] = {"threads", "threads"},
                                                  [API_POOL] = {"threads", "threads"},
                                                  [API_LIBAIO] = {"threads", "native"},
                                                  [API_IO_URING] = {"io_uring", "io_uring"}};
    for (unsigned api = 0; api < API_N; api++) {
        for (unsigned direct = 0; direct < 2; direct++) {
            snippet_recommendation.point.api = (enum api)api;
            snippet_recommendation.point.direct = direct;
            assert_string_equal(snippet_aio(&snippet_request), engines[api][direct]);
        }
    }
}

TEST(queue_sizes_are_powers_of_two_that_hold_depth_and_segments)
{
    static const struct {
        uint64_t request_size_bytes;
        uint32_t queue_depth, threads;
        unsigned expected;
    } rows[] = {
        {512, 1, 1, 256},        {65536, 256, 1, 256},     {65536, 257, 1, 512},
        {65536, 1024, 1, 1024},  {65536, 16, 16, 256},     {65536, 16, 17, 512},
        {65536, 1024, 64, 1024}, {254 * 4096, 1, 1, 256},  {255 * 4096, 1, 1, 512},
        {510 * 4096, 1, 1, 512}, {511 * 4096, 1, 1, 1024}, {512ULL << 20, 1, 1, 1024},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snippet_recommendation.point.request_size_bytes = rows[i].request_size_bytes;
        snippet_recommendation.point.queue_depth = rows[i].queue_depth;
        snippet_recommendation.point.threads = rows[i].threads;
        assert_int_equal(snippet_queue_size(&snippet_request, 1), rows[i].expected);
    }
}

/* Of two sizes the larger one needs the segments. */
TEST(the_larger_of_two_sizes_decides_the_queue)
{
    snippet_recommendation.point.request_size_bytes = 4096;
    factors_set_write_size(&snippet_recommendation.point, 2 << 20);
    assert_int_equal(snippet_queue_size(&snippet_request, 1), 1024);
}

TEST(a_version_that_was_not_given_is_before_none)
{
    assert_false(snippet_version_before(&snippet_request, 99, 0));
    snippet_request.version[0] = 6;
    snippet_request.version[1] = 3;
    assert_false(snippet_version_before(&snippet_request, 6, 3));
    assert_false(snippet_version_before(&snippet_request, 5, 9));
    assert_true(snippet_version_before(&snippet_request, 6, 4));
    assert_true(snippet_version_before(&snippet_request, 7, 0));
}
