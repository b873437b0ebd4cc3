/* Tests of models/profile/flight: the time at each depth, in one word. */
#include "models/profile/flight.h"
#include "tests/test.h"

TEST(time_is_spent_at_the_depth_of_before)
{
    struct flight flight = {0};
    flight_start(&flight, 1000);
    flight_begin(&flight, 1010, 2);
    flight_begin(&flight, 1030, 1);
    flight_end(&flight, 1060, 3);
    assert_int_equal(flight.depth_ns[0], 10);
    assert_int_equal(flight.depth_ns[2], 20);
    assert_int_equal(flight.depth_ns[3], 30);
    assert_int_equal(flight_depth(&flight), 0);
}

TEST(time_that_is_skipped_is_spent_at_no_depth)
{
    struct flight flight = {0};
    flight_start(&flight, 1000);
    flight_begin(&flight, 1010, 2);
    flight_skip(&flight, 1500);
    flight_end(&flight, 1505, 2);
    assert_int_equal(flight.depth_ns[0], 10);
    assert_int_equal(flight.depth_ns[2], 5);
}

TEST(a_late_skip_does_not_set_the_time_back)
{
    struct flight flight = {0};
    flight_start(&flight, 1000);
    flight_begin(&flight, 1100, 1);
    flight_skip(&flight, 1050);
    flight_end(&flight, 1130, 1);
    assert_int_equal(flight.depth_ns[1], 30);
}

TEST(a_late_change_takes_no_time)
{
    struct flight flight = {0};
    flight_start(&flight, 1000);
    flight_begin(&flight, 1100, 1);
    flight_begin(&flight, 1090, 1);
    flight_end(&flight, 1120, 1);
    assert_int_equal(flight.depth_ns[0], 100);
    assert_int_equal(flight.depth_ns[1], 0);
    assert_int_equal(flight.depth_ns[2], 20);
}

/* Only the lower 48 bits of the time are kept. */
TEST(time_may_pass_the_word)
{
    struct flight flight = {0};
    uint64_t edge_ns = 5ULL << 48;
    flight_start(&flight, edge_ns - 10);
    flight_begin(&flight, edge_ns - 5, 1);
    flight_end(&flight, edge_ns + 7, 1);
    assert_int_equal(flight.depth_ns[1], 12);
}

TEST(what_is_deeper_than_the_last_keeps_its_area)
{
    struct flight flight = {0};
    flight_start(&flight, 1);
    flight_begin(&flight, 1, 1000);
    flight_end(&flight, 11, 1000);
    assert_int_equal(flight.depth_ns[FLIGHT_DEPTHS - 1], 10);
    assert_int_equal(flight.deep_area, 10000);
}

TEST(more_than_the_word_holds_does_not_become_time)
{
    struct flight flight = {0};
    flight_start(&flight, 1);
    flight_begin(&flight, 1, FLIGHT_MOST);
    flight_begin(&flight, 2, UINT32_MAX);
    assert_int_equal(flight_depth(&flight), FLIGHT_MOST);
    flight_end(&flight, 3, UINT32_MAX);
    assert_int_equal(flight_depth(&flight), 0);
}
