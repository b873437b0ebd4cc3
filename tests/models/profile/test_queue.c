/* Tests of models/profile/queue: events of many threads, and of writers that do not end. */
#include "models/profile/events_row.h"
#include "models/profile/queue.h"
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>

#define N_BYTES   (1U << 16)
#define N_THREADS 4
#define N_EACH    20000U

static struct queue *queue;
static struct queue_reader reader;
static struct queue_event event;

static int begin(void **state)
{
    (void)state;
    queue = aligned_alloc(64, N_BYTES);
    memset(queue, 0, N_BYTES);
    assert_int_equal(queue_init(queue, N_BYTES), 0);
    reader = (struct queue_reader){.n_slots = (size_t)queue->n_slots};
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(queue);
    return 0;
}

static void put(uint64_t number)
{
    queue_put(queue, &(struct queue_event){.kind = EVENTS_READ, .offset_bytes = number, .n_bytes = 1});
}

TEST(memory_that_is_too_small_is_refused)
{
    struct queue small = {0};
    assert_int_equal(queue_init(&small, sizeof small), -EINVAL);
    assert_false(queue_is_sound(&small, sizeof small));
}

TEST_WITH(events_come_out_in_their_order, begin, end)
{
    assert_true(queue_is_sound(queue, N_BYTES));
    for (uint64_t round = 0; round < 5 * queue->n_slots; round++) {
        put(round);
        assert_true(queue_get(queue, &reader, 1, &event));
        assert_int_equal(event.offset_bytes, round);
    }
    assert_false(queue_get(queue, &reader, 1, &event));
    assert_int_equal(queue_lost(queue, &reader), 0);
}

TEST_WITH(what_finds_no_room_is_counted, begin, end)
{
    for (uint64_t i = 0; i < queue->n_slots + 7; i++)
        put(i);
    assert_int_equal(queue_lost(queue, &reader), 7);
    for (uint64_t i = 0; i < queue->n_slots; i++) {
        assert_true(queue_get(queue, &reader, 1, &event));
        assert_int_equal(event.offset_bytes, i);
    }
    put(1000);
    assert_true(queue_get(queue, &reader, 1, &event));
    assert_int_equal(event.offset_bytes, 1000);
}

TEST_WITH(nothing_is_taken_while_it_is_paused, begin, end)
{
    queue->is_paused = 1;
    put(1);
    queue->is_paused = 0;
    put(2);
    assert_true(queue_get(queue, &reader, 1, &event));
    assert_int_equal(event.offset_bytes, 2);
    assert_int_equal(queue_lost(queue, &reader), 0);
}

/* As a writer that is killed between the two steps leaves it. */
TEST_WITH(a_writer_that_was_killed_is_passed_over, begin, end)
{
    put(1);
    queue->next++;
    put(3);
    assert_true(queue_get(queue, &reader, 1, &event));
    assert_false(queue_get(queue, &reader, 1000, &event));
    assert_false(queue_get(queue, &reader, 2000, &event));
    assert_true(queue_get(queue, &reader, 1000000000, &event));
    assert_int_equal(event.offset_bytes, 3);
    assert_int_equal(queue_lost(queue, &reader), 1);
    assert_false(queue_get(queue, &reader, 1000000000, &event));
}

TEST_WITH(an_event_that_another_one_spoiled_is_lost, begin, end)
{
    put(1);
    put(2);
    queue->slots[0].event.n_bytes = 77;
    assert_true(queue_get(queue, &reader, 1, &event));
    assert_int_equal(event.offset_bytes, 2);
    assert_int_equal(queue_lost(queue, &reader), 1);
}

static void *write_all(void *data)
{
    const uint64_t *first = data;
    for (uint64_t i = 0; i < N_EACH; i++)
        put(*first + i);
    return NULL;
}

TEST_WITH(of_many_threads_each_event_comes_once_or_is_counted, begin, end)
{
    static uint8_t seen[N_THREADS * N_EACH];
    pthread_t threads[N_THREADS];
    uint64_t first[N_THREADS], n = 0;
    memset(seen, 0, sizeof seen);
    for (uint64_t i = 0; i < N_THREADS; i++) {
        first[i] = i * N_EACH;
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, &first[i]), 0);
    }
    while (n + queue_lost(queue, &reader) < N_THREADS * N_EACH) {
        if (!queue_get(queue, &reader, 1, &event))
            continue;
        assert_in_range(event.offset_bytes, 0, N_THREADS * N_EACH - 1);
        assert_int_equal(seen[event.offset_bytes]++, 0);
        n++;
    }
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(n >= queue->n_slots);
}
