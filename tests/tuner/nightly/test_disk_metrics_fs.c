/* Tests of tuner/nightly/disk_metrics: each metric says once what it is, and tells of the disk. */
#include "tests/tuner/nightly/disk_rig.h"
#include "tuner/nightly/disk_metrics.h"

#include <errno.h>

static void check_sample(const char *text, const char *name, const char *more)
{
    char line[256];
    snprintf(line, sizeof(line), "\n%s{disk=\"%s\"%s\n", name, rig.path, more);
    CHECK_HAS(text, line);
}

TEST(what_was_learnt_stands_with_its_kind_and_setting)
{
    rig_serve();
    struct online_setting ahead = disk_ways_to_setting((struct image_way){.ahead_bytes = 4 << 20});
    online_remember(&rig.served.online, kind_find("seq-read-large"), &ahead, 2.5);
    AUTO(auto_free) char *text = disk_metrics_text(&rig.served);
    assert_non_null(text);
    check_sample(text, "fstune_disk_kind_gain_ratio",
                 ",kind=\"seq-read-large\",setting=\"cached,ahead=4m\"} 2.5");
    check_sample(text, "fstune_disk_kind_settled", ",kind=\"seq-read-large\"} 1");
    check_sample(text, "fstune_disk_info", ",state=\"tuning\",load=\"none\",setting=\"cached\"} 1");
    check_sample(text, "fstune_disk_errors_total", "} 0");
    check_sample(text, "fstune_disk_direct_possible", rig.served.ways.can_direct ? "} 1" : "} 0");
    assert_int_equal(count_of(text, "# TYPE "), count_of(text, "# HELP "));
    assert_int_equal(count_of(text, "# TYPE fstune_disk_info "), 1);
    disk_close(&rig.served);
}

TEST(errors_are_counted)
{
    char byte;
    struct disk_gate_client client = {0};
    rig_serve();
    assert_int_equal(truncate(rig.path, 4096), 0);
    assert_int_equal(disk_read(&rig.served, &client, &byte, 1, 8192), -EIO);
    AUTO(auto_free) char *text = disk_metrics_text(&rig.served);
    assert_non_null(text);
    check_sample(text, "fstune_disk_errors_total", "} 1");
    check_sample(text, "fstune_disk_info", ",state=\"frozen\",load=\"none\",setting=\"cached\"} 1");
    disk_close(&rig.served);
}
