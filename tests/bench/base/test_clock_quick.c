/* Tests of bench/base/clock_quick: it tells the clock's time, before and after it may trust the counter. */
#include "bench/base/clock.h"
#include "bench/base/clock_quick.h"
#include "tests/test.h"

#include <pthread.h>

/* What it may be beside the clock, by far. */
#define NEAR_NS 20000U

static void *follow(void *arg)
{
    uint64_t end_ns = clock_now_ns(&clock_monotonic) + 20000000;
    uintptr_t n_wrong = 0;
    (void)arg;
    for (uint64_t after = 0; after < end_ns;) {
        uint64_t before = clock_now_ns(&clock_monotonic), quick = clock_quick_ns();
        after = clock_now_ns(&clock_monotonic);
        n_wrong += quick + NEAR_NS < before || quick > after + NEAR_NS;
    }
    return (void *)n_wrong;
}

TEST(is_the_clock_before_it_is_started)
{
    assert_null(follow(NULL));
}

TEST(follows_the_clock)
{
    clock_quick_start();
    assert_null(follow(NULL));
}

TEST(follows_the_clock_in_several_threads)
{
    pthread_t threads[4];
    void *n_wrong;
    clock_quick_start();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, follow, NULL), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &n_wrong), 0);
        assert_null(n_wrong);
    }
}

TEST(follows_the_clock_after_a_pause)
{
    clock_quick_start();
    assert_null(follow(NULL));
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 5000000);
    assert_null(follow(NULL));
}

/* New looks at the clock, and better known rates, come most in the first second. */
TEST(never_goes_back_in_a_thread)
{
    uint64_t before_ns = 0, n_back = 0, end_ns = clock_now_ns(&clock_monotonic) + 500000000;
    clock_quick_start();
    while (before_ns < end_ns) {
        uint64_t now_ns = clock_quick_ns();
        n_back += now_ns < before_ns;
        before_ns = now_ns;
    }
    assert_int_equal(n_back, 0);
}
