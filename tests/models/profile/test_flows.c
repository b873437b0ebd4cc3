/* Tests of models/profile/flows. */
#include "models/profile/flows.h"
#include "tests/test.h"

static struct flows flows;

FIXTURE(empty)
{
    flows = (struct flows){0};
    return 0;
}

EACH_TEST(empty, NULL);

static bool add(uint32_t thread, uint32_t direction, uint64_t n_bytes)
{
    return flows_add(&flows, &(struct flow){1, thread, direction, 1, n_bytes});
}

static const struct flow *find(uint32_t thread, uint32_t direction)
{
    for (size_t i = 0; i < FLOWS_MOST; i++) {
        if (flows.flow[i].thread == thread && flows.flow[i].direction == direction)
            return &flows.flow[i];
    }
    return NULL;
}

TEST(threads_and_directions_are_summed_up_apart)
{
    assert_true(add(1, EVENTS_IN, 100) && add(1, EVENTS_OUT, 7) && add(2, EVENTS_IN, 5));
    assert_true(add(1, EVENTS_IN, 11));
    assert_int_equal(find(1, EVENTS_IN)->n_bytes, 111);
    assert_int_equal(find(1, EVENTS_IN)->n, 2);
    assert_int_equal(find(1, EVENTS_OUT)->n_bytes, 7);
    assert_int_equal(find(2, EVENTS_IN)->n, 1);
}

TEST(a_full_table_takes_known_threads_alone)
{
    for (uint32_t thread = 1; thread <= FLOWS_MOST; thread++)
        assert_true(add(thread, EVENTS_IN, 1));
    assert_false(add(FLOWS_MOST + 1, EVENTS_IN, 1));
    assert_true(add(7, EVENTS_IN, 1));
    assert_int_equal(find(7, EVENTS_IN)->n, 2);
}

TEST(more_bytes_than_a_row_holds_find_no_room)
{
    assert_true(add(1, EVENTS_OUT, EVENTS_FILE_BYTES));
    assert_false(add(1, EVENTS_OUT, 1));
    assert_int_equal(find(1, EVENTS_OUT)->n_bytes, EVENTS_FILE_BYTES);
    assert_int_equal(find(1, EVENTS_OUT)->n, 1);
}
