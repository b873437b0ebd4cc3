/* Facts that nothing is wrong with, for tests of warnings to spoil. */
#pragma once

#include "tests/test.h"
#include "tuner/session/warnings.h"

/* A run and its ground that nothing is wrong with. */
static struct facts {
    struct warnings_asked asked;
    struct target_facts target_facts;
    struct measure_plan plan;
    struct measure_result result;
} facts;

static inline void set_pattern(const char *name)
{
    assert_int_equal(pattern_parse(name, &facts.asked.pattern, NULL), 0);
    facts.plan.pattern = facts.asked.pattern;
}

static inline void make_clean(void)
{
    memset(&facts, 0, sizeof facts);
    set_pattern("randread");
    facts.asked.cold = facts.asked.sync_pinned = true;
    facts.plan.point = (struct point){4096, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0};
    facts.result = (struct measure_result){.throughput_bps = 4e6,
                                           .iops = 1000,
                                           .n_requests = 2000,
                                           .bytes_read = 8000000,
                                           .total_bytes_read = 9000000,
                                           .seconds = 2,
                                           .warmup = MEASURE_WARMUP_STABLE,
                                           .achieved_depth = 8,
                                           .cold = TARGET_COLD_VERIFIED,
                                           .settled = true};
    facts.result.monitor = (struct run_monitor){.busiest_thread_cpu_share = 0.7,
                                                .busiest_helper_cpu_share = 0.7,
                                                .process_cpu_share = 1.4,
                                                .own_read_bytes = 8.1e6,
                                                .device_read_bytes = 8.2e6,
                                                .device_written_bytes = 1e5,
                                                .clock_step_s = 1e-4,
                                                .span_s = 2};
    target_facts_init(&facts.target_facts);
    facts.target_facts.existing = true;
    facts.target_facts.compressibility_known = true;
    facts.target_facts.extents = (struct extents){
        .size_bytes = 1 << 30, .n_extents = 9, .n_fragments = 9, .fiemap_known = true, .holes_known = true};
    facts.target_facts.stack = (struct storage_stack){.device = "vda", .free_share = 0.5, .caps_known = true};
    facts.target_facts.growth_per_gib = 2;
    facts.target_facts.idle =
        (struct run_monitor_idle){.n_cpus = 2, .device_written_bps = 1e5, .steal_share = 0.05};
}

FIXTURE(begin_clean)
{
    make_clean();
    return 0;
}
