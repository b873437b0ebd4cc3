/* Tests of tuner/options/options_needs: what does nothing is said. */
#include "tests/tuner/options/options_rig.h"

TEST(an_option_alone_that_does_nothing_is_refused)
{
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--pattern", "read", "--overwrite"), -EINVAL);
    assert_string_equal(err.text, "--overwrite: does nothing without --existing");
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--rate-floor", "50%", "--pattern", "read"), -EINVAL);
    assert_string_equal(err.text, "--rate-floor: does nothing without --profile or --profiles");
}

TEST(with_any_of_those_it_needs_it_is_taken)
{
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--overwrite", "--existing", "f", "--pattern", "read"), 0);
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--rate-floor", "50%", "--profiles"), 0);
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--rate-floor", "50%", "--profile", "low-latency"), 0);
}

TEST(a_command_without_what_it_needs_takes_it_alone)
{
    assert_int_equal(PARSE(OPTIONS_EMIT, "--bus", "nvme"), 0);
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--bus", "nvme"), -EINVAL);
}

TEST(what_is_needed_may_stand_in_the_configuration)
{
    FILE *file = fopen("needs.conf", "w");
    assert_non_null(file);
    fputs("existing = \"f\";\n", file);
    fclose(file);
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--config", "needs.conf", "--overwrite"), 0);
    remove("needs.conf");
}

TEST(every_name_that_is_needed_is_an_option)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        const char *names = row->needs;
        while (names != NULL && *names != '\0') {
            char name[64];
            size_t length = strcspn(names, ",");
            snprintf(name, sizeof name, "%.*s", (int)length, names);
            assert_non_null(options_find(name, row->commands));
            names += length + (names[length] == ',');
        }
    }
}
