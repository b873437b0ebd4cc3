/* Tests of bench/io/pump where I/O fails: each kind of fault at each place, once, twice and for ever. */
#include "tests/bench/io/pump_rig.h"

static const uint32_t depths[] = {1, 2, 32};
static const uint64_t times[] = {1, 2, FOR_EVER};

/* For depth 1 with `fast`, the sampled path. 100 calls. */
static struct pump_rig *faulty(uint32_t depth, bool fast, enum fault fault, int code, uint64_t nth,
                               uint64_t n_times)
{
    struct pump_rig *rig = rig_alloc("randrw:50", depth, fast ? latency_1us : latency_random);
    rig->script.fault = fault;
    rig->script.code = code;
    rig->script.nth = nth;
    rig->script.times = n_times;
    rig->end = (struct pump_end){
        .duration_ns = UINT64_MAX, .max_bytes = 100 * 4096, .interrupted = &rig->script.interrupted};
    rig_start(rig);
    return rig;
}

/* Accepted calls that were moved whole. */
static uint64_t n_whole(const struct script *script)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < script->n_accepted; i++)
        n += !script_hits(script, script->fault, i);
    return n;
}

/* No call was issued once the first failed one had come back. */
static void check_stopped(const struct script *script)
{
    uint64_t first_ns = UINT64_MAX;
    for (uint64_t i = script->nth; i < script->n_accepted && i - script->nth < script->times; i++)
        first_ns = script->log[i].done_ns < first_ns ? script->log[i].done_ns : first_ns;
    for (uint64_t i = 0; i < script->n_accepted; i++)
        assert_true(script->log[i].entered_ns < first_ns);
}

static void check_call_fault(uint32_t depth, bool fast, enum fault fault, int code, uint64_t nth,
                             uint64_t n_times)
{
    AUTO(rig_free) struct pump_rig *rig = faulty(depth, fast, fault, code, nth, n_times);
    int result = rig_phase(rig);
    assert_int_equal(result, nth >= 100 ? 0 : code);
    assert_int_equal(rig->err.code, result);
    rig_check_drained(rig);
    assert_int_equal(rig->stats.counted.n_requests, n_whole(&rig->script));
    assert_int_equal(rig_bytes(rig), 4096 * rig->stats.counted.n_requests);
    assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
    assert_true(rig->latency.n <= rig->stats.counted.n_requests);
    check_stopped(&rig->script);
}

TEST(failed_calls_are_never_counted)
{
    for (uint64_t nth = 0; nth <= 100; nth += nth < 40 ? 1 : 15) {
        for (size_t r = 0; r < N_OF(times); r++) {
            for (size_t d = 0; d < N_OF(depths); d++) {
                check_call_fault(depths[d], false, FAULT_CALL, -EIO, nth, times[r]);
                check_call_fault(depths[d], false, FAULT_CALL, -ENOSPC, nth, times[r]);
                check_call_fault(depths[d], false, FAULT_SHORT, -EIO, nth, times[r]);
            }
            check_call_fault(1, true, FAULT_CALL, -ENOSPC, nth, times[r]);
            check_call_fault(1, true, FAULT_SHORT, -EIO, nth, times[r]);
        }
    }
}

TEST(read_of_nothing_is_a_short_read)
{
    AUTO(rig_free) struct pump_rig *rig = faulty(1, false, FAULT_CALL, 0, 3, 1);
    assert_int_equal(rig_phase(rig), -EIO);
    assert_non_null(strstr(rig->err.text, ": 0 of 4096 bytes"));
    assert_int_equal(rig->stats.counted.n_requests, 3);
}

/* Texts, for a call whose place in the file the script knows. */
static void check_text(const char *pattern, enum fault fault, const char *format, const char *reason)
{
    char expected[160];
    AUTO(rig_free) struct pump_rig *rig = rig_alloc(pattern, 1, latency_15us);
    rig->config.base_bytes = 1ULL << 40;
    rig->script.fault = fault;
    rig->script.code = -ENOSPC;
    rig->script.nth = 12;
    rig_start(rig);
    assert_true(rig_phase(rig) < 0);
    snprintf(expected, sizeof(expected), "%s %llu%s", format,
             (unsigned long long)rig->script.log[12].offset_bytes, reason);
    assert_string_equal(rig->err.text, expected);
}

TEST(failure_names_verb_size_and_offset)
{
    check_text("randread", FAULT_CALL, "script: read of 4096 bytes at offset", ": No space left on device");
    check_text("write", FAULT_CALL, "script: write of 4096 bytes at offset", ": No space left on device");
    check_text("randread", FAULT_SHORT, "script: short read at offset", ": 2048 of 4096 bytes");
    check_text("randwrite", FAULT_SHORT, "script: short write at offset", ": 2048 of 4096 bytes");
}

/* All calls from the fourth on fail: the one that comes back first is named, not the one that was issued
 * first, and later ones do not overwrite it. */
TEST(first_failure_to_come_back_is_the_one_named)
{
    char place[64];
    AUTO(rig_free) struct pump_rig *rig = faulty(32, false, FAULT_CALL, -EIO, 4, FOR_EVER);
    size_t first = 4;
    assert_int_equal(rig_phase(rig), -EIO);
    for (size_t i = 4; i < 32; i++) {
        if (rig->script.log[i].done_ns <= rig->script.log[first].done_ns)
            first = i; /* of equals, the script hands out the latest first */
    }
    snprintf(place, sizeof(place),
             "at offset %llu:", (unsigned long long)rig->script.log[first].offset_bytes);
    assert_non_null(strstr(rig->err.text, place));
}

TEST(statistics_are_filled_on_failure)
{
    AUTO(rig_free) struct pump_rig *rig = faulty(4, false, FAULT_CALL, -EIO, 50, 1);
    assert_int_equal(rig_phase(rig), -EIO);
    assert_true(rig->stats.counted.n_requests >= 50 - 3 && rig->stats.counted.n_requests <= 53);
    assert_int_equal(rig->latency.n, rig->stats.counted.n_requests);
    assert_true(rig->stats.last_complete_ns > rig->stats.first_submit_ns);
    assert_true(rig->stats.depth_area > 0);
}

TEST(phase_after_a_failed_one_works)
{
    for (size_t d = 0; d < N_OF(depths); d++) {
        AUTO(rig_free) struct pump_rig *rig = faulty(depths[d], false, FAULT_CALL, -EIO, 20, 1);
        rig->script.accept_max = 5;
        assert_int_equal(rig_phase(rig), -EIO);
        rig_run(rig);
        assert_int_equal(rig->stats.counted.n_requests, 100);
        rig_check_drained(rig);
    }
}

TEST(missing_err_is_allowed)
{
    for (size_t d = 0; d < N_OF(depths); d++) {
        AUTO(rig_free) struct pump_rig *rig = faulty(depths[d], false, FAULT_CALL, -ENOSPC, 20, FOR_EVER);
        assert_int_equal(pump_phase(&rig->pump, &rig->end, &rig->stats, NULL), -ENOSPC);
        rig_check_drained(rig);
    }
}

/* ---- the API itself ---- */

TEST(broken_submit_ends_the_phase_drained)
{
    for (uint64_t nth = 0; nth < 12; nth++) {
        for (size_t d = 0; d < N_OF(depths); d++) {
            AUTO(rig_free)
            struct pump_rig *rig = faulty(depths[d], false, FAULT_SUBMIT, -EBADF, nth, FOR_EVER);
            rig->script.accept_max = 7; /* some are under way when it breaks, some are ready */
            assert_int_equal(rig_phase(rig), -EBADF);
            assert_string_equal(rig->err.text, "script: submit is broken");
            assert_int_equal(rig->script.n_submits, nth + 1);
            assert_int_equal(rig->stats.counted.n_requests, rig->script.n_accepted);
            rig_check_drained(rig);
        }
        AUTO(rig_free) struct pump_rig *rig = faulty(1, true, FAULT_SUBMIT, -EBADF, nth, FOR_EVER);
        assert_int_equal(rig_phase(rig), -EBADF);
        assert_int_equal(rig->stats.counted.n_requests, nth);
        assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
    }
}

TEST(broken_reap_ends_the_phase_at_once)
{
    for (uint64_t nth = 0; nth < 20; nth++) {
        for (size_t d = 0; d < N_OF(depths); d++) {
            AUTO(rig_free) struct pump_rig *rig = faulty(depths[d], false, FAULT_REAP, -EBADF, nth, FOR_EVER);
            rig->script.reap_max = 3;
            assert_int_equal(rig_phase(rig), -EBADF);
            assert_string_equal(rig->err.text, "script: reap is broken");
            assert_int_equal(rig->script.n_reaps, nth + 1);
            assert_int_equal(rig->stats.counted.n_requests, rig->script.n_reaped);
        }
    }
}

/* The first call fails; of the reaps that follow, the second breaks. */
static int fail_first_then_reap(void *state, struct io_call **calls, size_t max, uint64_t until_ns,
                                size_t *ret_n, struct err *err)
{
    struct script *script = state;
    if (script->n_reaps == 2)
        return err_set(err, -EBADF, "script: reap is broken");
    return script_reap(state, calls, max, until_ns, ret_n, err);
}

TEST(reap_that_breaks_while_draining_keeps_the_first_failure)
{
    struct ioapi_ops ops = script_ops;
    ops.reap = fail_first_then_reap;
    AUTO(rig_free) struct pump_rig *rig = faulty(32, false, FAULT_CALL, -ENOSPC, 0, FOR_EVER);
    rig->pump.ops = &ops;
    rig->script.reap_max = 1;
    assert_int_equal(rig_phase(rig), -ENOSPC);
    assert_non_null(strstr(rig->err.text, "No space left"));
    assert_int_equal(rig->script.n_reaped, 2);
}

TEST(refused_submit_with_none_in_flight_is_eagain)
{
    for (size_t d = 0; d < N_OF(depths); d++) {
        AUTO(rig_free) struct pump_rig *rig = faulty(depths[d], false, FAULT_REFUSE, 0, 0, FOR_EVER);
        assert_int_equal(rig_phase(rig), -EAGAIN);
        assert_non_null(strstr(rig->err.text, "script: the kernel takes no request although none"));
        assert_int_equal(rig->script.n_submits, 1);
        assert_int_equal(rig->stats.counted.n_requests, 0);
    }
}

TEST(refused_submit_with_others_in_flight_is_tried_again)
{
    for (uint64_t nth = 1; nth < 20; nth++) {
        for (size_t r = 0; r < 2; r++) {
            AUTO(rig_free) struct pump_rig *rig = faulty(32, false, FAULT_REFUSE, 0, nth, times[r]);
            rig_run(rig);
            assert_int_equal(rig->stats.counted.n_requests, 100);
            rig_check_drained(rig);
            assert_close(rig->stats.depth_area, rig->latency.sum_ns, 1);
        }
    }
}

TEST(refusing_for_ever_drains_and_then_fails)
{
    AUTO(rig_free) struct pump_rig *rig = faulty(32, false, FAULT_REFUSE, 0, 1, FOR_EVER);
    assert_int_equal(rig_phase(rig), -EAGAIN);
    assert_int_equal(rig->stats.counted.n_requests, 32);
    rig_check_drained(rig);
}

TEST(partly_accepted_calls_are_all_issued_once)
{
    for (size_t accept_max = 1; accept_max <= 33; accept_max++) {
        for (size_t reap_max = 0; reap_max <= 3; reap_max++) {
            AUTO(rig_free) struct pump_rig *rig = faulty(32, false, FAULT_NONE, 0, 0, 0);
            uint8_t seen[1024] = {0};
            rig->script.accept_max = accept_max;
            rig->script.reap_max = reap_max;
            rig->end.max_bytes = 1024 * 4096;
            rig_run(rig);
            assert_int_equal(rig->stats.counted.n_requests, 1024);
            rig_check_drained(rig);
            for (size_t i = 0; i < 1024; i++)
                seen[rig->script.log[i].offset_bytes / 4096]++;
            for (size_t i = 0; i < 1024; i++)
                assert_int_equal(seen[i], 1);
        }
    }
}
