/* Tests of bench/run/measure: rules for requests of two sizes, of reads and of writes. */
#include "bench/run/measure.h"
#include "tests/test.h"

#define MIB 1048576ULL

TEST(random_kinds_of_two_sizes_have_half_the_cap)
{
    struct target target = {.size_bytes = 80 * MIB};
    struct measure_env env = {.target = &target, .cache = MEASURE_CACHE_COLD};
    struct point point = {.request_size_bytes = 4096, .write_size_bytes = MIB, .sync = SYNC_END};
    struct pattern mix, streams;
    assert_int_equal(pattern_parse("randrw:70", &mix, NULL), 0);
    assert_int_equal(pattern_parse("rw:70", &streams, NULL), 0);
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 10 * MIB);
    assert_int_equal(measure_cap_bytes(&env, &streams, &point), 40 * MIB);
    env.cache = MEASURE_CACHE_WARM;
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 40 * MIB);
    point.write_size_bytes = 0;
    assert_int_equal(measure_cap_bytes(&env, &mix, &point), 80 * MIB);
}

TEST(shares_are_shares_of_requests)
{
    struct point point = {.request_size_bytes = 4096};
    struct pattern mix;
    assert_int_equal(pattern_parse("seq-read=60,rand-read=10,rand-write=30", &mix, NULL), 0);
    assert_close(measure_request_bytes(&mix, &point), 4096, 0);
    point.write_size_bytes = 65536;
    assert_close(measure_request_bytes(&mix, &point), 0.7 * 4096 + 0.3 * 65536, 1e-9);
}
