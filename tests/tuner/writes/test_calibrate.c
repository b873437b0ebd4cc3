/* Tests of tuner/writes/calibrate: what made-up rounds say, and how much room a calibration takes. */
#include "tests/test.h"
#include "tuner/writes/calibrate.h"

#include <errno.h>

#define N   6
#define MIB 1048576.0

static const struct calibrate_sizes sizes = {{512, 1024, 2048, 4096, 8192, 16384},
                                             {4096, 8192, 16384, 32768, 65536},
                                             {MIB, 2 * MIB, 4 * MIB, 8 * MIB},
                                             {8, 4, 2, 1},
                                             {64, 128, 256, 512}};
static struct calibrate_round rounds[N];
static struct calibrate_value values[HOST_N_PARAMETERS];
static struct err err;

static void fill_line(double *costs, const double *bytes, size_t n, double fixed_s, double bps, double scale)
{
    for (size_t i = 0; i < n; i++)
        costs[i] = scale * (fixed_s + bytes[i] / bps);
}

/* A machine with known parameters, whose rounds differ by a few percent. */
FIXTURE(enter)
{
    static const double scales[N] = {1, 1.02, 0.98, 1.01, 0.99, 1};
    static const double rates_bps[CALIBRATE_N_SERIES] = {8e9, 4e9, 4e8, 2e9, 6e9, 1.5e9, 3e9, 0};
    memset(values, 0, sizeof values);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < CALIBRATE_SEEK; k++)
            rounds[i].series[k] = scales[i] / rates_bps[k];
        rounds[i].series[CALIBRATE_SEEK] = 30e-6 * scales[i];
        fill_line(rounds[i].calls_s, sizes.calls_bytes, CALIBRATE_N_CALLS, 5e-7, 4e9, scales[i]);
        fill_line(rounds[i].small_s, sizes.small_bytes, CALIBRATE_N_SMALL, 1e-4, 1e9, scales[i]);
        fill_line(rounds[i].buffer_s, sizes.buffer_bytes, CALIBRATE_N_BUFFER, 2e-8, 3e10, scales[i]);
        fill_line(rounds[i].large_s, sizes.large_bytes, CALIBRATE_N_LARGE, 1e-4, 1e9, scales[i]);
    }
    return 0;
}

static void evaluate(size_t n)
{
    assert_int_equal(calibrate_evaluate(rounds, n, &sizes, values, &err), 0);
}

static void check_value(enum host_index i, double expected)
{
    assert_true(values[i].known);
    assert_close(values[i].value / expected, 1, 0.01);
    assert_true(values[i].interval.low < expected && expected < values[i].interval.high);
    assert_true(values[i].interval.low > 0.95 * expected && values[i].interval.high < 1.05 * expected);
    assert_int_equal(values[i].n, N);
}

TEST_WITH(parameters_of_a_known_machine_are_found, enter, NULL)
{
    static const double expected[] = {
        [HOST_BW_MEM] = 8e9,     [HOST_BW_RAMDISK] = 4e9,   [HOST_BW_RAMDISK_FIRST_TOUCH] = 4e8,
        [HOST_BW_REDUCED] = 2e9, [HOST_BW_REWRITE] = 6e9,   [HOST_BW_DEV] = 1e9,
        [HOST_BW_RDEV] = 1.5e9,  [HOST_BW_WRITEBACK] = 3e9, [HOST_BW_PAGE] = 4e9,
        [HOST_BW_BUFFER] = 3e10, [HOST_SC_W] = 5e-7,        [HOST_SC_SW] = 1e-4,
        [HOST_SC_F] = 2e-8,      [HOST_C_SK] = 30e-6};
    evaluate(N);
    for (size_t i = 0; i < N_OF(expected); i++)
        check_value((enum host_index)i, expected[i]);
    assert_true(values[HOST_SC_SW].fitted && !values[HOST_BW_MEM].fitted);
    assert_false(values[HOST_BS].known);
}

TEST_WITH(one_round_of_a_stalled_device_is_an_outlier, enter, NULL)
{
    rounds[3].large_s[3] *= 30;
    rounds[4].small_s[0] *= 40;
    evaluate(N);
    assert_true(values[HOST_BW_DEV].fit.robust && values[HOST_SC_SW].fit.robust);
    assert_close(values[HOST_BW_DEV].value / 1e9, 1, 0.05);
    assert_close(values[HOST_SC_SW].value / 1e-4, 1, 0.05);
}

TEST_WITH(rounds_of_a_busy_machine_do_not_count, enter, NULL)
{
    for (size_t i = 0; i < 2; i++) {
        fill_line(rounds[i].small_s, sizes.small_bytes, CALIBRATE_N_SMALL, 17e-4, 1e9, 1);
        rounds[3 + i].series[CALIBRATE_CACHE] *= 3;
    }
    evaluate(N);
    assert_close(values[HOST_SC_SW].value / 1e-4, 1, 0.02);
    assert_close(values[HOST_BW_RAMDISK].value / 4e9, 1, 0.02);
    assert_int_equal(values[HOST_SC_SW].n, N - 2);
    assert_int_equal(values[HOST_BW_RAMDISK].n, N - 2);
    assert_int_equal(values[HOST_BW_MEM].n, N);
}

TEST_WITH(rounds_that_happen_to_agree_leave_others_in, enter, NULL)
{
    for (size_t i = 0; i < N; i++)
        rounds[i].series[CALIBRATE_CACHE] = (i == 0 ? 1.1 : 1) / 4e9;
    evaluate(N);
    assert_int_equal(values[HOST_BW_RAMDISK].n, N);
}

TEST_WITH(time_that_one_write_borrows_of_the_next_does_not_change_the_rate, enter, NULL)
{
    for (size_t i = 0; i < N; i++) {
        rounds[i].large_s[1] -= 2e-4; /* four times */
        rounds[i].large_s[2] += 4e-4; /* twice */
    }
    evaluate(N);
    assert_close(values[HOST_BW_DEV].value / 1e9, 1, 0.01);
}

TEST_WITH(a_seek_lost_in_the_scatter_costs_nothing, enter, NULL)
{
    for (size_t i = 0; i < N; i++)
        rounds[i].series[CALIBRATE_SEEK] = i % 2 == 0 ? -3e-6 : 1e-6;
    evaluate(N);
    assert_true(values[HOST_C_SK].known && values[HOST_C_SK].value == 0);
    assert_true(values[HOST_C_SK].interval.low == 0 && values[HOST_C_SK].interval.high > 0);
}

TEST_WITH(what_no_round_measured_is_not_known, enter, NULL)
{
    for (size_t i = 0; i < N; i++)
        rounds[i].series[CALIBRATE_REDUCED] = NAN;
    evaluate(N);
    assert_false(values[HOST_BW_REDUCED].known);
    memset(values, 0, sizeof values);
    evaluate(0);
    assert_false(values[HOST_BW_MEM].known || values[HOST_SC_W].known);
}

TEST_WITH(two_rounds_have_values_and_no_intervals, enter, NULL)
{
    evaluate(2);
    assert_true(values[HOST_BW_DEV].known && isnan(values[HOST_BW_DEV].interval.low));
    assert_true(values[HOST_SC_W].known && isnan(values[HOST_SC_W].interval.low));
    assert_true(values[HOST_C_SK].known && isnan(values[HOST_C_SK].interval.low));
}

static const struct calibrate_room wide = {2e9, 0, 1e11, 1e11, INFINITY, 8.0 * 1024 * MIB, 650 * MIB};

static void check_size(struct calibrate_room room, double bytes, const char *bound)
{
    const char *found = NULL;
    uint64_t size = 0;
    assert_int_equal(calibrate_cache_size(&room, &size, &found, &err), 0);
    assert_true((double)size == bytes);
    if (bound == NULL)
        assert_null(found);
    else
        assert_non_null(strstr(found, bound));
}

#define AT(member) offsetof(struct calibrate_room, member)

static struct calibrate_room changed(const struct calibrate_room *from, size_t at, double value)
{
    struct calibrate_room room = *from;
    memcpy((char *)&room + at, &value, sizeof value);
    return room;
}

TEST(the_tightest_bound_sets_the_size)
{
    static const struct {
        size_t at;
        double value, bytes;
        const char *bound;
    } cases[] = {{AT(limit_bg_bytes), 400 * MIB, 100 * MIB, "dirty limit"},
                 {AT(memory_bytes), 80 * MIB, 10 * MIB, "memory"},
                 {AT(free_bytes), 92 * MIB, 20 * MIB, "free space"},
                 {AT(file_size_bytes), 300 * MIB, 100 * MIB, "ulimit"},
                 {AT(write_bytes), 4020 * MIB, 10 * MIB, "--max-write"},
                 /* The default of --max-write, of which the file takes 256 MiB, leaves room for the most. */
                 {AT(write_bytes), 7936 * MIB, 256 * MIB, NULL},
                 {AT(dirty_bytes), 2e9 - 200 * MIB, 50 * MIB, "dirty limit"}};
    for (size_t i = 0; i < N_OF(cases); i++)
        check_size(changed(&wide, cases[i].at, cases[i].value), cases[i].bytes, cases[i].bound);
}

/* A device whose largest durable write is 8 MiB. */
TEST(a_slow_device_needs_a_small_write_budget)
{
    struct calibrate_room room = wide;
    room.durable_bytes = calibrate_durable_bytes(&sizes);
    assert_true(room.durable_bytes > 5 * 8 * MIB && room.durable_bytes < 64 * MIB);
    room.write_bytes = 512 * MIB;
    check_size(room, floor((512 - 6 * room.durable_bytes / MIB) / 12) * MIB, "--max-write");
    assert_true(calibrate_can_flush(&room, room.limit_bg_bytes + 16 * MIB));
    room.write_bytes = calibrate_least_bytes(&room);
    check_size(room, 4 * MIB, "--max-write");
}

/* Whatever the write budget: with the largest write that is allowed it is enough, or nothing is. */
TEST(the_largest_write_leaves_room_for_the_page_cache)
{
    struct calibrate_room room = wide;
    for (room.write_bytes = 100 * MIB; room.write_bytes < 8192 * MIB; room.write_bytes += 7 * MIB) {
        struct calibrate_sizes fit = sizes;
        const char *bound;
        uint64_t bytes;
        double largest = calibrate_largest_bytes(&room, &sizes);
        fit.large_bytes[CALIBRATE_N_LARGE - 1] = ldexp(1, ilogb(fmax(largest, MIB)));
        room.durable_bytes = calibrate_durable_bytes(&fit);
        int result = calibrate_cache_size(&room, &bytes, &bound, &err);
        assert_int_equal(result,
                         largest >= MIB || room.write_bytes >= calibrate_least_bytes(&room) ? 0 : -ENOSPC);
    }
    assert_true(calibrate_largest_bytes(&room, &sizes) >= 128 * MIB);
}

TEST(too_little_room_is_refused_with_its_reason)
{
    struct calibrate_room room = wide;
    uint64_t size = 7;
    const char *found = NULL;
    room.limit_bg_bytes = 8 * MIB;
    assert_int_equal(calibrate_cache_size(&room, &size, &found, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "limit_bg"));
    assert_int_equal(size, 7);
    room.dirty_bytes = 100 * MIB;
    assert_int_equal(calibrate_cache_size(&room, &size, &found, &err), -ENOSPC);
}

TEST(the_flusher_is_met_where_limits_are_near)
{
    static const struct {
        size_t at;
        double value;
    } too_little[] = {{AT(memory_bytes), 3000 * MIB},
                      {AT(free_bytes), 1500 * MIB},
                      {AT(file_size_bytes), 900 * MIB},
                      {AT(write_bytes), 5000 * MIB},
                      {AT(dirty_bytes), 200 * MIB}}; /* of others */
    const struct calibrate_room near = changed(&wide, AT(limit_bg_bytes), 512 * MIB);
    assert_true(calibrate_can_flush(&near, 1024 * MIB));
    assert_false(calibrate_can_flush(&near, 3072 * MIB)); /* takes too long */
    for (size_t i = 0; i < N_OF(too_little); i++) {
        const struct calibrate_room room = changed(&near, too_little[i].at, too_little[i].value);
        assert_false(calibrate_can_flush(&room, 1024 * MIB));
    }
}

TEST_WITH(rounds_that_differ_too_much_are_named, enter, NULL)
{
    char text[128];
    evaluate(N);
    assert_int_equal(calibrate_find_wide(values, text, sizeof text), 0);
    assert_string_equal(text, "");
    for (size_t i = 0; i < N / 2; i++)
        fill_line(rounds[i].small_s, sizes.small_bytes, CALIBRATE_N_SMALL, 3e-3, 1e9, 1);
    evaluate(N);
    assert_int_equal(calibrate_find_wide(values, text, sizeof text), 1);
    assert_string_equal(text, "sc_sw");
}
