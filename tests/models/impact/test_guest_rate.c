/* A setting's rate in a guest: requests that take longer there, by themselves and in a queue. */
#include "models/impact/guest_rate.h"
#include "tests/test.h"

static struct atomic_cost cost(double s, double half)
{
    return (struct atomic_cost){s, {s - half, s + half}};
}

TEST(one_at_a_time_each_request_takes_longer_by_what_is_added)
{
    assert_close(guest_rate(1e4, 1, 3e-4, 0), 1 / 4e-4, 1e-6);
    assert_close(guest_rate(1e4, 1, 3e-4, 1e-4), 1 / 4e-4, 1e-6);
}

TEST(nothing_added_changes_nothing)
{
    assert_close(guest_rate(5e4, 32, 0, 0), 5e4, 1e-6);
    assert_close(guest_rate(5e4, 32, -1e-5, -1e-5), 5e4, 1e-6);
    assert_close(guest_rate(5e4, 32, 0, 1e-4), 5e4, 1e-6);
}

/* Two requests, 1 s at the storage and 1 s at the processor: states by who is where, 0, 1 or 2 at the
 * processor, have weights 1/2, 1, 1 (exponential times), so it works 4/5 of the time. */
TEST(a_queue_waits_for_one_processor)
{
    assert_close(guest_rate(2, 2, 1, 0), 0.8, 1e-12);
}

TEST(what_is_shared_does_not_queue)
{
    assert_close(guest_rate(2, 2, 1, 1), 1, 1e-12);
    assert_true(guest_rate(2, 2, 1, 0.5) > 0.8 && guest_rate(2, 2, 1, 0.5) < 1);
}

TEST(a_deep_queue_is_bound_by_the_processor_alone)
{
    assert_close(guest_rate(1e6, 1024, 1e-4, 0), 1e4, 1);
}

TEST(sizes_lie_on_a_line)
{
    const struct atomic_cost small = cost(1e-4, 1e-6), large = cost(4e-4, 1e-6);
    assert_close(guest_rate_added(small, 4096, large, 65536, 4096).s, 1e-4, 1e-12);
    assert_close(guest_rate_added(small, 4096, large, 65536, 65536).s, 4e-4, 1e-12);
    const struct atomic_cost far = guest_rate_added(small, 4096, large, 65536, 65536 + 61440);
    assert_close(far.s, 7e-4, 1e-12);
    assert_close(far.interval.high - far.s, sqrt(5) * 1e-6, 1e-12);
}

TEST(noise_does_not_grow_with_the_size)
{
    const struct atomic_cost small = cost(4e-4, 5e-5), large = cost(4.2e-4, 5e-5);
    assert_close(guest_rate_added(small, 4096, large, 65536, 1 << 20).s, 4.1e-4, 1e-12);
    assert_close(guest_rate_added(large, 4096, small, 65536, 1 << 20).s, 4.1e-4, 1e-12);
}
