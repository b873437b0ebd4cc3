/* Tests of bench/io/pump: what counts in the windows of slots. */
#include "tests/bench/io/pump_rig.h"

static struct histogram outside;

static struct pump_rig *rig_with_window(uint32_t depth, uint64_t (*latency_ns)(struct script *, uint64_t),
                                        struct pump_window *window)
{
    struct pump_rig *rig = rig_alloc("randread", depth, latency_ns);
    rig->stats.outside.latency = &outside;
    atomic_init(&window->n_to_open, depth);
    atomic_init(&window->n_to_close, depth);
    rig->end.window = window;
    return rig;
}

static const uint32_t depths[] = {1, 2, 4, 32};

static double slot_rate(const struct pump_rig *rig)
{
    return (double)rig_bytes(rig) / rig->stats.slot_ns;
}

TEST(each_slot_counts_between_two_of_its_completions)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_15us, &window);
        rig_run(rig);
        assert_true(rig->stats.windowed);
        assert_int_equal(atomic_load(&window.n_to_close), 0);
        /* The first round does not count, nor does what drains. */
        assert_int_equal(rig->stats.opened_ns - rig->stats.start_ns, 15 * US);
        assert_close(slot_rate(rig), 4096 / 15e3, 1e-12);
        assert_true(rig->stats.slot_ns >= depths[i] * 10e6 && rig->stats.slot_ns <= depths[i] * 10.1e6);
        assert_int_equal(rig->latency.n, rig->stats.counted.n_requests);
        assert_int_equal(rig->script.n_accepted * 4096, rig_bytes(rig) + rig->stats.outside.bytes_read);
        rig_check_drained(rig);
    }
}

TEST(little_s_law_holds_in_the_window)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_random, &window);
        rig_run(rig);
        assert_close(rig->latency.sum_ns / rig->stats.slot_ns, 1, 1e-12);
        assert_close(rig->stats.depth_area / rig->stats.depth_ns / depths[i], 1, 1e-9);
    }
}

TEST(a_window_opens_after_the_warm_up)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_random, &window);
        rig->end.warmup_limit_ns = 3 * MS;
        rig_run(rig);
        uint64_t waited_ns = rig->stats.opened_ns - rig->stats.start_ns;
        assert_true(waited_ns >= 3 * MS && waited_ns <= 3 * MS + 60 * US);
        assert_close(rig->stats.warmup_slot_ns / depths[i], (double)waited_ns, 60e3);
        assert_close((double)rig->stats.warmup_bytes / rig->stats.warmup_slot_ns, 4096 / 30e3, 0.02);
    }
}

TEST(a_window_has_its_requests)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_15us, &window);
        rig->end.duration_ns = 1;
        rig->end.min_requests = 64;
        rig_run(rig);
        assert_true(rig->stats.counted.n_requests >= 64 && rig->stats.counted.n_requests < 64 + depths[i]);
    }
}

#define TURN_NS       (100 * MS)
#define PER_TURN      300
#define SAVED         200 /* requests that the limit lets through at once, for the time before */
#define TURN_SPACE_NS (50 * US)

/* A limit that lets so many requests through in each turn of its clock. */
static uint64_t latency_in_turns(struct script *script, uint64_t index)
{
    uint64_t limited = index < SAVED ? 0 : index - SAVED;
    uint64_t due_ns = limited / PER_TURN * TURN_NS + limited % PER_TURN * TURN_SPACE_NS;
    uint64_t soonest_ns = script->now_ns + TURN_SPACE_NS;
    return (due_ns > soonest_ns ? due_ns : soonest_ns) - script->now_ns;
}

/* Wherever the warm-up ends within a turn. */
TEST(a_window_behind_pauses_has_whole_turns)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        for (uint64_t warmup_ns = 1 * MS; warmup_ns < TURN_NS; warmup_ns += 7 * MS) {
            struct pump_window window = {0};
            AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_in_turns, &window);
            rig->end.warmup_limit_ns = warmup_ns;
            rig->end.duration_ns = 150 * MS;
            rig->end.pause_wait_ns = 150 * MS;
            rig_run(rig);
            assert_close(depths[i] * slot_rate(rig) * (double)TURN_NS / (PER_TURN * 4096.0), 1, 0.005);
            assert_true(rig->stats.slot_ns / depths[i] < 2.1 * (double)TURN_NS);
        }
    }
}

/* A queue that never pauses opens when the wait is over, and closes at once. */
TEST(no_pause_is_waited_for_where_none_comes)
{
    struct pump_window window = {0};
    AUTO(rig_free) struct pump_rig *rig = rig_with_window(4, latency_15us, &window);
    rig->end.pause_wait_ns = 5 * MS;
    rig_run(rig);
    assert_close((double)(rig->stats.opened_ns - rig->stats.start_ns), 5e6, 0.1e6);
    assert_close(rig->stats.slot_ns, 4 * 10e6, 4 * 0.1e6);
}

/* The cap holds; a window that has room enough closes within it, the others give up. */
TEST(bytes_never_pass_their_maximum)
{
    for (uint64_t n = 1; n < 400; n += 3) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(32, latency_random, &window);
        rig->end.max_bytes = n * 4096;
        rig_run(rig);
        assert_true(rig->script.n_accepted <= n);
        assert_true(rig->stats.windowed || n < 7 * 32);
        assert_false(rig->stats.windowed && n < 64);
        assert_int_equal(atomic_load(&window.abandoned), !rig->stats.windowed);
    }
}

/* Another pump opened later by the clock, and took note of it before: the run lasts from there. */
TEST(a_window_opens_with_its_latest_slot_whoever_notes_it_first)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_15us, &window);
        const uint64_t later_ns = rig->script.now_ns + 7 * MS;
        atomic_store(&window.latest_open_ns, later_ns);
        rig_run(rig);
        assert_int_equal(rig->stats.opened_ns, later_ns);
        assert_true(rig->stats.windowed);
        assert_true(rig->stats.last_complete_ns >= later_ns + rig->end.duration_ns);
    }
}

/* Another pump has slots that never open, since it has ended: this one lasts its time. */
TEST(a_pump_goes_on_by_itself_when_another_gave_up)
{
    struct pump_window window = {0};
    AUTO(rig_free) struct pump_rig *rig = rig_with_window(4, latency_15us, &window);
    atomic_store(&window.n_to_open, 8);
    atomic_store(&window.n_to_close, 8);
    atomic_store(&window.abandoned, 1);
    rig_run(rig);
    assert_false(rig->stats.windowed);
    assert_true(rig->stats.last_complete_ns - rig->stats.start_ns >= rig->end.duration_ns);
    rig_check_drained(rig);
}

static bool says_so(void *context, double batch_latency_ns)
{
    (void)context, (void)batch_latency_ns;
    return true;
}

/* Another pump has failed: this one does not go on for the time that it was given. */
TEST(a_pump_that_is_told_to_end_does_so_without_a_window)
{
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pump_window window = {0};
        AUTO(rig_free) struct pump_rig *rig = rig_with_window(depths[i], latency_15us, &window);
        atomic_store(&window.n_to_open, depths[i] + 1);
        atomic_store(&window.n_to_close, depths[i] + 1);
        atomic_store(&window.abandoned, 1);
        rig->end.warmup_limit_ns = rig->end.duration_ns = 1000000 * MS;
        rig->end.is_warm = rig->end.after_batch = says_so;
        rig_run(rig);
        assert_true(rig->script.n_accepted < 100);
        rig_check_drained(rig);
    }
}

LATENCY(latency_one_hangs, index == 9 ? 5000 * MS : 1 * MS)

/* The others are sent again for a second of closing, no longer; its slot counts the time that it took. */
TEST(a_request_that_hangs_is_not_waited_for_with_full_queues)
{
    struct pump_window window = {0};
    AUTO(rig_free) struct pump_rig *rig = rig_with_window(4, latency_one_hangs, &window);
    rig_run(rig);
    assert_true(rig->stats.windowed);
    assert_true(rig->script.n_accepted < 4 * (1000 + 20));
    assert_true(rig->stats.slot_ns > 5e9);
    rig_check_drained(rig);
}
