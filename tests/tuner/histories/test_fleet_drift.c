/* Tests of drift in a history of many hosts. */
#include "tests/tuner/histories/fleet_rig.h"
#include "tuner/histories/fleet_drift.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static bool as_json;

static int print(FILE *out)
{
    return fleet_drift_print(out, &data, as_json, &err);
}

/* Each host's rate is its own; a new kernel makes all 11 % slower, a new name of the disk changes nothing. */
static void make_nights(size_t n_hosts)
{
    for (size_t i = 0; i < n_hosts; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%zu", i);
        double bps = 1e8 * (1 + 0.1 * (double)i), noise = i % 2 == 0 ? 1.01 : 0.99;
        const struct fleet_host nights[] = {{name, "ext4", "6.1", "sda"},
                                            {name, "ext4", "6.1", "nvme0n1"},
                                            {name, "ext4", "6.12", "nvme0n1"}};
        const double factors[] = {1, noise, 0.89 * noise * noise};
        for (size_t k = 0; k < N_OF(nights); k++)
            add_host_run(&nights[k], (const double[N_SETTINGS]){bps * factors[k], 2 * bps * factors[k],
                                                                k == 0 ? bps : 0, k == 2 ? bps : 0});
    }
    load(FLEET_ALL);
}

TEST(a_kernel_that_is_slower_on_all_hosts_is_told)
{
    make_nights(8);
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "randread: kernel 6.1 -> 6.12: -11.0 %"));
    assert_non_null(strstr(text, "slower on 8 of 8 hosts"));
    assert_null(strstr(text, "device"));
    assert_non_null(strstr(text, "1 of 2 changes"));
    free(text);
}

TEST(the_document_has_every_group)
{
    make_nights(8);
    as_json = true;
    char *text = printed(print);
    json_auto_t *document = json_loads(text, 0, NULL);
    free(text);
    const json_t *groups = json_object_get(document, "groups");
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "fstune/fleet-drift/1");
    assert_int_equal(json_array_size(groups), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(groups, 0), "feature")), "device");
    assert_true(json_is_false(json_object_get(json_array_get(groups, 0), "changed")));
    assert_true(json_is_true(json_object_get(json_array_get(groups, 1), "changed")));
}

TEST(two_hosts_are_not_judged)
{
    make_nights(2);
    as_json = false;
    char *text = printed(print);
    assert_non_null(strstr(text, "0 of 0 changes"));
    free(text);
}

TEST(a_fleet_without_runs_has_no_drift)
{
    load(FLEET_ALL);
    as_json = true;
    char *text = printed(print);
    json_auto_t *document = json_loads(text, 0, NULL);
    free(text);
    assert_int_equal(json_array_size(json_object_get(document, "groups")), 0);
}
