/* Tests of the advice that a fleet gives to a host that has not measured. */
#include "tests/tuner/histories/fleet_rig.h"
#include "tuner/base/fail.h"
#include "tuner/histories/fleet_advice.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static bool as_json;
static const char *own_file_system;
static int code;

static int print(FILE *out)
{
    json_auto_t *system =
        json_pack("{s:s, s:s, s:b}", "file_system", own_file_system, "device", "vdb", "rotational", 0);
    const struct fleet_advice_request request = {
        .pattern = "randread", .system = system, .tolerance_share = 0.1, .json = as_json};
    code = fleet_advice_print(out, &data, &request, &err);
    return code < 0 ? code : 0;
}

/* Ten of n_ext4 hosts of ext4 and of n_xfs hosts of xfs have another best setting each. */
static void make_fleet(int n_ext4, int n_xfs)
{
    for (int i = 0; i < n_ext4 + n_xfs; i++) {
        char name[16];
        bool is_ext4 = i < n_ext4;
        snprintf(name, sizeof name, "h%d", i);
        const struct fleet_host host = {name, is_ext4 ? "ext4" : "xfs", "6.1", NULL};
        add_host_run(&host, (const double[N_SETTINGS]){1e7, is_ext4 ? 2e8 : 1e8, is_ext4 ? 1e8 : 2e8, 5e7});
    }
    load(FLEET_NEWEST);
}

static json_t *advise(const char *file_system)
{
    own_file_system = file_system;
    as_json = true;
    char *text = printed(print);
    json_t *document = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(document);
    return document;
}

static int64_t request_size(const json_t *document)
{
    return json_integer_value(json_object_get(json_object_get(document, "recommendation"), "request_size"));
}

TEST(a_host_gets_the_setting_of_its_kind)
{
    make_fleet(20, 10);
    json_auto_t *of_xfs = advise("xfs"), *of_ext4 = advise("ext4"), *of_new = advise("bcachefs");
    assert_int_equal(request_size(of_xfs), 262144);
    assert_int_equal(request_size(of_ext4), 65536);
    assert_int_equal(request_size(of_new), 65536);
    assert_string_equal(json_string_value(json_object_get(json_object_get(of_xfs, "rule"), "value")), "xfs");
    assert_true(json_is_null(json_object_get(json_object_get(of_ext4, "rule"), "feature")));
    assert_true(json_is_true(json_object_get(of_xfs, "conclusive")));
    assert_int_equal(code, EXIT_DONE);
}

TEST(the_chance_is_that_of_hosts_of_its_kind_that_were_left_out)
{
    make_fleet(20, 10);
    json_auto_t *document = advise("xfs");
    const json_t *chance = json_object_get(document, "chance");
    assert_int_equal(json_integer_value(json_object_get(chance, "hosts")), 10);
    assert_int_equal(json_integer_value(json_object_get(chance, "within")), 10);
    assert_close(json_real_value(json_object_get(chance, "ci_low")), 0.6915, 1e-4);
}

/* Without one of five there are too few for a rule: nobody vouches for the exception. */
TEST(a_rule_that_stands_on_one_host_more_or_less_has_no_chance_to_show)
{
    make_fleet(20, 5);
    json_auto_t *document = advise("xfs");
    const json_t *chance = json_object_get(document, "chance");
    bool is_exception = request_size(document) == 262144;
    assert_int_equal(json_integer_value(json_object_get(chance, "within")), is_exception ? 0 : 20);
    assert_int_equal(code, is_exception ? EXIT_INCONCLUSIVE : EXIT_DONE);
}

TEST(few_hosts_give_no_advice)
{
    make_fleet(3, 0);
    json_auto_t *document = advise("ext4");
    assert_int_equal(code, EXIT_NOTHING);
    assert_true(json_is_null(json_object_get(document, "recommendation")));
    assert_string_equal(json_string_value(json_object_get(document, "why_not")),
                        "3 other hosts measured randread; it takes 5 that measured the same setting");
}

TEST(an_empty_fleet_gives_no_advice)
{
    load(FLEET_NEWEST);
    own_file_system = "ext4";
    as_json = false;
    char *text = printed(print);
    assert_string_equal(text, "No advice: no other host measured randread.\n");
    assert_int_equal(code, EXIT_NOTHING);
    free(text);
}

TEST(own_runs_are_left_out)
{
    make_fleet(6, 0);
    assert_int_equal(fleet_advice_leave_out(&data, &history, "h2", &err), 0);
    assert_int_equal(data.n_runs, 5);
    assert_int_equal(fleet_advice_leave_out(&data, &history, "nobody", &err), 0);
    assert_int_equal(data.n_runs, 5);
    own_file_system = "ext4";
    as_json = false;
    char *text = printed(print);
    assert_string_equal(
        text,
        "Use 64k x 8, direct, io_uring for randread, as 5 other hosts know it; nothing was measured here.\n"
        "It is within 10 % of the best on 100 % (48 to 100) of 5 hosts of all kinds.\n"
        "Chance that it is right here: not known; no host of this kind can be asked about rules that were "
        "made without it.\n"
        "That is too little to rely on: fstune recommend --pattern randread measures it.\n");
    assert_int_equal(code, EXIT_INCONCLUSIVE);
    free(text);
}
