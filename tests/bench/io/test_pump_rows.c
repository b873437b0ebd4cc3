/* Tests of bench/io/pump where requests are handed to the API in rows: whatever happens, the same as one by
 * one. */
#include "tests/bench/io/pump_rig.h"

/* Of the calls handed over at once. */
static size_t longest_row;

static size_t script_transfer(void *state, struct io_call *call, const uint64_t *offsets_bytes, size_t n,
                              const atomic_int *stop)
{
    size_t i = 0, n_taken = 0;
    longest_row = n > longest_row ? n : longest_row;
    for (; i < n && (stop == NULL || atomic_load(stop) == 0); i++) {
        call->offset_bytes = offsets_bytes[i];
        assert_int_equal(script_submit(state, &call, 1, &n_taken, NULL), 0);
        assert_int_equal(script_reap(state, &call, 1, IOAPI_NO_END, &n_taken, NULL), 0);
        if (call->result != (int64_t)call->size_bytes)
            break;
    }
    return i;
}

/* A phase after one that taught it the speed. */
static struct pump_rig *play(const char *pattern, bool in_rows, const struct script *how,
                             uint64_t max_requests, int expected)
{
    struct ioapi_ops ops = script_ops;
    struct pump_rig *rig = rig_alloc(pattern, 1, latency_1us);
    ops.transfer = in_rows ? script_transfer : NULL;
    rig->script.fault = how->fault;
    rig->script.code = how->code;
    rig->script.nth = how->nth;
    rig->script.interrupt_at = how->interrupt_at;
    rig->config.ops = &ops;
    rig->end.duration_ns = max_requests != 0 ? UINT64_MAX : 2 * MS;
    rig->end.max_bytes = max_requests * 4096;
    rig->end.batches_per_stamp = 4;
    rig_start(rig);
    rig->pump.speed = PUMP_SPEED_FAST;
    assert_int_equal(rig_phase(rig), expected);
    assert_true(rig->stats.sampled);
    return rig;
}

static void check_same(const char *pattern, const struct script *how, uint64_t max_requests, int expected)
{
    AUTO(rig_free) struct pump_rig *rows = play(pattern, true, how, max_requests, expected);
    AUTO(rig_free) struct pump_rig *single = play(pattern, false, how, max_requests, expected);
    assert_int_equal(rows->script.n_accepted, single->script.n_accepted);
    for (uint64_t i = 0; i < single->script.n_accepted && i < SCRIPT_LOG; i++) {
        assert_int_equal(rows->script.log[i].offset_bytes, single->script.log[i].offset_bytes);
        assert_int_equal(rows->script.log[i].is_write, single->script.log[i].is_write);
    }
    assert_int_equal(rows->stats.counted.n_requests, single->stats.counted.n_requests);
    assert_int_equal(rows->stats.counted.bytes_read, single->stats.counted.bytes_read);
    assert_int_equal(rows->stats.counted.bytes_written, single->stats.counted.bytes_written);
    assert_int_equal(rows->stats.counted.n_sampled, single->stats.counted.n_sampled);
    assert_int_equal(rows->stats.batches.n, single->stats.batches.n);
    assert_int_equal(rig_window_bytes(rows), rig_bytes(rows));
    assert_int_equal(rows->script.n_after_interrupt, single->script.n_after_interrupt);
    assert_string_equal(rows->err.text, single->err.text);
}

static const char *const patterns[] = {"read", "write", "randread", "randwrite", "randrw:50"};

TEST(rows_are_the_same_requests)
{
    const struct script how = {0};
    for (size_t i = 0; i < N_OF(patterns); i++) {
        longest_row = 0;
        check_same(patterns[i], &how, 0, 0);
        /* The others draw or write something before each. */
        assert_true(strstr(patterns[i], "read") != NULL ? longest_row > 10 : longest_row == 1);
        for (uint64_t n = 1; n < 150; n++)
            check_same(patterns[i], &how, n, 0);
        check_same(patterns[i], &how, 3000, 0);
    }
}

TEST(a_fault_in_a_row_ends_it)
{
    for (uint64_t nth = 0; nth < 150; nth++) {
        const struct script failed = {.fault = FAULT_CALL, .code = -EIO, .nth = nth};
        const struct script is_short = {.fault = FAULT_SHORT, .nth = nth};
        check_same("randread", &failed, 150, -EIO);
        check_same("randread", &is_short, 150, -EIO);
        check_same("write", &failed, 150, -EIO);
    }
}

TEST(an_interruption_ends_a_row)
{
    for (uint64_t at = 1; at < 150; at++) {
        const struct script how = {.interrupt_at = at};
        check_same("read", &how, 1000, 0);
        check_same("randwrite", &how, 1000, 0);
    }
}
