/* tests/tuner/session/doubts_rig: facts that nothing is wrong with, for the tests of tuner/session/doubts to
 * spoil. */
#ifndef FSTUNE_TESTS_TUNER_SESSION_DOUBTS_RIG_H
#define FSTUNE_TESTS_TUNER_SESSION_DOUBTS_RIG_H

#include "tests/check.h"
#include "tuner/session/doubts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A run and its ground that nothing is wrong with. */
static struct facts {
    struct doubts_asked asked;
    struct doubts_ground ground;
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
    facts.plan.point = (struct point){4096, 8, 1, API_IO_URING, 1, SYNC_END, 0};
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
    facts.result.watch = (struct watch){.busiest_thread_cpu_share = 0.7,
                                        .busiest_helper_cpu_share = 0.7,
                                        .process_cpu_share = 1.4,
                                        .own_read_bytes = 8.1e6,
                                        .device_read_bytes = 8.2e6,
                                        .device_written_bytes = 1e5,
                                        .clock_step_s = 1e-4,
                                        .span_s = 2};
    doubts_ground_init(&facts.ground);
    facts.ground.existing = true;
    facts.ground.content_known = true;
    facts.ground.content = (struct content){64, 1, 0, 0, 0};
    facts.ground.extents = (struct extents){
        .size_bytes = 1 << 30, .n_extents = 9, .n_fragments = 9, .fiemap_known = true, .holes_known = true};
    facts.ground.medium = (struct medium){
        .file_system = "ext4", .device = "vda", .space_known = true, .free_share = 0.5, .caps_known = true};
    facts.ground.growth_per_gib = 2;
    facts.ground.idle = (struct watch_idle){.n_cpus = 2, .device_written_bps = 1e5, .steal_share = 0.05};
}

static inline uint64_t found(void)
{
    return doubts_of_run(&facts.asked, &facts.ground, &facts.plan, &facts.result) |
           doubts_of_ground(&facts.asked, &facts.ground);
}

/* Every fault alone: it is found, and nothing else. */
struct fault {
    enum doubt doubt;
    void (*make)(void);
};

static inline void check_faults(const struct fault *faults, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        make_clean();
        faults[i].make();
        uint64_t doubts = found();
        if (doubts != DOUBTS_BIT(faults[i].doubt))
            fail_msg("%s, fault %zu: got the set %#llx", doubts_table[faults[i].doubt].code, i,
                     (unsigned long long)doubts);
    }
}

#endif
