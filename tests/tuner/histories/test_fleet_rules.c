/* Tests of rules from a history of many hosts. */
#include "tests/tuner/histories/fleet_rig.h"
#include "tuner/histories/fleet_rules.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static bool as_json;

static int print(FILE *out)
{
    const struct fleet_rules_request request = {0.1, as_json};
    return fleet_rules_print(out, &data, &request, &err);
}

/* A run of each host from h<begin> up to h<end>. */
static void add_runs(int begin, int end, const char *file_system, const double bps[N_SETTINGS])
{
    for (int i = begin; i < end; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        const struct fleet_host host = {name, file_system, "6.1", NULL};
        add_host_run(&host, bps);
    }
}

/* 20 hosts of ext4 on which 64k x 8 is the best, and 10 of xfs on which 256k x 4 is. */
static void make_fleet(void)
{
    add_runs(0, 20, "ext4", (const double[N_SETTINGS]){1e7, 2e8, 1e8, 5e7});
    add_runs(20, 30, "xfs", (const double[N_SETTINGS]){1e7, 1e8, 2e8, 5e7});
    load(FLEET_NEWEST);
}

TEST(a_kind_of_hosts_gets_its_setting)
{
    make_fleet();
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "randread: 30 hosts, 4 settings"));
    assert_non_null(strstr(
        text, "file_system xfs: 256k x 4, direct, libaio is within 10 % of the best on 100 % (69 to 100) "
              "of 10 hosts"));
    assert_non_null(strstr(
        text, "else: 64k x 8, direct, io_uring is within 10 % of the best on 100 % (83 to 100) of 20 hosts"));
    assert_non_null(
        strstr(text, "the list is right on 100 % (88 to 100) of 30 hosts, one setting for all on 67 %"));
    free(text);
}

TEST(the_document_says_the_same)
{
    make_fleet();
    as_json = true;
    char *text = printed(print);
    json_auto_t *document = json_loads(text, 0, NULL);
    free(text);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "fstune/fleet-rules/1");
    const json_t *list = json_array_get(json_object_get(document, "patterns"), 0),
                 *rules = json_object_get(list, "rules");
    assert_int_equal(json_array_size(rules), 2);
    const json_t *rule = json_array_get(rules, 0);
    assert_string_equal(json_string_value(json_object_get(rule, "value")), "xfs");
    assert_int_equal(json_integer_value(json_object_get(rule, "hosts")), 10);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(rule, "setting"), "request_size")),
                     262144);
    assert_true(json_is_null(json_object_get(json_array_get(rules, 1), "feature")));
}

TEST(the_newest_run_of_a_host_counts)
{
    make_fleet();
    add_runs(20, 30, "xfs", (const double[N_SETTINGS]){1e7, 2e8, 1e8, 5e7});
    load(FLEET_NEWEST);
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "randread: 30 hosts"));
    assert_null(strstr(text, "else:"));
    assert_non_null(strstr(
        text, "64k x 8, direct, io_uring is within 10 % of the best on 100 % (88 to 100) of 30 hosts"));
    free(text);
}

TEST(a_newer_run_of_too_few_settings_hides_no_older_one)
{
    make_fleet();
    add_runs(0, 30, "btrfs", (const double[N_SETTINGS]){1e7, 2e8});
    add_runs(0, 30, "btrfs", (const double[N_SETTINGS]){1e7});
    load(FLEET_NEWEST);
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "randread: 30 hosts, 4 settings"));
    assert_non_null(strstr(text, "file_system xfs: 256k x 4"));
    free(text);
}

/* 64k x 8 and 256k x 4 are right on nine hosts each; the first host knows the dearer one alone. */
TEST(of_settings_that_are_right_as_often_the_one_with_the_least_in_flight_is_named)
{
    add_runs(0, 1, "ext4", (const double[N_SETTINGS]){1e7, 0, 2e8, 5e7, 1e8});
    add_runs(1, 2, "ext4", (const double[N_SETTINGS]){1e7, 2e8, 0, 5e7, 1e8});
    add_runs(2, 10, "ext4", (const double[N_SETTINGS]){1e7, 2e8, 2e8, 5e7, 1e8});
    load(FLEET_NEWEST);
    as_json = false;
    char *text = printed(print);
    assert_non_null(
        strstr(text, "  64k x 8, direct, io_uring is within 10 % of the best on 100 % (66 to 100) of 9"));
    free(text);
}

TEST(few_hosts_give_no_rule)
{
    const struct fleet_host host = {"alone", "ext4", "6.1", NULL};
    add_host_run(&host, (const double[N_SETTINGS]){1e7, 2e8, 1e8, 5e7});
    load(FLEET_NEWEST);
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "No rule"));
    free(text);
}

TEST(features_tell_devices_limits_and_surfaces)
{
    static const struct {
        const char *device, *class;
    } rows[] = {{"nvme0n1", "nvme"}, {"sda", "sd"},     {"vdb", "vd"},
                {"dm-3", "dm"},      {"loop7", "loop"}, {"md127", "md"}};
    uint32_t values[FLEET_N_FEATURES];
    for (size_t i = 0; i < N_OF(rows); i++) {
        json_auto_t *system =
            json_pack("{s:s, s:s}", "device", rows[i].device, "cgroup_v2_io_max", i == 0 ? "rbps=1" : "none");
        assert_int_equal(fleet_features(&data, system, NULL, values), 0);
        assert_string_equal(fleet_value_name(&data, FLEET_DEVICE, values[FLEET_DEVICE]), rows[i].class);
        assert_string_equal(fleet_value_name(&data, FLEET_CAPPED, values[FLEET_CAPPED]),
                            i == 0 ? "yes" : "no");
        assert_int_equal(values[FLEET_KERNEL], 0);
    }
    json_auto_t *storage = json_pack("{s:s}", "surface", "recorded");
    assert_int_equal(fleet_features(&data, NULL, storage, values), 0);
    assert_string_equal(fleet_value_name(&data, FLEET_FILE_SYSTEM, values[FLEET_FILE_SYSTEM]), "recorded");
}
