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
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    check_value(HOST_BW_MEM, 8e9);
    check_value(HOST_BW_RAMDISK, 4e9);
    check_value(HOST_BW_RAMDISK_FIRST_TOUCH, 4e8);
    check_value(HOST_BW_REDUCED, 2e9);
    check_value(HOST_BW_REWRITE, 6e9);
    check_value(HOST_BW_RDEV, 1.5e9);
    check_value(HOST_BW_DEV, 1e9);
    check_value(HOST_BW_WRITEBACK, 3e9);
    check_value(HOST_BW_PAGE, 4e9);
    check_value(HOST_BW_BUFFER, 3e10);
    check_value(HOST_SC_F, 2e-8);
    check_value(HOST_SC_W, 5e-7);
    check_value(HOST_SC_SW, 1e-4);
    check_value(HOST_C_SK, 30e-6);
    assert_true(values[HOST_SC_SW].fitted && !values[HOST_BW_MEM].fitted);
    assert_false(values[HOST_BS].known);
}

TEST_WITH(one_round_of_a_stalled_device_is_an_outlier, enter, NULL)
{
    rounds[3].large_s[3] *= 30;
    rounds[4].small_s[0] *= 40;
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
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
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
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
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_int_equal(values[HOST_BW_RAMDISK].n, N);
}

TEST_WITH(time_that_one_write_borrows_of_the_next_does_not_change_the_rate, enter, NULL)
{
    for (size_t i = 0; i < N; i++) {
        rounds[i].large_s[1] -= 2e-4; /* four times */
        rounds[i].large_s[2] += 4e-4; /* twice */
    }
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_close(values[HOST_BW_DEV].value / 1e9, 1, 0.01);
}

TEST_WITH(a_seek_lost_in_the_scatter_costs_nothing, enter, NULL)
{
    for (size_t i = 0; i < N; i++)
        rounds[i].series[CALIBRATE_SEEK] = i % 2 == 0 ? -3e-6 : 1e-6;
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_true(values[HOST_C_SK].known && values[HOST_C_SK].value == 0);
    assert_true(values[HOST_C_SK].interval.low == 0 && values[HOST_C_SK].interval.high > 0);
}

TEST_WITH(what_no_round_measured_is_not_known, enter, NULL)
{
    for (size_t i = 0; i < N; i++)
        rounds[i].series[CALIBRATE_REDUCED] = NAN;
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_false(values[HOST_BW_REDUCED].known);
    memset(values, 0, sizeof values);
    assert_int_equal(calibrate_evaluate(rounds, 0, &sizes, values, &err), 0);
    assert_false(values[HOST_BW_MEM].known || values[HOST_SC_W].known);
}

TEST_WITH(two_rounds_have_values_and_no_intervals, enter, NULL)
{
    assert_int_equal(calibrate_evaluate(rounds, 2, &sizes, values, &err), 0);
    assert_true(values[HOST_BW_DEV].known && isnan(values[HOST_BW_DEV].interval.low));
    assert_true(values[HOST_SC_W].known && isnan(values[HOST_SC_W].interval.low));
    assert_true(values[HOST_C_SK].known && isnan(values[HOST_C_SK].interval.low));
}

static struct calibrate_room wide(void)
{
    return (struct calibrate_room){2e9, 0, 1e11, 1e11, INFINITY, 8.0 * 1024 * MIB, 650 * MIB};
}

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

TEST(the_tightest_bound_sets_the_size)
{
    struct calibrate_room room = wide();
    check_size(room, 256 * MIB, NULL);
    room.limit_bg_bytes = 400 * MIB;
    check_size(room, 100 * MIB, "dirty limit");
    room.dirty_bytes = 200 * MIB;
    check_size(room, 50 * MIB, "dirty limit");
    room = wide();
    room.memory_bytes = 80 * MIB;
    check_size(room, 10 * MIB, "memory");
    room = wide();
    room.free_bytes = 92 * MIB;
    check_size(room, 20 * MIB, "free space");
    room = wide();
    room.file_size_bytes = 300 * MIB;
    check_size(room, 100 * MIB, "ulimit");
    room = wide();
    room.write_bytes = 4020 * MIB;
    check_size(room, 10 * MIB, "--max-write");
}

/* 8 GiB, of which the file takes 256 MiB. */
TEST(the_default_of_max_write_leaves_room_for_the_most)
{
    struct calibrate_room room = wide();
    room.write_bytes -= 256 * MIB;
    check_size(room, 256 * MIB, NULL);
}

/* A device whose largest durable write is 8 MiB. */
TEST(a_slow_device_needs_a_small_write_budget)
{
    struct calibrate_room room = wide();
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
    struct calibrate_room room = wide();
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
    struct calibrate_room room = wide();
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
    struct calibrate_room near = {512 * MIB, 0, 1e11, 1e11, INFINITY, 8.0 * 1024 * MIB, 650 * MIB},
                          room = near;
    assert_true(calibrate_can_flush(&room, 1024 * MIB));
    assert_false(calibrate_can_flush(&room, 3072 * MIB)); /* takes too long */
    room.memory_bytes = 3000 * MIB;
    assert_false(calibrate_can_flush(&room, 1024 * MIB));
    room = near;
    room.free_bytes = 1500 * MIB;
    assert_false(calibrate_can_flush(&room, 1024 * MIB));
    room = near;
    room.file_size_bytes = 900 * MIB;
    assert_false(calibrate_can_flush(&room, 1024 * MIB));
    room = near;
    room.write_bytes = 5000 * MIB;
    assert_false(calibrate_can_flush(&room, 1024 * MIB));
    room = near;
    room.dirty_bytes = 200 * MIB; /* of others */
    assert_false(calibrate_can_flush(&room, 1024 * MIB));
}

TEST_WITH(rounds_that_differ_too_much_are_named, enter, NULL)
{
    char text[128];
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_int_equal(calibrate_find_wide(values, text, sizeof text), 0);
    assert_string_equal(text, "");
    for (size_t i = 0; i < N / 2; i++)
        fill_line(rounds[i].small_s, sizes.small_bytes, CALIBRATE_N_SMALL, 3e-3, 1e9, 1);
    assert_int_equal(calibrate_evaluate(rounds, N, &sizes, values, &err), 0);
    assert_int_equal(calibrate_find_wide(values, text, sizeof text), 1);
    assert_string_equal(text, "sc_sw");
}
