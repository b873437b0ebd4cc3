/* Tests of tuner/session/warnings: every rule fires on its fact, and none on clean facts. */
#include "tests/tuner/session/warnings_rig.h"

EACH_TEST(begin_clean, NULL);

static uint64_t found(void)
{
    return warnings_of_run(&facts.asked, &facts.target_facts, &facts.plan, &facts.result) |
           warnings_of_target(&facts.asked, &facts.target_facts);
}

/* Every fault alone: it is found, and nothing else. A fault sets one number of the facts, or more. */
struct fault {
    enum warning warning;
    enum { DOUBLE, INT, BOOL } kind;
    size_t number; /* the place in the facts of a number of this kind */
    double value;
    void (*make)(void); /* NULL: the number alone */
};

#define NUMBER(member) offsetof(struct facts, member)

static void cached(void)
{
    facts.result.cold = TARGET_COLD_NOT;
}

static void reads_not_counted(void)
{
    facts.result.monitor.own_read_bytes = 3.9e6;
    facts.result.monitor.device_read_bytes = 3.9e6;
}

static void write_cap(void)
{
    facts.result.bytes_written = 8000000;
    facts.target_facts.stack.cap_write_bps = 3.9e6;
}

/* A thread that is busy with filling the page cache waits for the limit in its flush. */
static void held_while_busy(void)
{
    facts.target_facts.stack.cap_read_bps = 3.9e6;
    facts.result.monitor.busiest_thread_cpu_share = 0.97;
}

static void written_to_a_guest_disk(void)
{
    set_pattern("randwrite");
    facts.target_facts.stack.virtual_disk = true;
}

static void taken_pages_written(void)
{
    set_pattern("randwrite");
    facts.plan.point.direct = 0;
    facts.target_facts.free_pages_taken = true;
}

/* Cold reads take new pages too. */
static void taken_pages_read(void)
{
    facts.plan.point.direct = 0;
    facts.target_facts.free_pages_taken = true;
}

static void unsynced(void)
{
    set_pattern("randwrite");
    facts.plan.point.sync = SYNC_NONE;
}

static void holes(void)
{
    facts.target_facts.extents.hole_bytes = 1 << 25;
}

static void unwritten(void)
{
    facts.target_facts.extents.unwritten_bytes = 1 << 25;
}

static void encoded(void)
{
    facts.target_facts.extents.encoded_bytes = 1 << 25;
}

static void text_on_a_compressing_file_system(void)
{
    facts.target_facts.stack.compresses = true;
    facts.target_facts.compressibility.compressible_share = 0.5;
}

static void copies_on_a_deduplicating_one(void)
{
    facts.target_facts.stack.may_deduplicate = true;
    facts.target_facts.compressibility.duplicate_share = 0.5;
}

static void buffered_loop(void)
{
    facts.target_facts.stack.loop = true;
}

static void offered(void)
{
    facts.plan.rate_bps = 4.2e6;
    facts.result.n_late = 70;
}

static void guest_disk(void)
{
    facts.target_facts.stack.virtual_disk = true;
}

/* 8 requests of 4 KiB, each in two pieces. */
static void too_few_slots(void)
{
    facts.target_facts.stack.server = (struct network_mount){.read_bytes = 2048, .slots = 15};
}

static void copies_on_a_disk(void)
{
    facts.plan.point.direct = 0;
    facts.target_facts.stack.server.disk_cache = true;
}

static void on_a_server(void)
{
    facts.target_facts.stack.network = true;
}

static void written_to_a_server(void)
{
    set_pattern("randwrite");
    on_a_server();
}

static void soft(void)
{
    set_pattern("randwrite");
    facts.target_facts.stack.server.soft = true;
}

static const struct fault faults[] = {
    {WARNING_WARMUP_NOT_STABLE, .kind = INT, .number = NUMBER(result.warmup), .value = MEASURE_WARMUP_LIMIT},
    {WARNING_DEPTH_NOT_ACHIEVED, .number = NUMBER(result.achieved_depth), .value = 6.37},
    {WARNING_RATE_NOT_SERVED, .make = offered},
    {WARNING_LATENCY_SELF_CHECK, .number = NUMBER(result.littles_law_error), .value = 0.11},
    {WARNING_NOT_COLD, .make = cached},
    {WARNING_CACHE_STATE_UNVERIFIED, .kind = INT, .number = NUMBER(result.cold),
     .value = TARGET_COLD_UNVERIFIED},
    {WARNING_NOT_SETTLED, .kind = BOOL, .number = NUMBER(result.settled), .value = false},
    {WARNING_PVEC_CONTIGUOUS, .kind = INT, .number = NUMBER(plan.point.api), .value = API_PVEC},
    {WARNING_SERVED_FROM_CACHE, .make = reads_not_counted},
    {WARNING_GENERATOR_CPU_BOUND, .number = NUMBER(result.monitor.busiest_thread_cpu_share), .value = 0.97},
    {WARNING_GENERATOR_CPU_BOUND, .number = NUMBER(result.monitor.busiest_helper_cpu_share), .value = 0.97},
    {WARNING_GENERATOR_CPU_BOUND, .number = NUMBER(result.monitor.process_cpu_share), .value = 1.95},
    {WARNING_RATE_CAPPED, .number = NUMBER(target_facts.stack.cap_read_bps), .value = 4.1e6},
    {WARNING_RATE_CAPPED, .make = write_cap},
    {WARNING_RATE_CAPPED, .make = held_while_busy},
    {WARNING_RATE_CAPPED, .number = NUMBER(result.burst_bps), .value = 5e6}, /* which was taken off */
    {WARNING_RATE_CAPPED, .number = NUMBER(target_facts.stack.cap_read_iops), .value = 990},
    {WARNING_THROTTLED_DURING_RUN, .number = NUMBER(result.monitor.throttled), .value = 1},
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(result.monitor.device_read_bytes), .value = 30e6},
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(result.monitor.device_written_bytes), .value = 30e6},
    {WARNING_STEAL, .number = NUMBER(result.monitor.steal_share), .value = 0.08},
    {WARNING_CLOCK_STEP, .number = NUMBER(result.monitor.clock_step_s), .value = -3600},
    {WARNING_RUN_CUT, .kind = BOOL, .number = NUMBER(result.cut), .value = true},
    {WARNING_CLOCK_STEP, .number = NUMBER(result.monitor.suspended_s), .value = 5},
    {WARNING_WRITES_ABSORBED, .make = unsynced},
    {WARNING_MEMORY_FIRST_TOUCH, .make = taken_pages_written},
    {WARNING_MEMORY_FIRST_TOUCH, .make = taken_pages_read},
    {WARNING_NETWORK_SLOTS, .make = too_few_slots},
    {WARNING_CLIENT_DISK_CACHE, .make = copies_on_a_disk},
    /* About the file, the device and the machine. */
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(target_facts.idle.device_written_bps), .value = 50e6},
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(target_facts.idle.psi_io_some_share), .value = 0.9},
    {WARNING_STEAL, .number = NUMBER(target_facts.idle.steal_share), .value = 0.2},
    {WARNING_EXISTING_HAS_HOLES, .make = holes},
    {WARNING_EXISTING_HAS_UNWRITTEN, .make = unwritten},
    {WARNING_EXISTING_COMPRESSED, .make = encoded},
    {WARNING_COMPRESSIBLE_DATA, .make = text_on_a_compressing_file_system},
    {WARNING_COMPRESSIBLE_DATA, .make = copies_on_a_deduplicating_one},
    {WARNING_MEMORY_BACKED_LOOP, .make = buffered_loop},
    {WARNING_MEMORY_BACKED, .kind = BOOL, .number = NUMBER(target_facts.stack.in_memory), .value = true},
    {WARNING_FILE_FITS_DEVICE_CACHE, .make = guest_disk},
    {WARNING_HOST_DURABILITY, .make = written_to_a_guest_disk},
    {WARNING_NEARLY_FULL, .number = NUMBER(target_facts.stack.free_share), .value = 0.04},
    {WARNING_SERVER_CACHE, .make = on_a_server},
    {WARNING_SERVER_DURABILITY, .make = written_to_a_server},
    {WARNING_SOFT_MOUNT, .make = soft},
    {WARNING_FRAGMENTED, .number = NUMBER(target_facts.growth_per_gib), .value = 500},
};

TEST(pages_that_are_not_new_meet_no_host)
{
    facts.target_facts.free_pages_taken = true;
    assert_int_equal(found(), 0);
    facts.plan.point.direct = 0;
    facts.asked.cold = false;
    assert_int_equal(found(), 0);
}

TEST(every_fault_is_found_and_nothing_else)
{
    for (size_t i = 0; i < N_OF(faults); i++) {
        make_clean();
        void *number = (char *)&facts + faults[i].number;
        if (faults[i].make != NULL)
            faults[i].make();
        else if (faults[i].kind == DOUBLE)
            *(double *)number = faults[i].value;
        else if (faults[i].kind == INT)
            *(int *)number = (int)faults[i].value;
        else
            *(bool *)number = faults[i].value != 0;
        uint64_t warning_set = found();
        if (warning_set != WARNINGS_BIT(faults[i].warning))
            fail_msg("%s, fault %zu: got the set %#llx", warnings_table[faults[i].warning].code, i,
                     (unsigned long long)warning_set);
    }
}

TEST(clean_facts_raise_no_doubt)
{
    assert_int_equal(found(), 0);
    facts.result.achieved_depth = 6.41;
    facts.result.warmup = MEASURE_WARMUP_NONE;
    facts.result.littles_law_error = 0.09;
    facts.result.monitor.busiest_thread_cpu_share = 0.94;
    facts.result.monitor.steal_share = 0.05;
    facts.target_facts.extents.hole_bytes = facts.target_facts.extents.unwritten_bytes = 1 << 20;
    facts.target_facts.stack.free_share = 0.06;
    facts.target_facts.stack.cap_read_bps = 5e6;
    assert_int_equal(found(), 0);
}

/* Its queue is not to be full, and its threads stay awake. */
TEST(a_rate_that_is_served_raises_no_doubt)
{
    facts.plan.rate_bps = 4.1e6;
    facts.result.n_late = 50;
    facts.result.achieved_depth = 0.5;
    facts.result.monitor.busiest_thread_cpu_share = 1;
    assert_int_equal(found(), 0);
}

TEST(what_is_unknown_raises_no_doubt)
{
    target_facts_init(&facts.target_facts);
    memset(&facts.result.monitor, 0, sizeof facts.result.monitor);
    run_monitor_clear(&facts.result.monitor);
    assert_int_equal(found(), 0);
}

/* With 64 requests at depth 64 the queue only drains: half of the depth is all there can be. */
TEST(a_queue_that_drains_achieved_its_depth)
{
    facts.plan.point.queue_depth = 64;
    facts.result.n_requests = 64;
    facts.result.achieved_depth = 30;
    assert_int_equal(found(), 0);
    facts.result.achieved_depth = 20;
    assert_int_equal(found(), WARNINGS_BIT(WARNING_DEPTH_NOT_ACHIEVED));
    /* Each of four threads has its own queue. */
    facts.result.n_requests = 4 * 64;
    facts.plan.point.threads = 4;
    facts.result.achieved_depth = 30;
    assert_int_equal(found(), 0);
}

TEST(the_cache_matters_to_cold_reads_only)
{
    cached();
    reads_not_counted();
    facts.asked.cold = false;
    assert_int_equal(found(), 0);
    facts.asked.cold = true;
    set_pattern("write");
    assert_int_equal(found(), 0);
}

TEST(slots_that_suffice_and_buffered_requests_raise_no_doubt)
{
    too_few_slots();
    facts.target_facts.stack.server.slots = 16;
    assert_int_equal(found(), 0);
    facts.target_facts.stack.server.slots = 0; /* unknown */
    assert_int_equal(found(), 0);
    facts.target_facts.stack.server.slots = 1;
    facts.plan.point.direct = 0;
    assert_int_equal(found(), 0);
}

TEST(a_soft_mount_that_is_read_loses_nothing)
{
    facts.target_facts.stack.server.soft = true;
    assert_int_equal(found(), 0);
}

TEST(pvec_is_noted_where_the_pattern_is_random)
{
    facts.plan.point.api = API_PVEC;
    set_pattern("read");
    assert_int_equal(found(), 0);
}

/* Counters of the block layer do not see what a server or another process reads. */
TEST(reads_are_missed_only_where_they_are_counted)
{
    reads_not_counted();
    facts.target_facts.stack.network = true;
    assert_int_equal(found(), WARNINGS_BIT(WARNING_SERVER_CACHE));
    facts.target_facts.stack.network = false;
    facts.target_facts.stack.device[0] = '\0';
    assert_int_equal(found(), 0);
}

TEST(holes_explain_reads_without_io)
{
    reads_not_counted();
    facts.target_facts.extents.hole_bytes = 1 << 25;
    assert_int_equal(found(), WARNINGS_BIT(WARNING_EXISTING_HAS_HOLES));
}

TEST(a_cap_far_from_the_rate_does_not_bind)
{
    facts.target_facts.stack.cap_read_bps = 3e6; /* what comes from a cache is not capped */
    facts.target_facts.stack.cap_write_bps = 4e6;
    facts.target_facts.stack.cap_write_iops = 1000;
    assert_int_equal(found(), 0);
    /* Buffered requests are merged before they are counted. */
    facts.plan.point.direct = 0;
    facts.target_facts.stack.cap_read_iops = 1000;
    assert_int_equal(found(), 0);
}

TEST(own_writes_are_no_neighbour)
{
    set_pattern("randwrite");
    facts.result.total_bytes_written = 200000000;
    facts.result.monitor.device_written_bytes = 400e6;
    assert_int_equal(found(), 0);
    facts.result.monitor.device_written_bytes = 500e6;
    assert_int_equal(found(), WARNINGS_BIT(WARNING_NEIGHBOUR_BUSY));
    facts.asked.beside = true; /* loads of ours write, too */
    assert_int_equal(found(), 0);
    facts.asked.beside = false;
    facts.plan.point.sync = SYNC_EACH;
    assert_int_equal(found(), 0);
    facts.plan.point.sync = SYNC_END;
    facts.target_facts.stack.copies_on_write = true;
    assert_int_equal(found(), 0);
}

TEST(ticks_that_fall_into_a_short_run_by_chance_are_no_steal)
{
    facts.result.monitor.span_s = 0.05;
    facts.result.monitor.steal_share = 0.2; /* 2 of 10 ticks */
    assert_int_equal(found(), 0);
    facts.result.monitor.steal_share = 0.3;
    assert_int_equal(found(), WARNINGS_BIT(WARNING_STEAL));
}

TEST(rates_pinned_below_an_earlier_one_are_seen)
{
    static const double pinned[] = {190, 200, 140, 100, 100.2, 99.9};
    assert_true(warnings_pinned(pinned, 6));
    assert_true(warnings_pinned(pinned + 2, 4));
    static const double scattering[] = {190, 200, 140, 100, 101, 99.9};
    assert_false(warnings_pinned(scattering, 6));
    static const double steady[] = {120, 100, 100, 100};
    assert_false(warnings_pinned(steady, 4));
    static const double rising[] = {50, 100, 100, 100};
    assert_false(warnings_pinned(rising, 4));
    assert_false(warnings_pinned(pinned + 3, 3));
    assert_false(warnings_pinned(NULL, 0));
}

TEST(random_is_faster_only_beyond_noise_and_a_quarter)
{
    const struct moments sequential = {5, 0, 0.02};
    assert_true(warnings_random_faster((struct moments){5, 0.3, 0.02}, sequential));
    assert_false(warnings_random_faster((struct moments){5, 0.2, 0.02}, sequential));
    assert_false(warnings_random_faster((struct moments){5, 0.3, 0.3}, sequential));
    assert_false(warnings_random_faster((struct moments){5, -0.3, 0.02}, sequential));
    assert_false(warnings_random_faster((struct moments){1, 0.3, 0}, sequential));
}

TEST(an_own_file_has_no_doubts_of_a_users)
{
    facts.target_facts.existing = false;
    holes();
    unwritten();
    encoded();
    text_on_a_compressing_file_system();
    assert_int_equal(found(), 0);
}

TEST(encryption_is_no_compression)
{
    encoded();
    facts.target_facts.stack.encrypted = true;
    assert_int_equal(found(), 0);
}

/* A block less than a hundredth, and the commit of a journal. */
TEST(trifles_raise_no_doubt)
{
    facts.target_facts.extents.hole_bytes = facts.target_facts.extents.unwritten_bytes = 1 << 20;
    facts.target_facts.extents.encoded_bytes = 1 << 20;
    facts.target_facts.idle.device_written_bps = 10e6;
    facts.target_facts.idle.psi_io_some_share = 0.2;
    facts.target_facts.growth_per_gib = 10;
    facts.target_facts.stack.free_share = 0.06;
    facts.target_facts.stack.compresses = true;
    facts.target_facts.compressibility.compressible_share = 0.05;
    assert_int_equal(found(), 0);
}

TEST(a_loop_device_with_direct_io_is_a_disk)
{
    buffered_loop();
    facts.target_facts.stack.loop_direct_io = true;
    assert_int_equal(found(), 0);
}

TEST(a_virtual_disk_matters_to_cold_reads)
{
    guest_disk();
    facts.asked.cold = false;
    assert_int_equal(found(), 0);
    facts.asked.cold = true;
    set_pattern("write");
    assert_int_equal(found(), WARNINGS_BIT(WARNING_HOST_DURABILITY));
}

TEST(warnings_disqualify_where_they_matter)
{
    enum { DIRECT = 1, BUFFERED = 2, BOTH = 3 };
    static const struct {
        enum warning warning;
        const char *pattern;
        bool cold, sync_pinned;
        int against; /* direct points, buffered points */
    } rows[] = {
        {WARNING_DEPTH_NOT_ACHIEVED, "randread", true, true, DIRECT},
        {WARNING_NOT_COLD, "randread", true, true, BUFFERED},
        {WARNING_NOT_COLD, "randread", false, true, 0},
        {WARNING_NOT_COLD, "write", true, true, 0},
        {WARNING_EXISTING_HAS_HOLES, "randread", true, true, BOTH},
        {WARNING_EXISTING_HAS_HOLES, "randread", false, true, BOTH},
        {WARNING_EXISTING_HAS_HOLES, "randwrite", false, true, 0},
        /* Unless the user wanted it. */
        {WARNING_WRITES_ABSORBED, "randread", true, true, 0},
        {WARNING_WRITES_ABSORBED, "randread", true, false, BOTH},
        /* These are notes. */
        {WARNING_GENERATOR_CPU_BOUND, "randread", true, false, 0},
        {WARNING_RATE_CAPPED, "randread", true, false, 0},
        {WARNING_MEMORY_BACKED, "randread", true, false, 0},
        {WARNING_NEIGHBOUR_BUSY, "randread", true, false, 0},
        {WARNING_STEAL, "randread", true, false, 0},
        {WARNING_NEARLY_FULL, "randread", true, false, 0},
        {WARNING_MEMORY_FIRST_TOUCH, "randread", false, true, 0},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        const uint64_t bit = WARNINGS_BIT(rows[i].warning);
        set_pattern(rows[i].pattern);
        facts.asked.cold = rows[i].cold;
        facts.asked.sync_pinned = rows[i].sync_pinned;
        for (uint32_t direct = 0; direct < 2; direct++) {
            facts.plan.point.direct = direct;
            bool expected = (rows[i].against & (direct ? DIRECT : BUFFERED)) != 0;
            if (warnings_disqualifying(bit, &facts.asked, &facts.plan.point) != (expected ? bit : 0))
                fail_msg("%s, row %zu, direct %u", warnings_table[rows[i].warning].code, i, direct);
        }
    }
}

TEST(only_disturbances_from_outside_pass)
{
    assert_int_equal(warnings_passing(~UINT64_C(0)), WARNINGS_BIT(WARNING_NEIGHBOUR_BUSY) |
                                                         WARNINGS_BIT(WARNING_STEAL) |
                                                         WARNINGS_BIT(WARNING_THROTTLED_DURING_RUN));
    assert_int_equal(warnings_passing(WARNINGS_BIT(WARNING_NOT_COLD)), 0);
}

TEST(every_doubt_has_a_code_of_its_own_and_words)
{
    for (unsigned i = 0; i < WARNING_N; i++) {
        assert_non_null(warnings_table[i].code);
        assert_int_equal(warnings_find(warnings_table[i].code), i);
        assert_true(strlen(warnings_table[i].text) > 20 && strlen(warnings_table[i].text) < 240);
        assert_int_equal(strspn(warnings_table[i].code, "abcdefghijklmnopqrstuvwxyz_"),
                         strlen(warnings_table[i].code));
    }
    assert_int_equal(warnings_find("not_col"), WARNING_N);
    assert_int_equal(warnings_find(""), WARNING_N);
}
