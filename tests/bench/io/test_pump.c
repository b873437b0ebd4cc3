/* Tests of bench/io/pump on scripted latencies: what it issues, when it stops and what it records. */
#include "tests/bench/io/pump_rig.h"

static const uint32_t batch_sizes[] = {1, 5, 10};
static const uint32_t depths[] = {1, 2, 7, 32};

/* ---- the original program's own test table ---- */

LATENCY(latency_switching, (20 + 10 * (index % 3)) * US)

/* Of a fixed latency batches have no spread, of one that switches the 8 us that the rest of a cycle leaves,
 * of a random one the root of their size times its own. */
TEST(batches_have_the_originals_means_and_spreads)
{
    static const struct {
        uint64_t (*latency_ns)(struct script *, uint64_t);
        uint32_t depth;
        double mean_us, std_us[3], tolerance_us, tolerance_share;
    } rows[] = {
        {latency_15us, 1, 15, {0, 0, 0}, 1e-6, 0},
        {latency_15us, 32, 15, {0, 0, 0}, 1e-6, 0},
        {latency_switching, 1, 30, {8.165, 8.165, 8.165}, 0.01, 0},
        {latency_random, 1, 30, {21.6, 48.3, 68.3}, 0, 0.03},
    };
    for (size_t i = 0; i < N_OF(rows) * N_OF(batch_sizes); i++) {
        size_t row = i / N_OF(batch_sizes), k = i % N_OF(batch_sizes);
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("read", rows[row].depth, rows[row].latency_ns);
        double tolerance_us = rows[row].tolerance_us + rows[row].tolerance_share * rows[row].std_us[k];
        rig->config.batch_requests = batch_sizes[k];
        rig->end.min_requests = 60000;
        rig_run(rig);
        assert_int_equal(rig->stats.batches.n, rig->stats.counted.n_requests / batch_sizes[k]);
        assert_close(rig->stats.batches.mean_ns / 1e3, rows[row].mean_us * batch_sizes[k], tolerance_us);
        assert_close(batch_stats_std_ns(&rig->stats.batches) / 1e3, rows[row].std_us[k], tolerance_us);
        assert_false(rig->stats.sampled);
    }
}

/* ---- what is issued ---- */

TEST(depth_is_kept_full_and_never_passed)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randrw", depths[i], latency_random);
        rig_run(rig);
        assert_int_equal(rig->script.most_flying, depths[i]);
        double span = (double)(rig->stats.last_complete_ns - rig->stats.first_submit_ns);
        /* All but the drain, of at most 60 us in 10 ms. */
        assert_close(rig->stats.depth_area / span, depths[i], 0.006 * depths[i]);
        rig_check_drained(rig);
    }
}

static void check_each_offset(const char *pattern, uint32_t depth, uint32_t n_requests, bool sampled,
                              uint32_t n_passes)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc(pattern, depth, sampled ? latency_1us : latency_15us);
    uint8_t seen[1024] = {0};
    uint64_t unit = 4096ULL * n_requests;
    size_t n_units = 1024 / n_requests;
    rig->config.base_bytes = 1 << 20;
    rig->config.requests_per_call = n_requests;
    rig->end = (struct pump_end){.duration_ns = UINT64_MAX, .max_bytes = n_passes * 1024 * 4096};
    rig_run(rig);
    assert_int_equal(rig_bytes(rig), n_passes * 1024 * 4096);
    assert_int_equal(rig->script.n_accepted, n_passes * n_units);
    assert_int_equal(rig->stats.sampled, sampled);
    for (size_t i = 0; i < n_passes * n_units; i++) {
        uint64_t offset = rig->script.log[i].offset_bytes - rig->config.base_bytes;
        assert_int_equal(offset % unit, 0);
        assert_true(offset / unit < n_units);
        seen[offset / unit]++;
    }
    for (size_t i = 0; i < n_units; i++)
        assert_int_equal(seen[i], n_passes);
}

TEST(each_offset_of_a_pass_is_visited_once)
{
    const char *const patterns[] = {"read", "write", "randread", "randwrite", "randrw:50"};
    for (size_t i = 0; i < N_OF(patterns); i++) {
        for (size_t j = 0; j < N_OF(depths); j++)
            check_each_offset(patterns[i], depths[j], 1, false, 2);
        check_each_offset(patterns[i], 1, 8, false, 3);
        check_each_offset(patterns[i], 1, 1, true, 2);
    }
}

TEST(kinds_are_drawn_by_their_shares)
{
    AUTO(rig_free)
    struct pump_rig *rig = rig_alloc("seq-read=40,seq-write=10,rand-read=30,rand-write=20", 1, latency_15us);
    const double shares[] = {0.40, 0.10, 0.30, 0.20};
    uint64_t n[4] = {0}, next[2], n_calls = SCRIPT_LOG;
    rig->config.region_bytes = 4096ULL << 24; /* so large that a random offset is not the next one by luck */
    next[0] = 0;
    next[1] = rig->config.region_bytes / 2;
    rig->end = (struct pump_end){.duration_ns = 0, .min_requests = n_calls};
    rig_run(rig);
    assert_int_equal(rig->script.n_accepted, n_calls);
    for (uint64_t i = 0; i < n_calls; i++) {
        const struct record *record = &rig->script.log[i];
        bool sequential = record->offset_bytes == next[record->is_write];
        n[(sequential ? 0 : 2) + record->is_write]++;
        if (sequential)
            next[record->is_write] += 4096;
    }
    double chi2 = 0;
    for (size_t i = 0; i < 4; i++) {
        double expected = shares[i] * (double)n_calls;
        chi2 += ((double)n[i] - expected) * ((double)n[i] - expected) / expected;
    }
    assert_true(chi2 < 16.27); /* 3 degrees of freedom, 0.1 % */
    assert_int_equal((n[0] + n[2]) * 4096, rig->stats.counted.bytes_read);
    assert_int_equal((n[1] + n[3]) * 4096, rig->stats.counted.bytes_written);
}

/* For depth 1, depth 4, and calls of 8 requests; slower and faster than what is sampled. */
TEST(each_buffer_written_carries_a_new_word)
{
    const uint32_t cases[][2] = {{1, 1}, {4, 1}, {1, 8}};
    for (size_t i = 0; i < 2 * N_OF(cases); i++) {
        AUTO(rig_free)
        struct pump_rig *rig =
            rig_alloc("randwrite", cases[i / 2][0], i % 2 == 0 ? latency_15us : latency_1us);
        rig->config.requests_per_call = cases[i / 2][1];
        rig->buffers = calloc(8, 4096);
        assert_non_null(rig->buffers);
        rig->config.buffers = rig->buffers;
        rig_run(rig);
        assert_int_equal(rig->script.n_repeated_words, 0);
    }
}

TEST(reads_leave_the_buffers_alone)
{
    static const unsigned char zeros[4096];
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", 1, latency_15us);
    rig->buffers = calloc(1, 4096);
    assert_non_null(rig->buffers);
    rig->config.buffers = rig->buffers;
    rig_run(rig);
    assert_memory_equal(rig->buffers, zeros, 4096);
}

/* ---- when it stops ---- */

TEST(minimum_of_requests_outlasts_the_duration)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_15us);
        rig->end.duration_ns = 1;
        rig->end.min_requests = 64;
        rig_run(rig);
        assert_int_equal(rig->stats.counted.n_requests, 64);
    }
}

TEST(nothing_is_issued_after_the_duration)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_random);
        rig_run(rig);
        const struct record *last = &rig->script.log[rig->script.n_accepted - 1];
        assert_true(last->entered_ns - rig->stats.first_submit_ns < rig->end.duration_ns);
        assert_true(rig->stats.last_complete_ns - rig->stats.first_submit_ns >= rig->end.duration_ns);
    }
}

static void check_cap(uint32_t depth, uint32_t n_requests, bool sampled, uint64_t max_bytes)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randwrite", depth, sampled ? latency_1us : latency_15us);
    uint64_t call_bytes = 4096ULL * n_requests;
    rig->config.requests_per_call = n_requests;
    rig->end = (struct pump_end){.duration_ns = UINT64_MAX, .min_requests = 1000000, .max_bytes = max_bytes};
    rig_run(rig);
    assert_int_equal(rig_bytes(rig), max_bytes / call_bytes * call_bytes);
    assert_int_equal(rig_window_bytes(rig), rig_bytes(rig));
}

TEST(bytes_never_pass_their_maximum)
{
    const uint64_t caps[] = {1, 4095, 4096, 4097, 32768, 40960, 409600, 1000000, 3276801};
    for (size_t i = 0; i < N_OF(caps); i++) {
        for (size_t j = 0; j < N_OF(depths); j++) {
            check_cap(depths[j], 1, false, caps[i]);
            check_cap(depths[j], 8, false, caps[i]);
        }
        check_cap(1, 1, true, caps[i]);
    }
}

static void check_interrupted(uint32_t depth, uint64_t at, bool sampled)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depth, sampled ? latency_1us : latency_15us);
    rig->script.accept_max = depth > 4 ? 3 : 0;
    rig->script.interrupt_at = at;
    rig_run(rig);
    assert_int_equal(rig->stats.sampled, sampled && at >= WARMUP_BATCH_DEFAULT);
    /* Those handed over together with the one that raised the flag were already under way. */
    uint64_t together = depth == 1 ? 0 : depth > 4 ? 2 : depth - 1;
    assert_true(rig->script.n_after_interrupt <= together);
    assert_int_equal(rig->stats.counted.n_requests, rig->script.n_accepted);
    rig_check_drained(rig);
}

TEST(nothing_is_issued_once_interrupted)
{
    for (uint64_t at = 1; at < 60; at++) {
        for (size_t j = 0; j < N_OF(depths); j++)
            check_interrupted(depths[j], at, false);
        check_interrupted(1, at, true);
    }
}

TEST(interrupted_before_the_start_is_an_empty_phase)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_15us);
        atomic_store(&rig->script.interrupted, 1);
        rig->end.min_requests = 64;
        rig_run(rig);
        assert_int_equal(rig->script.n_submits, 0);
        assert_int_equal(rig->stats.counted.n_requests, 0);
        assert_int_equal(rig->stats.last_complete_ns, rig->stats.first_submit_ns);
    }
}

struct batch_counter {
    uint32_t n, stop_at;
    double sum_ns;
};

static bool count_batch(void *context, double batch_latency_ns)
{
    struct batch_counter *counter = context;
    counter->sum_ns += batch_latency_ns;
    return ++counter->n >= counter->stop_at;
}

TEST(after_batch_can_stop_a_phase)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("randread", depths[i], latency_15us);
        struct batch_counter counter = {.stop_at = 6};
        rig->end.after_batch = count_batch;
        rig->end.context = &counter;
        rig_run(rig);
        /* What is in flight then is drained, and may fill further batches. */
        assert_true(rig->stats.counted.n_requests >= 60 && rig->stats.counted.n_requests < 60 + depths[i]);
        assert_int_equal(counter.n, rig->stats.counted.n_requests / 10);
        assert_close(counter.sum_ns, 150e3 * counter.n, 1e-3);
    }
}

TEST(second_phase_starts_anew_but_goes_on_in_the_file)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        AUTO(rig_free) struct pump_rig *rig = rig_alloc("read", depths[i], latency_15us);
        rig->end.max_bytes = 100 * 4096;
        rig_run(rig);
        uint64_t first_end_ns = rig->stats.last_complete_ns;
        rig_run(rig);
        assert_int_equal(rig->stats.counted.n_requests, 100);
        assert_int_equal(rig->latency.n, 100);
        assert_true(rig->stats.first_submit_ns >= first_end_ns);
        assert_int_equal(rig->script.log[100].offset_bytes, 100 * 4096);
        assert_int_equal(rig->stats.batches.n, 10);
    }
}

TEST(region_below_one_call_is_einval_and_named)
{
    struct pump_rig *rig = rig_alloc("read", 4, latency_15us);
    rig->config.region_bytes = 32767;
    rig->config.requests_per_call = 8;
    assert_int_equal(pump_init(&rig->pump, &rig->config, &rig->err), -EINVAL);
    CHECK_HAS(rig->err.text, "32767", "32768");
    assert_non_null(strstr(rig->err.text, "--file-size"));
    assert_null(rig->pump.calls);
    rig_free(&rig); /* a second pump_done */
}

/* Requests of each kind have their own size, and bytes are counted as they are, also where calls are sampled.
 */
static void check_two_sizes(uint32_t depth, bool sampled, uint64_t read_bytes, uint64_t write_bytes,
                            uint64_t cap)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randrw:70", depth, sampled ? latency_1us : latency_15us);
    uint64_t moved[2] = {0}, n[2] = {0};
    const uint64_t sizes[2] = {read_bytes, write_bytes};
    rig->config.region_bytes = 64 << 20;
    rig->config.request_size_bytes = read_bytes;
    rig->config.write_size_bytes = write_bytes;
    rig->end = (struct pump_end){.duration_ns = UINT64_MAX, .max_bytes = cap};
    rig_run(rig);
    for (uint64_t i = 0; i < rig->script.n_accepted; i++) {
        const struct record *record = &rig->script.log[i];
        assert_int_equal(record->size_bytes, sizes[record->is_write]);
        assert_int_equal(record->offset_bytes % sizes[record->is_write], 0);
        moved[record->is_write] += record->size_bytes;
        n[record->is_write]++;
    }
    assert_int_equal(rig->stats.sampled, sampled);
    assert_int_equal(rig->stats.counted.bytes_read, moved[0]);
    assert_int_equal(rig->stats.counted.bytes_written, moved[1]);
    assert_int_equal(rig->stats.counted.n_requests, n[0] + n[1]);
    assert_int_equal(rig_window_bytes(rig), moved[0] + moved[1]);
    assert_true(moved[0] + moved[1] <= cap && cap - moved[0] - moved[1] < 65536);
    double all = (double)(n[0] + n[1]);
    assert_close((double)n[0] / all, 0.7, 5 * sqrt(0.21 / all));
    rig_check_drained(rig);
}

TEST(reads_and_writes_have_their_own_sizes)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        check_two_sizes(depths[i], false, 4096, 65536, 2000 * 4096 + 100);
        check_two_sizes(depths[i], false, 65536, 4096, 2000 * 4096 + 100);
    }
    for (uint64_t i = 0; i < 200; i++) {
        check_two_sizes(1, true, 4096, 65536, (2000 + i) * 4096);
        check_two_sizes(1, true, 65536, 4096, (2000 + i) * 4096);
    }
}

TEST(each_call_has_room_for_the_larger_size)
{
    AUTO(rig_free) struct pump_rig *rig = rig_alloc("randrw", 4, latency_15us);
    rig->buffers = calloc(4, 65536);
    rig->config.write_size_bytes = 65536;
    rig->config.buffers = rig->buffers;
    rig_start(rig);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(rig->pump.calls[i].buffer, rig->buffers + i * 65536);
    rig_run(rig);
    assert_int_equal(rig->script.n_repeated_words, 0);
}
