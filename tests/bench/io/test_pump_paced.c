/* Tests of bench/io/pump_paced: open loops. */
#include "tests/bench/io/pump_rig.h"

static struct histogram outside;

static struct pump_rig *paced(uint32_t depth, double rate, struct pace *pace,
                              uint64_t (*latency_ns)(struct script *, uint64_t))
{
    struct pump_rig *rig = rig_alloc("randread", depth, latency_ns);
    pace_init(pace, rate, 0, 1, rig->script.now_ns);
    rig->end.pace = pace;
    rig->end.start_ns = rig->script.now_ns;
    rig->stats.outside.latency = &outside;
    return rig;
}

static double rate_of(const struct pump_rig *rig)
{
    return (double)rig->stats.counted.n_requests * rig->config.n_calls / (rig->stats.slot_ns / 1e9);
}

TEST(requests_come_at_the_rate_whatever_the_depth)
{
    const uint32_t depths[] = {1, 2, 8};
    for (size_t i = 0; i < N_OF(depths); i++) {
        struct pace pace;
        AUTO(rig_free) struct pump_rig *rig = paced(depths[i], 10000, &pace, latency_15us);
        rig_run(rig);
        rig_check_drained(rig);
        assert_int_equal(rig->stats.counted.n_requests, 100);
        assert_close(rate_of(rig), 10000, 1);
        assert_int_equal(rig->latency.n, 100);
        assert_in_range(rig->latency.max_ns, 15 * US, 16 * US);
        assert_close(rig->stats.depth_area / rig->stats.depth_ns, 0.15, 0.005);
    }
}

/* The queue takes 1 / 15 us each; twice as much is offered: half comes back, and what comes back at the end
 * has waited for half of the time. A closed loop would say 15 us. */
TEST(overload_shows_in_latency_and_in_the_rate)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(1, 2e9 / 15000, &pace, latency_15us);
    rig_run(rig);
    assert_close(rate_of(rig), 1e9 / 15000, 1e9 / 15000 * 0.01);
    assert_in_range(rig->latency.max_ns, 4.9 * MS, 5.1 * MS);
    assert_true(rig->latency.n >= 1300); /* all that was due, also what never began */
}

/* One request of 3 ms: those that were due meanwhile, every 100 us, wait for what is left of it. */
LATENCY(one_stall, index == 20 ? 3 * MS : 15 * US)

TEST(a_stall_counts_for_all_that_were_due_in_it)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(1, 10000, &pace, one_stall);
    uint64_t p80_ns;
    rig_run(rig);
    assert_int_equal(histogram_quantile_ns(&rig->latency, 0.8, &p80_ns), 0);
    assert_true(p80_ns > 500 * US);
    assert_in_range(rig->latency.max_ns, 3 * MS, 3.1 * MS);
}

TEST(the_warm_up_does_not_count)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(4, 10000, &pace, latency_15us);
    rig->end.warmup_limit_ns = 2 * MS;
    rig_run(rig);
    assert_int_equal(rig->stats.outside.n_requests, 20);
    assert_int_equal(rig->stats.counted.n_requests, 80);
    assert_close(rate_of(rig), 10000, 1);
    assert_int_equal(rig->stats.opened_ns, 7 * MS);
}

TEST(an_overload_from_the_start_is_counted_after_the_warm_up)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(1, 1e6, &pace, latency_15us);
    rig->end.warmup_limit_ns = 2 * MS;
    rig_run(rig);
    assert_close(rate_of(rig), 1e9 / 15000, 1e9 / 15000 * 0.01);
    assert_true(rig->stats.outside.n_requests >= 100);
}

TEST(bytes_end_it_and_the_rate_stays)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(4, 10000, &pace, latency_15us);
    rig->end.max_bytes = 50 * 4096;
    rig_run(rig);
    assert_int_equal(rig->stats.counted.n_requests, 50);
    assert_close(rate_of(rig), 10000, 1);
}

TEST(a_failure_ends_it)
{
    struct pace pace;
    AUTO(rig_free) struct pump_rig *rig = paced(4, 10000, &pace, latency_15us);
    rig->script.fault = FAULT_REAP;
    rig->script.code = -EBADF;
    rig_start(rig);
    assert_int_equal(rig_phase(rig), -EBADF);
}
