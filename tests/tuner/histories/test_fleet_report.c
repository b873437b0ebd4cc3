/* Tests of the document of a fleet's page. */
#include "tests/tuner/histories/fleet_rig.h"
#include "tuner/histories/fleet_report.h"

GROUP(rig_enter, rig_leave);

EACH_TEST(fresh_history, drop_history);

static json_t *report(void)
{
    json_t *document = NULL;
    load(FLEET_ALL);
    if (fleet_report_make(&data, &history, "", 0, 0.1, &document, &err) != 0)
        fail_msg("%s", err.text);
    return document;
}

static const json_t *row(const json_t *document, const char *list, size_t i)
{
    return json_array_get(json_object_get(document, list), i);
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

TEST(the_host_that_is_silent_the_longest_stands_first)
{
    static const struct fleet_host hosts[] = {{"b", "ext4", "6.1", NULL}, {"a", "xfs", "6.12", "nvme0n1"}};
    for (size_t i = 0; i < 3; i++)
        add_host_run(&hosts[i % 2], (const double[N_SETTINGS]){1e7, 2e8, 1e8, 5e7});
    json_auto_t *document = report();
    assert_int_equal(json_array_size(json_object_get(document, "hosts")), 2);
    const json_t *first = row(document, "hosts", 0), *last = row(document, "hosts", 1);
    assert_string_equal(text(first, "host"), "a");
    assert_string_equal(text(first, "device"), "nvme");
    assert_string_equal(text(first, "kernel"), "6.12");
    assert_int_equal(json_integer_value(json_object_get(last, "runs")), 2);
    assert_int_equal(json_integer_value(json_object_get(last, "failed")), 0);
}

TEST(the_newest_answer_of_each_host_counts_under_its_kind)
{
    static const struct fleet_host hosts[] = {
        {"a", "ext4", "6.1", NULL}, {"b", "ext4", "6.1", NULL}, {"c", "xfs", "6.1", NULL}};
    for (size_t i = 0; i < 6; i++)
        add_host_run(&hosts[i % 3], (const double[N_SETTINGS]){1e7, 2e8, 1e8, 5e7});
    json_auto_t *document = report();
    int64_t n_hosts = 0;
    size_t n = json_array_size(json_object_get(document, "answers"));
    for (size_t i = 0; i < n; i++)
        n_hosts += json_integer_value(json_object_get(row(document, "answers", i), "hosts"));
    assert_int_equal(n, 2);
    assert_int_equal(n_hosts, 3);
    assert_string_equal(text(row(document, "answers", 0), "file_system"), "ext4");
    assert_int_equal(json_integer_value(json_object_get(row(document, "answers", 0), "hosts")), 2);
}

TEST(an_empty_history_is_an_empty_document)
{
    json_auto_t *document = report();
    assert_int_equal(json_array_size(json_object_get(document, "hosts")), 0);
    assert_int_equal(json_array_size(json_object_get(document, "answers")), 0);
    assert_non_null(json_object_get(document, "rules"));
    assert_non_null(json_object_get(document, "drift"));
}
