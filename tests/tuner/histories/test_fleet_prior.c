/* Tests of prior knowledge from a fleet. */
#include "tests/tuner/histories/fleet_rig.h"
#include "tuner/histories/fleet_prior.h"
#include "tuner/store/prior_file.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static void make_fleet(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%zu", i);
        const struct fleet_host host = {name, "ext4", "6.1", NULL};
        double bps = 1e8 * (double)(i + 1);
        add_host_run(&host, (const double[N_SETTINGS]){bps / 4, bps, bps / 2, bps / 8, i < 2 ? bps / 16 : 0});
    }
    load(FLEET_NEWEST);
}

TEST(a_prior_has_the_settings_that_several_hosts_measured)
{
    json_t *document = NULL;
    make_fleet(5);
    assert_int_equal(fleet_prior_make(&data, "randread", &document, &err), 0);
    const json_t *points = json_object_get(document, "points");
    double means[] = {0.25, 1, 0.5, 0.125};
    assert_int_equal(json_array_size(points), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(points, i);
        assert_close(json_number_value(json_object_get(row, "mean")), means[i], 1e-9);
        assert_close(json_number_value(json_object_get(row, "std")), 0, 1e-9);
        assert_int_equal(json_integer_value(json_object_get(row, "replays")), 5);
    }
    json_decref(document);
}

TEST(a_search_reads_the_prior)
{
    json_t *document = NULL;
    struct prior_file file = {0};
    make_fleet(5);
    assert_int_equal(fleet_prior_make(&data, "randread", &document, &err), 0);
    char *text = json_dumps(document, 0);
    if (prior_parse(&file, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(file.n, 4);
    assert_true(factors_equal(&file.points[1].point, &settings_of_all[1]));
    prior_file_done(&file);
    free(text);
    json_decref(document);
}

TEST(a_fleet_that_knows_nothing_says_so)
{
    json_t *document = NULL;
    make_fleet(2);
    assert_int_equal(fleet_prior_make(&data, "randread", &document, &err), -ENODATA);
    assert_int_equal(fleet_prior_make(&data, "write", &document, &err), -ENODATA);
    assert_null(document);
}
