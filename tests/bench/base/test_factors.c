/* Tests of bench/base/factors: what a legal point is, and how it reads. */
#include "bench/base/factors.h"
#include "tests/test.h"

#include <errno.h>

static const struct point good = {.request_size_bytes = 65536,
                                  .queue_depth = 8,
                                  .direct = 1,
                                  .api = API_IO_URING,
                                  .threads = 1,
                                  .sync = SYNC_END};

TEST(names_are_read_back)
{
    const char *const apis[] = {"psync", "pvec", "pool", "libaio", "io_uring"};
    const char *const syncs[] = {"none", "end", "each"};
    for (unsigned i = 0; i < API_N; i++) {
        enum api api = API_N;
        assert_string_equal(api_names[i], apis[i]);
        assert_int_equal(factors_parse_api(apis[i], &api), 0);
        assert_int_equal(api, i);
    }
    for (unsigned i = 0; i < SYNC_N; i++) {
        enum sync sync = SYNC_N;
        assert_string_equal(sync_names[i], syncs[i]);
        assert_int_equal(factors_parse_sync(syncs[i], &sync), 0);
        assert_int_equal(sync, i);
    }
}

TEST(unknown_names_are_einval)
{
    const char *const wrong[] = {"", "PSYNC", "psync ", "io-uring", "io_urin", "io_uringx"};
    enum api api = API_POOL;
    enum sync sync = SYNC_EACH;
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_int_equal(factors_parse_api(wrong[i], &api), -EINVAL);
        assert_int_equal(factors_parse_sync(wrong[i], &sync), -EINVAL);
    }
    assert_int_equal(api, API_POOL);
    assert_int_equal(sync, SYNC_EACH);
}

TEST(a_point_is_its_levels)
{
    const struct point points[] = {{65536, 8, 1, API_IO_URING, 2, SYNC_EACH, 0, 0},
                                   {65536, 8, 0, API_POOL, 1, SYNC_NONE, 4096, 0}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t levels[FACTOR_N];
        for (enum factor factor = 0; factor < FACTOR_N; factor++)
            levels[factor] = factors_level(&points[i], factor);
        const struct point made = factors_point(levels);
        assert_true(factors_equal(&made, &points[i]) && made.write_size_bytes == points[i].write_size_bytes);
    }
    assert_int_equal(factors_level(&points[0], FACTOR_WRITE_SIZE), 65536);
    assert_string_equal(factors_keys[FACTOR_WRITE_SIZE], "write_request_size");
}

/* Every row is the good point with one thing changed; the text of a refusal must name the factor. */
TEST(points_are_legal_inside_their_ranges_only)
{
    const struct {
        struct point point;
        const char *blamed; /* NULL: legal */
    } rows[] = {
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, NULL},
        {{512, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, NULL},
        {{512ULL << 20, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, NULL},
        {{0, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "request_size"},
        {{511, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "request_size"},
        {{5000, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "request_size"},
        {{(512ULL << 20) + 512, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "request_size"},
        {{65536, 0, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "queue_depth"},
        {{65536, 1024, 1, API_IO_URING, 1, SYNC_END, 0, 0}, NULL},
        {{65536, 1025, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "queue_depth"},
        {{65536, 8, 0, API_IO_URING, 1, SYNC_END, 0, 0}, NULL},
        {{65536, 8, 2, API_IO_URING, 1, SYNC_END, 0, 0}, "direct"},
        {{65536, 8, 1, API_N, 1, SYNC_END, 0, 0}, "api"},
        {{65536, 8, 1, API_IO_URING, 0, SYNC_END, 0, 0}, "threads"},
        {{65536, 8, 1, API_IO_URING, 64, SYNC_END, 0, 0}, NULL},
        {{65536, 8, 1, API_IO_URING, 65, SYNC_END, 0, 0}, "threads"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_N, 0, 0}, "sync"},
        {{65536, 1, 1, API_PSYNC, 1, SYNC_END, 0, 0}, NULL},
        {{65536, 2, 1, API_PSYNC, 1, SYNC_END, 0, 0}, "queue_depth"},
        {{65536, 1, 1, API_PVEC, 1, SYNC_END, 0, 0}, "queue_depth"},
        {{65536, 2, 1, API_PVEC, 1, SYNC_END, 0, 0}, NULL},
        {{65536, 1024, 1, API_PVEC, 1, SYNC_END, 0, 0}, NULL},
        /* 2^31 - 4096 bytes are legal, 2^31 are not. */
        {{2147479552 / 8, 8, 1, API_PVEC, 1, SYNC_END, 0, 0}, NULL},
        {{2147483648 / 8, 8, 1, API_PVEC, 1, SYNC_END, 0, 0}, "request_size"},
        {{2147483648 / 8, 8, 1, API_POOL, 1, SYNC_END, 0, 0}, NULL},
        {{512ULL << 20, 1024, 1, API_PVEC, 1, SYNC_END, 0, 0}, "request_size"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 8192, 0}, NULL},
        {{8192, 8, 1, API_IO_URING, 1, SYNC_END, 65536, 0}, NULL},
        {{12288, 8, 1, API_IO_URING, 1, SYNC_END, 24576, 0}, NULL},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 24576, 0}, "write_request_size"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 5000, 0}, "write_request_size"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 1ULL << 30, 0}, "write_request_size"},
        {{65536, 8, 1, API_PVEC, 1, SYNC_END, 8192, 0}, "write_request_size"},
        {{65536, 8, 1, API_PVEC, 1, SYNC_END, 65536, 0}, NULL},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct err err = {0};
        int r = factors_check(&rows[i].point, &err);
        assert_int_equal(r, rows[i].blamed ? -EINVAL : 0);
        assert_int_equal(err.code, r);
        if (rows[i].blamed)
            assert_memory_equal(err.text, rows[i].blamed, strlen(rows[i].blamed));
        assert_int_equal(factors_check(&rows[i].point, NULL), r);
    }
}

TEST(odd_size_gets_the_two_sizes_beside_it)
{
    struct point point = good;
    struct err err = {0};
    point.request_size_bytes = 5000;
    assert_int_equal(factors_check(&point, &err), -EINVAL);
    assert_string_equal(err.text, "request_size: 5000 is not a multiple of 512; use 4608 or 5120");
}

TEST(bytes_in_flight_do_not_wrap_at_32_bits)
{
    const struct point point = {512ULL << 20, 1024, 1, API_IO_URING, 64, SYNC_END, 0, 0};
    assert_int_equal(factors_bytes_in_flight(&good), 524288);
    assert_int_equal(factors_bytes_in_flight(&point), 1ULL << 45);
}

TEST(every_factor_counts_in_equality)
{
    assert_true(factors_equal(&good, &good));
    struct point others[7] = {good, good, good, good, good, good, good};
    others[0].request_size_bytes = 4096;
    others[1].queue_depth = 4;
    others[2].direct = 0;
    others[3].api = API_LIBAIO;
    others[4].threads = 2;
    others[5].sync = SYNC_NONE;
    others[6].write_size_bytes = 4096;
    for (size_t i = 0; i < 7; i++)
        assert_false(factors_equal(&good, &others[i]));
}

TEST(the_size_of_writes_is_that_of_reads_unless_it_is_another)
{
    struct point point = good, named = good;
    assert_false(factors_is_split(&good));
    assert_int_equal(factors_write_size_bytes(&good), good.request_size_bytes);
    named.write_size_bytes = named.request_size_bytes;
    assert_true(factors_equal(&good, &named) && !factors_is_split(&named));
    factors_set_write_size(&point, 4096);
    assert_true(factors_is_split(&point));
    assert_int_equal(factors_write_size_bytes(&point), 4096);
    factors_set_write_size(&point, good.request_size_bytes);
    assert_int_equal(point.write_size_bytes, 0);
}

TEST(the_larger_size_is_in_flight)
{
    const uint64_t writes[] = {4096, 65536, 1 << 20};
    const uint64_t largest[] = {65536, 65536, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        struct point point = good;
        factors_set_write_size(&point, writes[i]);
        assert_int_equal(factors_largest_size_bytes(&point), largest[i]);
        assert_int_equal(factors_bytes_in_flight(&point), largest[i] * good.queue_depth * good.threads);
    }
}

TEST(format_names_what_differs_from_the_usual)
{
    const struct {
        struct point point;
        const char *text;
    } rows[] = {
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0}, "64k x 8, direct, io_uring"},
        {{4096, 1, 0, API_PSYNC, 4, SYNC_EACH, 0, 0}, "4k x 1, buffered, psync, 4 threads, sync each"},
        {{4608, 2, 0, API_PVEC, 1, SYNC_NONE, 0, 0}, "4608 x 2, buffered, pvec, sync none"},
        {{1 << 20, 16, 1, API_POOL, 2, SYNC_END, 0, 0}, "1m x 16, direct, pool, 2 threads"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 8192, 0}, "64k/8k x 8, direct, io_uring"},
        {{65536, 8, 1, API_IO_URING, 1, SYNC_END, 65536, 0}, "64k x 8, direct, io_uring"},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        char buffer[FACTORS_TEXT_SIZE];
        assert_ptr_equal(factors_format(&rows[i].point, buffer), buffer);
        assert_string_equal(buffer, rows[i].text);
    }
}

TEST(clients_count_where_they_are_varied)
{
    struct point one = good, four = good;
    char text[FACTORS_TEXT_SIZE];
    one.clients = 1;
    four.clients = 4;
    assert_false(factors_equal(&one, &four) || factors_equal(&good, &one));
    assert_int_equal(factors_bytes_in_flight(&one), factors_bytes_in_flight(&good));
    assert_int_equal(factors_bytes_in_flight(&four), 4 * factors_bytes_in_flight(&good));
    assert_int_equal(factors_bytes_of_client(&four), factors_bytes_in_flight(&good));
    assert_string_equal(factors_format(&four, text), "64k x 8, direct, io_uring, 4 clients");
    assert_string_equal(factors_format(&one, text), "64k x 8, direct, io_uring, 1 client");
}

TEST(format_fits_whatever_the_point)
{
    const struct point wild = {UINT64_MAX, UINT32_MAX,    UINT32_MAX,     (enum api)99,
                               UINT32_MAX, (enum sync)99, UINT64_MAX - 1, UINT32_MAX};
    char buffer[FACTORS_TEXT_SIZE];
    factors_format(&wild, buffer);
    assert_string_equal(
        buffer, "18446744073709551615/18446744073709551614 x 4294967295, direct, ?, 4294967295 threads, "
                "sync ?, 4294967295 clients");
}
