/* Settings that virtual machines have in common are legal, and honour the guest's flushes. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

TEST(cache_modes_follow_direct_and_the_wish_for_directsync)
{
    static const struct {
        const char *given, *mode, *meaning;
    } rows[] = {{"direct=0", "writeback", "flushes"},
                {"direct=0 directsync", "writethrough", "durable"},
                {"direct=1", "none", "flushes"},
                {"direct=1 directsync", "directsync", "durable"}};
    for (size_t i = 0; i < N_OF(rows); i++) {
        give(rows[i].given);
        for (enum sync sync = 0; sync < SYNC_N; sync++) {
            answers[0].point.sync = sync;
            assert_string_equal(snippet_cache_mode(&request), rows[i].mode);
            assert_non_null(strstr(snippet_cache_meaning(&request), rows[i].meaning));
        }
    }
}

TEST(native_is_for_direct_alone)
{
    give("");
    for (enum api api = 0; api < API_N; api++) {
        for (unsigned direct = 0; direct < 2; direct++) {
            answers[0].point.api = api;
            answers[0].point.direct = direct;
            assert_string_equal(snippet_aio(&request), api == API_IO_URING                ? "io_uring"
                                                       : api == API_LIBAIO && direct == 1 ? "native"
                                                                                          : "threads");
        }
    }
}

TEST(queue_sizes_are_powers_of_two_that_hold_depth_and_segments)
{
    static const struct {
        const char *given;
        unsigned expected;
    } rows[] = {
        {"request_size=512 queue_depth=1", 256},
        {"queue_depth=256", 256},
        {"queue_depth=257", 512},
        {"queue_depth=1024", 1024},
        {"queue_depth=16 threads=16", 256},
        {"queue_depth=16 threads=17", 512},
        {"queue_depth=1024 threads=64", 1024},
        {"request_size=1016k", 256},
        {"request_size=1020k", 512},
        {"request_size=2040k", 512},
        {"request_size=2044k", 1024},
        {"request_size=512m", 1024},
        /* Of two sizes the larger one needs the segments. */
        {"pattern.name=randrw:50 request_size=4k write_request_size=2m", 1024},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        give(rows[i].given);
        assert_int_equal(snippet_queue_size(&request, 1), rows[i].expected);
    }
}

TEST(a_version_that_was_not_given_is_before_none)
{
    give("");
    assert_false(snippet_version_before(&request, 99, 0));
    give("target_version=6.3");
    assert_false(snippet_version_before(&request, 6, 3));
    assert_false(snippet_version_before(&request, 5, 9));
    assert_true(snippet_version_before(&request, 6, 4));
    assert_true(snippet_version_before(&request, 7, 0));
}
