/* Tests of tuner/session/known_limits. */
#include "tests/test.h"
#include "tuner/session/known_limits.h"

#define MB 1e6

static const struct storage_stack capped = {.caps_known = true,
                                            .cap_read_bps = 200 * MB,
                                            .cap_write_bps = 100 * MB,
                                            .cap_read_iops = 3000,
                                            .dirty_background_bytes = 1000 * MB};

/* A run of `size` requests at this rate, all of whose reads met the device. */
static struct measure_result run_of(double read_bps, double write_bps, double size)
{
    struct measure_result result = {.throughput_bps = read_bps + write_bps,
                                    .iops = (read_bps + write_bps) / size,
                                    .bytes_read = (uint64_t)read_bps,
                                    .bytes_written = (uint64_t)write_bps,
                                    .total_bytes_read = (uint64_t)read_bps,
                                    .total_bytes_written = (uint64_t)write_bps};
    result.monitor.own_read_bytes = read_bps;
    return result;
}

static struct measure_plan plan_of(const char *pattern, uint8_t direct)
{
    struct measure_plan plan = {.point = {.direct = direct, .sync = SYNC_END}};
    assert_int_equal(pattern_parse(pattern, &plan.pattern, NULL), 0);
    return plan;
}

static const struct {
    const char *pattern;
    uint8_t direct;
    double read_mb, write_mb, size, lasting_mb;
} cases[] = {
    {"read", 1, 220, 0, 1 << 20, 200},    {"read", 1, 190, 0, 1 << 20, 190},
    {"write", 1, 0, 130, 1 << 20, 100},   {"randread", 1, 18, 0, 4096, 12.288}, /* 3000 requests a second */
    {"randread", 0, 18, 0, 4096, 18},     /* that read-ahead may have merged */
    {"randread", 0, 300, 0, 65536, 200},  /* the bytes of which no merging changes */
    {"write", 0, 0, 500, 1 << 20, 100},   /* whose flush keeps the limit */
    {"write", 0, 0, 1500, 1 << 20, 1500}, /* written back by others before the flush */
    {"rw:50", 1, 150, 150, 1 << 20, 200}, /* the writes are what is limited */
    {"rw:50", 1, 90, 90, 1 << 20, 180},
};

TEST(no_rate_is_above_what_lasts)
{
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct measure_plan plan = plan_of(cases[i].pattern, cases[i].direct);
        struct measure_result result = run_of(cases[i].read_mb * MB, cases[i].write_mb * MB, cases[i].size);
        double before_bps = result.throughput_bps, before_iops = result.iops;
        known_limits_apply(&capped, &plan, &result);
        assert_close(result.throughput_bps / MB, cases[i].lasting_mb, 1e-6 * cases[i].lasting_mb);
        assert_close(result.iops / before_iops, result.throughput_bps / before_bps, 1e-12);
        assert_close(result.burst_bps, result.throughput_bps < before_bps ? before_bps : 0, 1e-3);
    }
}

/* The figure and what it was before are told, and must not be the same number. */
TEST(what_is_above_the_limit_by_no_more_than_rounding_is_no_burst)
{
    struct measure_plan plan = plan_of("write", 1);
    struct measure_result near = run_of(0, 100.4 * MB, 1 << 20), above = run_of(0, 130 * MB, 1 << 20);
    known_limits_apply(&capped, &plan, &near);
    known_limits_apply(&capped, &plan, &above);
    assert_true(near.burst_bps > 0);
    assert_false(known_limits_shows_burst(&near));
    assert_true(known_limits_shows_burst(&above));
}

/* 100 MB/s: 30 MB in .2 s are .1 s ahead; of 100 MB at once most was not lent by the limit. */
TEST(what_a_burst_borrowed_is_waited_for)
{
    static const double mb[] = {30, 100, 20, 15};
    static const uint64_t debt_ms[] = {100, 200, 0, 0};
    struct measure_plan plan = plan_of("write", 1);
    for (size_t i = 0; i < N_OF(mb); i++) {
        struct measure_result result = run_of(0, mb[i] * MB / 0.2, 1 << 20);
        result.total_bytes_written = (uint64_t)(mb[i] * MB);
        result.monitor.span_s = 0.2;
        known_limits_apply(&capped, &plan, &result);
        assert_close((double)known_limits_debt_ns(&result) / 1e6, (double)debt_ms[i], 1e-3);
    }
}

TEST(what_met_the_page_cache_or_is_not_known_stays)
{
    struct storage_stack unknown = capped;
    struct measure_plan plan = plan_of("read", 0);
    struct measure_result result = run_of(900 * MB, 0, 1 << 20);
    result.monitor.own_read_bytes = 100 * MB;
    known_limits_apply(&capped, &plan, &result);
    assert_close(result.throughput_bps, 900 * MB, 0);
    result.monitor.own_read_bytes = (double)NAN;
    known_limits_apply(&capped, &plan, &result);
    assert_close(result.throughput_bps, 900 * MB, 0);
    result = run_of(900 * MB, 0, 1 << 20);
    unknown.caps_known = false;
    known_limits_apply(&unknown, &plan, &result);
    assert_close(result.throughput_bps, 900 * MB, 0);
}

TEST(writes_without_a_flush_keep_no_limit)
{
    struct measure_plan plan = plan_of("write", 0);
    struct measure_result result = run_of(0, 900 * MB, 1 << 20);
    struct storage_stack small = capped;
    plan.point.sync = SYNC_NONE;
    known_limits_apply(&capped, &plan, &result);
    assert_close(result.throughput_bps, 900 * MB, 0);
    assert_true(isinf(known_limits_ceiling(&capped, &plan.pattern, &plan.point, true)));
    plan.point.sync = SYNC_END;
    small.dirty_background_bytes = 150 * MB; /* a run of a search may write more */
    plan.point.request_size_bytes = 1 << 20;
    assert_true(isinf(known_limits_ceiling(&small, &plan.pattern, &plan.point, true)));
}

TEST(a_limit_on_anything_is_a_limit)
{
    struct storage_stack stack = {.caps_known = true};
    assert_false(known_limits_exist(&stack));
    stack.cap_write_iops = 500;
    assert_true(known_limits_exist(&stack));
}

static double ceiling_of(const char *pattern, uint8_t direct, bool cold, uint64_t size)
{
    struct measure_plan plan = plan_of(pattern, direct);
    plan.point.request_size_bytes = size;
    return known_limits_ceiling(&capped, &plan.pattern, &plan.point, cold);
}

TEST(a_ceiling_is_known_where_all_requests_are_bound)
{
    assert_close(ceiling_of("read", 1, false, 1 << 20) / MB, 200, 1e-9);
    assert_close(ceiling_of("randread", 1, false, 4096) / MB, 12.288, 1e-9);
    assert_close(ceiling_of("randread", 0, true, 4096) / MB, 200, 1e-9);
    assert_true(isinf(ceiling_of("randread", 0, false, 4096)));
    assert_close(ceiling_of("write", 1, true, 1 << 20) / MB, 100, 1e-9);
    assert_close(ceiling_of("write", 0, true, 1 << 20) / MB, 100, 1e-9);
    assert_close(ceiling_of("rw:50", 0, true, 1 << 20) / MB, 200, 1e-9);
    assert_true(isinf(ceiling_of("rw:50", 0, false, 1 << 20)));
    assert_close(ceiling_of("rw:80", 1, true, 1 << 20) / MB, 250, 1e-9);
}
