/* Tests of tuner/profile/profile_phases: marks as a document and as text. */
#include "tuner/profile/profile_document.h"

#include "tests/tuner/json_check.h"

static struct store *store;
static char *text;

static int begin(void **state)
{
    (void)state;
    store = calloc(1, STORE_DEFAULT_BYTES);
    assert_non_null(store);
    return store_init(store, STORE_DEFAULT_BYTES, 0);
}

static int end(void **state)
{
    (void)state;
    free(store);
    free(text);
    text = NULL;
    return 0;
}

EACH_TEST(begin, end);

static void transfer(enum profile_direction direction, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const struct profile_request request = {.start_ns = store->last_ns + 1000000,
                                                .file = 1,
                                                .handle = 1,
                                                .thread = 1,
                                                .offset_bytes = i * 4096,
                                                .n_bytes = 4096,
                                                .direction = direction};
        store_take(store, &request);
    }
}

static const char *print(void)
{
    FILE *out = memory_stream(&text);
    profile_phases_print_marks(out, store);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(a_program_without_marks_has_none)
{
    transfer(PROFILE_READ, 10);
    json_t *marks = profile_phases_marks_json(store);
    assert_int_equal(json_array_size(marks), 0);
    assert_string_equal(print(), "");
    json_decref(marks);
}

TEST(a_mark_has_what_was_done_until_the_next)
{
    store_mark(store, "load", 500000000);
    transfer(PROFILE_WRITE, 100);
    store_mark(store, "query", 1000000000);
    transfer(PROFILE_READ, 300);
    store_flush(store, 1, store->last_ns, 0);
    store_mark(store, "load", 2000000000);
    json_t *marks = profile_phases_marks_json(store);
    assert_int_equal(json_array_size(marks), 2);
    CHECK_JSON(json_array_get(marks, 0), "name=load", "count=2", "first_s=0.5", "last_s=2", "seconds=0.5",
               "requests.read=0", "requests.write=100", "bytes.write=409600", "shares.1=1");
    CHECK_JSON(json_array_get(marks, 1), "name=query", "count=1", "first_s=1", "seconds=1",
               "requests.read=300", "requests.flush=1", "bytes.read=1228800", "shares.0=1");
    json_decref(marks);
    assert_string_equal(
        print(), "\nMarks, and what was done until the next one\n"
                 "  load                             at 0.500 s to 2.000 s, 2 times: 0.500 s, write: 100 "
                 "requests, 0 B read, 410 kB written\n"
                 "  query                            at 1.000 s: 1.000 s, read: 300 requests, 1.23 MB "
                 "read, 0 B written\n");
}

TEST(a_mark_without_requests_says_so_and_a_name_cannot_disturb_a_terminal)
{
    store_mark(store, "a\033[1mb", 1000000);
    store_flush(store, 1, 2000000, 0);
    store_mark(store, "idle", 3000000);
    print();
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, ": 0.002 s, no requests but flushes\n"));
    assert_non_null(strstr(text, "  idle "));
    assert_non_null(strstr(text, ": 0.000 s, no requests\n"));
}
