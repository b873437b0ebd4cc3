/* Tests of tuner/session/drive_health: counters from smartctl's JSON and from sysfs, and what becomes of
 * missing ones. */
#include "tuner/session/drive_health.h"

#include "tests/tuner/rig.h"

GROUP(rig_enter, rig_leave);

static const char nvme[] =
    "{\"json_format_version\": [1, 0],"
    " \"smartctl\": {\"version\": [7, 3], \"output\": [\"smartctl 7.3\","
    "   \"Thermal Temp. 1 Total Time:         12\", \"Thermal Temp. 2 Total Time:         5\"],"
    "   \"exit_status\": 0},"
    " \"device\": {\"name\": \"/dev/nvme0n1\", \"type\": \"nvme\", \"protocol\": \"NVMe\"},"
    " \"nvme_smart_health_information_log\": {\"critical_warning\": 4, \"temperature\": 38,"
    "   \"available_spare\": 100, \"available_spare_threshold\": 10, \"percentage_used\": 2,"
    "   \"data_units_read\": 17000, \"data_units_written\": 25000, \"host_reads\": 1, \"host_writes\": 2,"
    "   \"controller_busy_time\": 3, \"power_cycles\": 4, \"power_on_hours\": 1295,"
    "   \"unsafe_shutdowns\": 5, \"media_errors\": 6, \"num_err_log_entries\": 7,"
    "   \"warning_temp_time\": 0, \"critical_comp_time\": 0},"
    " \"temperature\": {\"current\": 38}, \"power_on_time\": {\"hours\": 1295}}";

static const char sata[] =
    "{\"smartctl\": {\"exit_status\": 64}, \"ata_smart_attributes\": {\"revision\": 1, \"table\": ["
    " {\"id\": 9, \"name\": \"Power_On_Hours\", \"value\": 99, \"raw\": {\"value\": 4000}},"
    " {\"id\": 177, \"name\": \"Wear_Leveling_Count\", \"value\": 93, \"raw\": {\"value\": 120}},"
    " {\"id\": 187, \"name\": \"Reported_Uncorrect\", \"value\": 100, \"raw\": {\"value\": 3}},"
    " {\"id\": 194, \"name\": \"Temperature_Celsius\", \"value\": 66, \"raw\": {\"value\": 193275035683}},"
    " {\"id\": 241, \"name\": \"Total_LBAs_Written\", \"value\": 99, \"raw\": {\"value\": 2000000}}]},"
    " \"power_on_time\": {\"hours\": 4000}, \"temperature\": {\"current\": 34}}";

static struct drive_health health;

static bool parse(const char *text)
{
    return drive_health_parse_smartctl(text, strlen(text), &health);
}

TEST(nvme_counters_are_read)
{
    assert_true(parse(nvme));
    assert_true(health.known);
    assert_close(health.host_written_bytes, 25000 * 512000.0, 0);
    assert_close(health.percentage_used, 2, 0);
    assert_close(health.temperature_c, 38, 0);
    assert_close(health.thermal_throttle_s, 17, 0);
    assert_close(health.media_errors, 6, 0);
    assert_close(health.power_on_hours, 1295, 0);
    assert_close(health.critical_warning, 4, 0);
}

TEST(sata_attributes_are_read_by_their_names)
{
    assert_true(parse(sata));
    assert_close(health.host_written_bytes, 2000000 * 512.0, 0);
    assert_close(health.percentage_used, 7, 0);
    assert_close(health.temperature_c, 34, 0);
    assert_close(health.media_errors, 3, 0);
    assert_close(health.power_on_hours, 4000, 0);
    assert_true(isnan(health.thermal_throttle_s));
    assert_true(isnan(health.critical_warning));
}

TEST(units_of_vendors_are_told_apart)
{
    static const struct {
        const char *name;
        double bytes;
    } rows[] = {{"Total_LBAs_Written", 512},
                {"Host_Writes_32MiB", 33554432},
                {"Lifetime_Writes_GiB", 1073741824},
                {"Host_Writes_MiB", 1048576}};
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"ata_smart_attributes\": {\"table\": [{\"name\": \"%s\", \"raw\": {\"value\": 10}}]}}",
                 rows[i].name);
        assert_true(parse(text));
        assert_close(health.host_written_bytes, 10 * rows[i].bytes, 0);
    }
}

TEST(no_throttling_in_the_text_is_none)
{
    assert_true(parse("{\"smartctl\": {\"output\": [\"smartctl 7.3\"]},"
                      " \"nvme_smart_health_information_log\": {\"percentage_used\": 0}}"));
    assert_close(health.thermal_throttle_s, 0, 0);
    assert_close(health.percentage_used, 0, 0);
    assert_true(isnan(health.media_errors));
}

TEST(counters_beyond_64_bits_keep_their_size)
{
    assert_true(parse("{\"nvme_smart_health_information_log\": {\"data_units_written\": 1" /* 10^20 */
                      "00000000000000000000}}"));
    assert_close(health.host_written_bytes, 5.12e25, 1e15);
}

TEST(garbage_is_unknown_with_a_reason)
{
    static const char *const texts[] = {
        "",
        "smartctl 6.6",
        "[]",
        "{",
        "{}",
        "{\"ata_smart_attributes\": 3}",
        "{\"ata_smart_attributes\": {\"table\": [1, {}, {\"name\": 4}, {\"name\": \"SSD_Life_Left\"}]}}",
        "{\"nvme_smart_health_information_log\": {\"percentage_used\": -1, \"temperature\": \"hot\"}}",
        "{\"smartctl\": {\"messages\": []}}",
        "{\"smartctl\": {\"output\": [1, null]}}"};
    for (size_t i = 0; i < N_OF(texts); i++) {
        assert_false(parse(texts[i]));
        assert_false(health.known);
        assert_true(health.why_not[0] != '\0');
    }
}

TEST(the_words_of_smartctl_are_the_reason)
{
    assert_false(parse("{\"smartctl\": {\"exit_status\": 2, \"messages\": [{\"string\":"
                       " \"Smartctl open device: /dev/sda failed: Permission denied\","
                       " \"severity\": \"error\"}]}}"));
    assert_non_null(strstr(health.why_not, "Permission denied"));
}

TEST(life_time_takes_the_worse_of_two_steps)
{
    assert_true(drive_health_parse_life_time("0x01 0x03", &health));
    assert_close(health.percentage_used, 30, 0);
    assert_true(isnan(health.host_written_bytes));
    assert_true(drive_health_parse_life_time("0x05 0x02", &health));
    assert_close(health.percentage_used, 50, 0);
    assert_true(drive_health_parse_life_time("0x0b", &health));
    assert_close(health.percentage_used, 110, 0);
    assert_false(drive_health_parse_life_time("0x00 0x00", &health)); /* not defined */
    assert_false(drive_health_parse_life_time("0x0c", &health));
    assert_false(drive_health_parse_life_time("none", &health));
    assert_false(drive_health_parse_life_time("", &health));
}

/* A host with this disk. */
static struct hostinfo *host_with(const char *disk)
{
    static struct hostinfo host;
    memset(&host, 0, sizeof host);
    if (disk != NULL) {
        host.n = 1;
        host.facts[0].kind = HOSTINFO_TEXT;
        snprintf(host.facts[0].key, sizeof host.facts[0].key, "device_whole");
        snprintf(host.facts[0].text, sizeof host.facts[0].text, "%s", disk);
    }
    return &host;
}

TEST(the_disk_is_asked_with_smartctl)
{
    rig_write("nvme.json", "%s", nvme);
    rig_play("smartctl", "[ \"$*\" = '--json=o -A /dev/nvme9n1' ] && cat nvme.json; exit 64");
    drive_health_read(host_with("nvme9n1"), &clock_monotonic, NULL, &health);
    assert_true(health.known);
    assert_close(health.percentage_used, 2, 0);
    drive_health_read(host_with("sdzz"), &clock_monotonic, NULL, &health);
    assert_false(health.known);
}

TEST(a_smartctl_that_hangs_is_given_up)
{
    rig_play("smartctl", "sleep 100");
    drive_health_read(host_with("sdzz"), &clock_monotonic, NULL, &health);
    assert_false(health.known);
    assert_non_null(strstr(health.why_not, "did not answer in time"));
}

TEST(virtual_disks_are_not_asked)
{
    rig_play("smartctl", "touch asked");
    static const char *const disks[] = {"loop0", "vda", "dm-0", NULL};
    for (size_t i = 0; i < N_OF(disks); i++) {
        drive_health_read(host_with(disks[i]), &clock_monotonic, NULL, &health);
        assert_false(health.known);
        assert_true(health.why_not[0] != '\0');
    }
    assert_false(rig_exists("asked"));
}

TEST(nothing_is_asked_after_an_interruption)
{
    atomic_int interrupted = 2;
    rig_play("smartctl", "touch asked");
    drive_health_read(host_with("sdzz"), &clock_monotonic, &interrupted, &health);
    assert_false(health.known);
    assert_false(rig_exists("asked"));
}

TEST(json_says_before_after_and_the_difference)
{
    struct drive_health before, after;
    assert_true(drive_health_parse_smartctl(nvme, strlen(nvme), &before));
    after = before;
    after.host_written_bytes += 4096000;
    json_t *object = drive_health_json(&before, &after);
    CHECK_JSON(object, "written_bytes=4096000");
    json_t *part = json_object_get(object, "after");
    assert_int_equal(json_integer_value(json_object_get(part, "percentage_used")), 2);
    /* 12.8 GB were 2 % of five years, a tenth of one. */
    assert_close(json_number_value(json_object_get(object, "year_share")), 4096000 / (12804096000.0 * 10),
                 1e-12);
    json_decref(object);
    after.percentage_used = 0;
    assert_true(isnan(drive_health_year_share(&before, &after)));
    after = (struct drive_health){.why_not = "gone"};
    assert_true(isnan(drive_health_written_bytes(&before, &after)));
    object = drive_health_json(&before, &after);
    CHECK_JSON(object, "written_bytes=null", "after.unknown=gone");
    json_decref(object);
    object = drive_health_json(&after, &after);
    assert_string_equal(json_string_value(json_object_get(object, "unknown")), "gone");
    json_decref(object);
}

TEST(the_line_names_what_is_known_only)
{
    char text[200];
    struct drive_health before, after, nothing = {0};
    assert_true(drive_health_parse_smartctl(nvme, strlen(nvme), &before));
    after = before;
    after.host_written_bytes += 3.2e9;
    after.thermal_throttle_s += 4;
    assert_string_equal(
        drive_health_format(&before, &after, text, sizeof text),
        "drive: 3.20 GB written meanwhile (2 % of a year's rated writes), 2 % of its rated life used, "
        "38 C, 6 media errors, throttled by heat for 4 s meanwhile");
    assert_string_equal(drive_health_format(NULL, &before, text, sizeof text),
                        "drive: 2 % of its rated life used, 38 C, 6 media errors");
    assert_string_equal(drive_health_format(&nothing, &nothing, text, sizeof text), "");
    assert_true(strlen(drive_health_format(&before, &after, text, 20)) < 20);
}
