/* Tests of models/profile/marks: named moments, what was done between them, many threads that name some. */
#include "tests/models/profile/store_rig.h"

#include <pthread.h>

#define N_THREADS 8
#define N_EACH    5000U

EACH_TEST(rig_setup, rig_teardown);

static struct mark marks[MARKS_MOST];

static void mark(const char *name)
{
    store_mark(store, name, store->last_ns + RIG_MS);
}

/* The mark of that name, of n. */
static const struct mark *find(size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(marks[i].name, name) == 0)
            return &marks[i];
    }
    fail_msg("there is no mark %s", name);
    return NULL;
}

TEST(what_is_done_belongs_to_the_mark_before_it)
{
    rig_read(1, 0, 4096);
    mark("load");
    for (uint64_t i = 0; i < 100; i++)
        rig_write(2, i * 8192, 8192);
    store_flush(store, 2, store->last_ns, 0);
    mark("query");
    for (uint64_t i = 0; i < 50; i++)
        rig_read(1, rig_random(1000) * 4096, 4096);
    assert_int_equal(store_list_marks(store, marks), 2);
    const struct mark *load = find(2, "load"), *query = find(2, "query");
    assert_int_equal(load->since[MARKS_READS], 0);
    assert_int_equal(load->since[MARKS_WRITES], 100);
    assert_int_equal(load->since[MARKS_SEQ_WRITES], 100);
    assert_int_equal(load->since[MARKS_WRITTEN_BYTES], 100 * 8192);
    assert_int_equal(load->since[MARKS_FLUSHES], 1);
    assert_int_equal(query->since[MARKS_READS], 50);
    assert_int_equal(query->since[MARKS_READ_BYTES], 50 * 4096);
    assert_int_equal(load->since[MARKS_NS], query->first_ns - load->first_ns);
    assert_int_equal(query->since[MARKS_NS], store->last_ns - query->first_ns);
}

TEST(a_name_that_comes_again_adds_up)
{
    for (uint64_t i = 0; i < 5; i++) {
        mark("a");
        rig_read(1, i * 4096, 4096);
        mark("b");
        rig_read(1, rig_random(1000) * 4096, 4096);
        rig_read(1, rig_random(1000) * 4096, 4096);
    }
    assert_int_equal(store_list_marks(store, marks), 2);
    assert_string_equal(marks[0].name, "a");
    assert_int_equal(marks[0].count, 5);
    assert_int_equal(marks[0].since[MARKS_READS], 5);
    assert_int_equal(marks[1].since[MARKS_READS], 10);
    assert_true(marks[0].first_ns < marks[1].first_ns && marks[1].first_ns < marks[0].last_ns);
}

TEST(a_long_name_is_cut_and_stays_the_same_name)
{
    mark("0123456789012345678901234567890123456789");
    mark("0123456789012345678901234567890 and another end");
    assert_int_equal(store_list_marks(store, marks), 1);
    assert_string_equal(marks[0].name, "0123456789012345678901234567890");
    assert_int_equal(marks[0].count, 2);
}

TEST(names_beyond_the_table_are_counted_and_end_the_section_before)
{
    char name[16];
    for (int i = 0; i < MARKS_MOST + 8; i++) {
        snprintf(name, sizeof name, "part %d", i);
        mark(name);
        rig_read(1, (uint64_t)i * 4096, 4096);
    }
    assert_int_equal(store_list_marks(store, marks), MARKS_MOST);
    assert_int_equal(store->marks.n_lost, 8);
    for (int i = 0; i < MARKS_MOST; i++) {
        snprintf(name, sizeof name, "part %d", i);
        assert_string_equal(marks[i].name, name);
        assert_int_equal(marks[i].since[MARKS_READS], 1);
    }
}

TEST(the_smallest_store_has_places_and_the_others_have_all)
{
    for (size_t n_bytes = STORE_MIN_BYTES; n_bytes < 4 * STORE_MIN_BYTES; n_bytes += 104) {
        rig_open(n_bytes);
        size_t least = n_bytes < 2 * STORE_MIN_BYTES ? 2 : MARKS_MOST;
        assert_in_range(store->marks.n_slots, least, MARKS_MOST);
        assert_true(store->marks_at + store->marks.n_slots * sizeof(struct mark) <= n_bytes);
    }
}

TEST(the_name_is_found_by_its_key)
{
    char name[MARKS_NAME_SIZE];
    uint64_t key = store_mark(store, "load", RIG_MS);
    assert_true(marks_find_name(&store->marks, store_marks(store), key, name));
    assert_string_equal(name, "load");
    assert_false(marks_find_name(&store->marks, store_marks(store), key + 1, name));
}

TEST(a_renewed_store_has_no_marks)
{
    mark("before");
    rig_read(1, 0, 4096);
    store_renew(store, store->last_ns + RIG_MS);
    assert_int_equal(store_list_marks(store, marks), 0);
    mark("after");
    rig_read(1, 4096, 4096);
    assert_int_equal(store_list_marks(store, marks), 1);
    assert_string_equal(marks[0].name, "after");
    assert_int_equal(marks[0].since[MARKS_READS], 1);
}

TEST(a_renewed_store_knows_the_names)
{
    char name[MARKS_NAME_SIZE];
    uint64_t key = store_mark(store, "load", RIG_MS);
    store_renew(store, 2 * RIG_MS);
    assert_true(marks_find_name(&store->marks, store_marks(store), key, name));
    assert_string_equal(name, "load");
    assert_int_equal(store_mark(store, "load", 3 * RIG_MS), key);
}

/* Its clock was read before another thread renewed the store. */
TEST(a_mark_from_before_a_renewal_spoils_no_time)
{
    store_renew(store, 1000 * RIG_MS);
    store_mark(store, "late", 990 * RIG_MS);
    store_mark(store, "a", 1010 * RIG_MS);
    store_mark(store, "b", 1030 * RIG_MS);
    size_t n = store_list_marks(store, marks);
    assert_int_equal(n, 3);
    assert_int_equal(find(n, "late")->since[MARKS_NS], 10 * RIG_MS);
    assert_int_equal(find(n, "a")->since[MARKS_NS], 20 * RIG_MS);
}

/* Its totals were read before, and are told behind it. */
TEST(totals_from_before_a_renewal_spoil_no_section)
{
    uint64_t totals[MARKS_N_TOTALS] = {[MARKS_READS] = 100, [MARKS_READ_BYTES] = 409600, [MARKS_NS] = 50};
    for (uint64_t i = 0; i < 100; i++)
        rig_read(1, i * 4096, 4096);
    store_renew(store, store->last_ns);
    marks_take(&store->marks, store_marks(store), "late", store->last_ns, totals);
    mark("a");
    rig_read(1, 0, 4096);
    mark("b");
    size_t n = store_list_marks(store, marks);
    assert_int_equal(find(n, "late")->since[MARKS_READS], 0);
    assert_int_equal(find(n, "a")->since[MARKS_READS], 1);
    assert_int_equal(find(n, "a")->since[MARKS_READ_BYTES], 4096);
}

TEST(a_pause_is_no_part_of_a_section_over_a_renewal)
{
    mark("a");
    store_pause(store, store->last_ns + RIG_MS);
    store_renew(store, store->last_ns + 100 * RIG_MS);
    store_go_on(store, store->last_ns + 50 * RIG_MS);
    mark("b");
    mark("c");
    size_t n = store_list_marks(store, marks);
    assert_int_equal(n, 2);
    assert_int_equal(find(n, "b")->since[MARKS_NS], RIG_MS);
    assert_int_equal(store->marks.told[MARKS_NS] + 150 * RIG_MS, store->last_ns);
}

static void *mark_often(void *number)
{
    static const char *const names[] = {"one", "two", "three", "four", "five"};
    uint32_t thread = *(uint32_t *)number;
    for (uint32_t i = 0; i < N_EACH; i++) {
        const struct profile_request request = {.start_ns = 1 + i,
                                                .file = 1 + thread,
                                                .handle = thread,
                                                .thread = thread,
                                                .offset_bytes = (uint64_t)i * 4096,
                                                .n_bytes = 4096};
        store_mark(store, names[(thread + i) % 5], 1 + i);
        store_take(store, &request);
    }
    return NULL;
}

/* Each request belongs to one of them, whichever. */
TEST(threads_that_mark_at_once_lose_nothing)
{
    pthread_t threads[N_THREADS];
    uint32_t numbers[N_THREADS];
    uint64_t n_marks = 0, n_reads = 0, n_bytes = 0;
    store_mark(store, "first", 1);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, mark_often, &numbers[i]), 0);
    }
    for (uint32_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    size_t n = store_list_marks(store, marks);
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        n_marks += marks[i].count;
        n_reads += marks[i].since[MARKS_READS];
        n_bytes += marks[i].since[MARKS_READ_BYTES];
    }
    assert_int_equal(n_marks, 1 + N_THREADS * N_EACH);
    assert_int_equal(n_reads, N_THREADS * N_EACH);
    assert_int_equal(n_bytes, N_THREADS * N_EACH * 4096ULL);
}

static const char *const some_names[] = {"one", "two", "three", "four", "five"};
static uint64_t clock_ns; /* a step for each look */

static uint64_t look_at_clock(void)
{
    return __atomic_add_fetch(&clock_ns, 1000, __ATOMIC_RELAXED);
}

static void *mark_until(void *is_done)
{
    for (uint64_t i = 0; __atomic_load_n((int *)is_done, __ATOMIC_RELAXED) == 0; i++) {
        uint64_t now_ns = look_at_clock();
        const struct profile_request request = {
            .start_ns = now_ns, .file = 1, .handle = 1, .offset_bytes = i * 4096, .n_bytes = 4096};
        store_take(store, &request);
        if (store_mark(store, some_names[i % 5], now_ns) == 0)
            return is_done;
    }
    return NULL;
}

/* What is listed at any moment has a name and no more time than there was. */
static bool are_sound(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_known = false;
        for (size_t k = 0; k < 5; k++)
            is_known = is_known || strcmp(marks[i].name, some_names[k]) == 0;
        if (!is_known || marks[i].since[MARKS_NS] > 2 * look_at_clock())
            return false;
    }
    return true;
}

static void *renew_often(void *unused)
{
    for (int i = 0; i < 300; i++)
        store_renew(store, look_at_clock());
    return unused;
}

TEST(threads_that_mark_while_others_renew_spoil_nothing)
{
    int is_done = 0;
    bool is_sound = true;
    void *lost = NULL, *ret;
    pthread_t threads[5];
    rig_open(2 * STORE_MIN_BYTES);
    rig_read(1, 0, 4096);
    clock_ns = store->last_ns;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark_until, &is_done), 0);
    for (size_t i = 3; i < 5; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, renew_often, NULL), 0);
    for (int i = 0; i < 1000; i++)
        is_sound = is_sound && are_sound(store_list_marks(store, marks));
    for (size_t i = 5; i-- > 0;) {
        __atomic_store_n(&is_done, i < 3, __ATOMIC_RELAXED);
        pthread_join(threads[i], &ret);
        lost = lost == NULL ? ret : lost;
    }
    assert_true(is_sound && lost == NULL && are_sound(store_list_marks(store, marks)));
    store_renew(store, look_at_clock());
    store_mark(store, "one", look_at_clock());
    rig_read(1, 0, 4096);
    store_mark(store, "two", clock_ns + RIG_MS);
    size_t n = store_list_marks(store, marks);
    assert_int_equal(n, 2);
    assert_int_equal(find(n, "one")->since[MARKS_READS], 1);
    assert_int_equal(find(n, "one")->since[MARKS_READ_BYTES], 4096);
    assert_int_equal(find(n, "one")->since[MARKS_NS], RIG_MS);
}
