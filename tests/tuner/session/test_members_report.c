/* Tests of what is said of several targets. */
#include "tests/test.h"
#include "tests/tuner/session/two_members.h"

#include "tuner/session/members_report.h"

#define N_BLOCKS 4

static void add(struct record *record, double throughput_bps)
{
    struct histogram latency;
    const struct sample sample = {.throughput_bps = throughput_bps, .iops = throughput_bps, .seconds = 1};
    histogram_init(&latency);
    histogram_add(&latency, 100, 1);
    assert_int_equal(record_add(record, &sample, &latency), 0);
}

/* Two places, "one" on sda and "two" on the disk given, each 100 bytes a second alone. */
static void check_verdict(const char *disk, double one_bps, double two_bps, const char *expected)
{
    struct session *session = calloc(1, sizeof *session);
    struct settings *settings = calloc(1, sizeof *settings);
    struct members_study study = {.session = session};
    char text[MEMBERS_REPORT_SIZE];
    assert_true(session != NULL && settings != NULL);
    two_members_init(session, settings);
    strcpy(session->target_facts.stack.device, "sda");
    strcpy(session->other[0].target_facts.stack.device, disk);
    for (size_t i = 0; i < N_BLOCKS; i++) {
        /* A scatter of a thousandth. */
        double factor = i % 2 == 0 ? 1 : 1.001;
        add(&study.together[0], one_bps);
        add(&study.together[1], two_bps);
        add(&study.alone[0], 100);
        add(&study.alone[1], 100);
        moments_add(&study.log_share, log(factor * (one_bps + two_bps) / 200));
    }
    members_report_verdict(&study, text);
    if (strstr(text, expected) == NULL)
        fail_msg("%s\nlacks: %s", text, expected);
    members_study_done(&study);
    free(settings);
    free(session);
}

TEST(losers_on_one_disk_are_named_with_it)
{
    check_verdict("sda", 50, 50, "one, two share a bottleneck: they lie on one disk, sda");
    check_verdict("sdb", 50, 50, "one, two share a bottleneck, which is not a disk");
}

TEST(one_loser_alone_shares_no_disk_with_itself)
{
    check_verdict("sdb", 50, 95, "one, two share a bottleneck, which is not a disk");
    check_verdict("sda", 50, 95, "one, two share a bottleneck: they lie on one disk, sda");
}

TEST(a_share_is_told_with_its_blocks)
{
    check_verdict("sdb", 100, 100, "100 % of the sum of each alone (4 blocks, 95 % interval 100 to 100 %)");
    check_verdict("sdb", 100, 100, "they share nothing that limits them");
}
