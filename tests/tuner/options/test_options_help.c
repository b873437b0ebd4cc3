/* Tests of tuner/options/options_help: groups, and what only --help all prints. */
#include "tests/tuner/options/options_rig.h"

/* What --help prints of a command. The caller frees it. */
static char *help_of(unsigned command, bool all)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    options_print_help(out, "name", "Summary.", command, "example", all);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(help_of_a_command_with_many_options_is_short_until_all_are_asked_for)
{
    static const char *const titles[] = {"\nWorkload:\n", "\nWhere:\n", "\nAnswer:\n", "\nLimits:\n",
                                         "\nOutput:\n"};
    char *few = help_of(OPTIONS_RECOMMEND, false), *all = help_of(OPTIONS_RECOMMEND, true);
    const struct option_row *row;
    size_t n_known = 0;
    for (size_t i = 0; i < N_OF(titles); i++)
        assert_true(strstr(few, titles[i]) != NULL && strstr(all, titles[i]) != NULL);
    assert_true(strstr(few, "\nExpert:\n") == NULL && strstr(all, "\nExpert:\n") != NULL);
    assert_non_null(strstr(few, "\n  --help all "));
    for (size_t i = 0; (row = options_row(i)) != NULL; i++)
        n_known += (row->commands & OPTIONS_RECOMMEND) != 0;
    assert_int_equal(count_of(all, "\n  --"), n_known);
    assert_true(count_of(few, "\n  --") >= 12 && count_of(few, "\n  --") <= 20);
    free(few);
    free(all);
}

TEST(help_of_a_command_with_few_options_is_one_list)
{
    char *text = help_of(OPTIONS_DOCTOR, false);
    CHECK_HAS(text, "\nOptions:\n", "\n  --seed ");
    assert_null(strstr(text, "--help all"));
    free(text);
}

TEST(help_wins_over_everything)
{
    struct settings before;
    settings_init(&before);
    assert_int_equal(RECOMMEND("--budget=garbage", "--help"), 1);
    assert_int_equal(RECOMMEND("-h", "--config=does-not-exist"), 1);
    assert_int_equal(MEASURE("--json", "--path", "--help"), OPTIONS_HELP);
    assert_int_equal(RECOMMEND("--help", "all"), OPTIONS_HELP_ALL);
    assert_int_equal(RECOMMEND("-h", "all", "--json"), OPTIONS_HELP_ALL);
    assert_int_equal(RECOMMEND("--help=all"), OPTIONS_HELP_ALL);
    assert_int_equal(RECOMMEND("--help", "--path", "all"), OPTIONS_HELP);
    assert_memory_equal(&settings, &before, sizeof(settings));
}
