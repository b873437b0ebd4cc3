/* Tests of tuner/session/session_members: what limits let several targets do together. */
#include "tests/test.h"
#include "tests/tuner/session/two_members.h"

#include "tuner/session/session_members.h"

#define MB 1e6

static struct settings *settings;
static struct session *session;

FIXTURE(leave)
{
    free(session);
    free(settings);
    session = NULL;
    settings = NULL;
    (void)test_state;
    return 0;
}

/* Two places on the disks, with limits on what is read. */
FIXTURE(enter)
{
    settings = calloc(1, sizeof *settings);
    session = calloc(1, sizeof *session);
    if (settings == NULL || session == NULL)
        return leave(test_state);
    two_members_init(session, settings);
    session->env.cache = MEASURE_CACHE_COLD;
    return pattern_parse("randread", &settings->workload.pattern, NULL);
}

EACH_TEST(enter, leave);

static void on_disks(const char *first, double first_bps, const char *second, double second_bps)
{
    struct storage_stack *stack = &session->target_facts.stack,
                         *other = &session->other[0].target_facts.stack;
    strcpy(session->members.device[0].sysfs, first);
    strcpy(session->members.device[1].sysfs, second);
    stack->caps_known = other->caps_known = true;
    stack->cap_read_bps = first_bps;
    other->cap_read_bps = second_bps;
}

static double ceiling(void)
{
    const struct point point = {.request_size_bytes = 65536, .queue_depth = 4, .direct = 1, .threads = 1};
    return session_members_ceiling(session, &point);
}

TEST(limits_of_two_disks_add_up)
{
    on_disks("/sys/block/sda", 40 * MB, "/sys/block/sdb", 60 * MB);
    assert_close(ceiling() / MB, 100, 1e-9);
}

TEST(a_limit_that_members_share_counts_once)
{
    on_disks("/sys/block/sda", 40 * MB, "/sys/block/sda", 40 * MB);
    assert_close(ceiling() / MB, 40, 1e-9);
}

TEST(one_disk_without_a_limit_leaves_none_to_all)
{
    on_disks("/sys/block/sda", 40 * MB, "/sys/block/sdb", 0);
    assert_true(isinf(ceiling()));
}

static struct measure_result run_of(double first_bps, double second_bps)
{
    struct member_figures *figures = session->members.figures;
    const double bps[] = {first_bps, second_bps};
    for (size_t i = 0; i < 2; i++)
        figures[i] = (struct member_figures){
            .throughput_bps = bps[i], .iops = bps[i] / 65536, .bytes_read = (uint64_t)bps[i], .seconds = 1};
    session->env.members = &session->members;
    session->clock = clock_monotonic;
    return (struct measure_result){.monitor = {.span_s = 1},
                                   .total_bytes_read = (uint64_t)(first_bps + second_bps),
                                   .throughput_bps = first_bps + second_bps,
                                   .iops = (first_bps + second_bps) / 65536,
                                   .bytes_read = (uint64_t)(first_bps + second_bps)};
}

TEST(a_burst_of_one_member_is_taken_from_that_member_alone)
{
    const struct measure_plan plan = {.point = {.direct = 1}};
    on_disks("/sys/block/sda", 40 * MB, "/sys/block/sdb", 60 * MB);
    struct measure_result result = run_of(80 * MB, 30 * MB);
    const uint64_t now_ns = clock_now_ns(&clock_monotonic);
    session_members_apply_limits(session, &plan, &result);
    assert_true(session->repaid_ns >= now_ns + 200000000); /* what was lent, at most */
    assert_close(result.throughput_bps / MB, 70, 1e-6);
    assert_close(result.burst_bps / MB, 110, 1e-6);
    assert_close(session->members.figures[0].throughput_bps / MB, 40, 1e-6);
    assert_close(session->members.figures[1].throughput_bps / MB, 30, 1e-6);
}

TEST(members_on_one_disk_pass_its_limit_together)
{
    const struct measure_plan plan = {.point = {.direct = 1}};
    on_disks("/sys/block/sda", 40 * MB, "/sys/block/sda", 40 * MB);
    struct measure_result result = run_of(30 * MB, 50 * MB);
    session_members_apply_limits(session, &plan, &result);
    assert_close(result.throughput_bps / MB, 40, 1e-6);
    assert_close(session->members.figures[1].throughput_bps / MB, 25, 1e-6);
}
