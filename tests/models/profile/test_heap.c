/* Tests of models/profile/heap: what is held, by whom, and most at once. */
#include "models/profile/heap.h"
#include "tests/test.h"

#include <pthread.h>

static struct heap *heap;
static __thread uint64_t now;

static int begin(void **state)
{
    (void)state;
    heap = calloc(1, sizeof *heap);
    heap_init(heap);
    now = 0;
    return heap_join(heap, 7) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(heap);
    return 0;
}

/* Each 1,000 addresses are a module. */
static bool find(uint64_t address, struct heap_place *ret)
{
    *ret = (struct heap_place){.base = address / 1000 * 1000, .name = address < 2000 ? "one" : "two"};
    return address >= 1000;
}

static uint64_t next_ns(void)
{
    return ++now;
}

static void take(uint64_t pointer, uint64_t n_bytes, uint64_t address)
{
    heap_take(heap, pointer, n_bytes, address, find, next_ns);
}

static const struct heap_site *site_of(uint64_t address)
{
    for (size_t i = 0; i < HEAP_SITES; i++) {
        if (heap->sites[i].address == address)
            return &heap->sites[i];
    }
    return NULL;
}

TEST_WITH(what_is_freed_is_taken_off_its_place, begin, end)
{
    struct heap_given given;
    take(16, 100, 1001);
    take(32, 50, 2002);
    take(48, 7, 1001);
    assert_true(heap_give(heap, 16, &given));
    assert_int_equal(given.n_bytes, 100);
    assert_int_equal(site_of(1001)->bytes, 7);
    assert_int_equal(site_of(1001)->n, 1);
    assert_int_equal(site_of(2002)->bytes, 50);
    assert_int_equal(heap->bytes, 57);
    assert_false(heap_give(heap, 16, &given));
    assert_false(heap_give(heap, 64, &given));
}

TEST_WITH(a_place_knows_its_module, begin, end)
{
    take(16, 1, 1001);
    take(32, 1, 1700);
    take(48, 1, 2002);
    take(64, 1, 5);
    assert_string_equal(heap->modules[site_of(1001)->module].name, "one");
    assert_int_equal(site_of(1001)->module, site_of(1700)->module);
    assert_string_equal(heap->modules[site_of(2002)->module].name, "two");
    assert_int_equal(site_of(5)->module, HEAP_MODULES);
}

TEST_WITH(the_peak_is_kept_by_place, begin, end)
{
    struct heap_given given;
    take(16, 100000, 1001);
    take(32, 50000, 2002);
    assert_true(heap_give(heap, 16, &given));
    take(48, 60000, 2003);
    assert_int_equal(heap->peak_bytes, 150000);
    assert_int_equal(site_of(1001)->peak_bytes, 100000);
    assert_int_equal(site_of(2002)->peak_bytes, 50000);
    assert_int_equal(site_of(2003)->peak_bytes, 0);
}

TEST_WITH(the_peak_of_many_small_steps_is_near, begin, end)
{
    for (uint64_t i = 1; i <= 50000; i++)
        take(16 * i, 20, 1001);
    assert_true((double)heap->peak_bytes > 0.99 * 50000 * 20);
}

TEST_WITH(a_block_that_stayed_is_put_back, begin, end)
{
    struct heap_given given;
    take(16, 100, 1001);
    assert_true(heap_give(heap, 16, &given));
    heap_put_back(heap, 16, &given);
    assert_int_equal(site_of(1001)->bytes, 100);
    assert_int_equal(site_of(1001)->n, 1);
    assert_true(heap_give(heap, 16, &given));
    assert_int_equal(heap->bytes, 0);
}

TEST_WITH(what_has_no_place_is_lost_with_its_bytes, begin, end)
{
    struct heap_given given;
    for (uint64_t i = 1; i <= HEAP_BLOCKS + 1000; i++)
        take(16 * i, 10, 1001);
    assert_true(heap->n_lost >= 1000);
    assert_int_equal(heap->lost_bytes, 10 * heap->n_lost);
    assert_int_equal(heap->bytes + heap->lost_bytes, 10 * (HEAP_BLOCKS + 1000));
    for (uint64_t i = 1; i <= HEAP_BLOCKS + 1000; i++)
        heap_give(heap, 16 * i, &given);
    assert_int_equal(heap->bytes, 0);
    for (uint64_t i = 0; i < HEAP_SITES + 100; i++)
        take(16 * (i + 1), 1, 1000 + i);
    assert_true(heap->lost_bytes > 10 * 1000);
}

TEST_WITH(another_process_is_refused_and_another_program_begins_anew, begin, end)
{
    struct heap_given given;
    take(16, 100, 1001);
    assert_false(heap_join(heap, 8));
    assert_int_equal(heap->bytes, 100);
    assert_true(heap_join(heap, 7));
    assert_int_equal(heap->bytes, 0);
    assert_int_equal(heap->peak_bytes, 0);
    assert_null(site_of(1001));
    assert_false(heap_give(heap, 16, &given));
}

static void *work(void *arg)
{
    uint64_t first = 1000000 * (uint64_t)(uintptr_t)arg;
    struct heap_given given;
    for (uint64_t i = 1; i <= 20000; i++) {
        take(first + 16 * i, i % 100, 1000 + i % 50);
        if (i > 500)
            heap_give(heap, first + 16 * (i - 500), &given);
    }
    for (uint64_t i = 1; i <= 20000; i++)
        heap_give(heap, first + 16 * i, &given);
    return NULL;
}

TEST_WITH(threads_leave_nothing_behind, begin, end)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(heap->bytes, 0);
    assert_int_equal(heap->n_lost, 0);
    for (size_t i = 0; i < HEAP_SITES; i++)
        assert_int_equal(heap->sites[i].bytes + heap->sites[i].n, 0);
    for (size_t i = 0; i < HEAP_BLOCKS; i++)
        assert_int_equal(heap->blocks[i].pointer, 0);
}
