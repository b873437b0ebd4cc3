/* Tests of models/online/kind. */
#include "models/online/kind.h"
#include "tests/test.h"

static const char *name_of(uint64_t n_reads, uint64_t n_writes, uint64_t bytes_each, uint64_t n_sequential)
{
    struct kind_counts counts = {{n_reads, n_writes}, (n_reads + n_writes) * bytes_each, n_sequential};
    return kind_name(kind_of(&counts));
}

TEST(kinds_are_told_apart_by_order_direction_and_size)
{
    assert_string_equal(name_of(100, 0, 4096, 3), "random-read-small");
    assert_string_equal(name_of(100, 0, 256 << 10, 90), "seq-read-large");
    assert_string_equal(name_of(0, 100, 64 << 10, 0), "random-write-medium");
    assert_string_equal(name_of(70, 30, 4096, 0), "random-mixed-small");
    assert_string_equal(name_of(95, 5, 128 << 10, 99), "seq-read-large");
}

TEST(few_requests_are_of_no_kind)
{
    assert_string_equal(name_of(KIND_LEAST_REQUESTS - 1, 0, 4096, 0), "none");
    assert_string_equal(name_of(KIND_LEAST_REQUESTS, 0, 4096, 0), "random-read-small");
}

TEST(every_kind_is_found_by_its_name)
{
    for (unsigned kind = 0; kind < KIND_N; kind++)
        assert_int_equal(kind_find(kind_name(kind)), kind);
    assert_int_equal(kind_find("elsewhere"), KIND_NONE);
}

TEST(a_name_says_what_the_questions_answer)
{
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        const char *name = kind_name(kind);
        assert_int_equal(kind_is_sequential(kind), strncmp(name, "seq-", 4) == 0);
        assert_int_equal(kind_is_large(kind), strstr(name, "-large") != NULL);
        assert_int_equal(kind_only_writes(kind), strstr(name, "-write-") != NULL);
        assert_int_equal(kind_only_reads(kind), strstr(name, "-read-") != NULL);
    }
}
