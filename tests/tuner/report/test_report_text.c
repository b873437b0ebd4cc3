/* Tests of tuner/report/report_text: figures in words. */
#include "tests/test.h"
#include "tuner/report/report_text.h"

static char text[500];

static const char *latency_of(const struct latency_row *latency)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    text_latency(out, latency);
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct latency_row latency_up_to(double high_ns)
{
    return (struct latency_row){
        .mean = 5e5, .p50 = 4e5, .p99 = 1e6, .p999 = NAN, .max = 3e6, .n = 812, .p99_ci = {9e5, high_ns}};
}

TEST(a_bound_of_p99_is_a_bound)
{
    struct latency_row latency = latency_up_to(2e6);
    assert_string_equal(latency_of(&latency),
                        "mean 500 us, p50 400 us, p99 1.00 ms (900 us to 2.00 ms), max 3.00 ms");
}

/* Behind a limit a few requests wait for its next turn. */
TEST(a_mean_above_p99_is_explained)
{
    struct latency_row latency = latency_up_to(2e6);
    latency.mean = 1.5e6;
    assert_non_null(strstr(latency_of(&latency),
                           ", max 3.00 ms; the mean is above p99: a few requests or runs took far longer"));
}

TEST(a_bound_that_is_the_slowest_request_is_called_so)
{
    struct latency_row latency = latency_up_to(3e6);
    assert_string_equal(latency_of(&latency),
                        "mean 500 us, p50 400 us, p99 1.00 ms (900 us to 3.00 ms, which "
                        "is the slowest of 812 requests)");
    /* Imported figures have no count. */
    latency.n = 0;
    assert_string_equal(latency_of(&latency),
                        "mean 500 us, p50 400 us, p99 1.00 ms (900 us to 3.00 ms), max 3.00 ms");
}

TEST(requests_that_all_took_the_same_time_have_no_slowest)
{
    struct latency_row latency = latency_up_to(3e6);
    latency.p99_ci.low = 3e6;
    assert_null(strstr(latency_of(&latency), "slowest"));
}

TEST(latency_of_writes_is_without_the_flush_and_of_buffered_ones_that_of_the_page_cache)
{
    struct pattern writes, reads, both;
    struct err err;
    struct point point = {65536, 4, 0, API_IO_URING, 1, SYNC_END, 0, 0};
    assert_int_equal(pattern_parse("randwrite", &writes, &err), 0);
    assert_int_equal(pattern_parse("randread", &reads, &err), 0);
    assert_int_equal(pattern_parse("randrw:50", &both, &err), 0);
    assert_string_equal(text_latency_scope(&point, &writes),
                        "into the page cache, without the flush that the throughput has in it: ");
    assert_string_equal(text_latency_scope(&point, &both),
                        "of reads, and of writes into the page cache without the flush that the throughput "
                        "has in it: ");
    assert_string_equal(text_latency_scope(&point, &reads), "");
    point.sync = SYNC_NONE;
    assert_string_equal(text_latency_scope(&point, &writes), "into the page cache alone: ");
    assert_string_equal(text_latency_scope(&point, &both),
                        "of reads, and of writes into the page cache alone: ");
    point.sync = SYNC_EACH;
    assert_string_equal(text_latency_scope(&point, &writes), "");
    point.direct = 1;
    assert_string_equal(text_latency_scope(&point, &writes), "");
    point.sync = SYNC_NONE;
    assert_string_equal(text_latency_scope(&point, &writes), "");
    point.sync = SYNC_END;
    assert_string_equal(text_latency_scope(&point, &writes),
                        "without the flush that the throughput has in it: ");
}
