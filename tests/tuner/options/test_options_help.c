/* Tests of tuner/options/options_help: the text against the table. */
#include "tests/test.h"
#include "tuner/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The help as text; the caller frees it. */
static char *print_help(unsigned command, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    options_print_help(out, name, "Summary.", command, "fstune the example");
    fclose(out);
    return text;
}

static void check_help(unsigned command, const char *name)
{
    const struct option_row *row;
    AUTO(auto_free) char *text = print_help(command, name);
    size_t n_options = 0, n_expected = 1; /* --help itself */
    for (const char *line = text; (line = strstr(line, "\n  --")); line++)
        n_options++;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        char line[96];
        bool is_known = row->commands & command;
        snprintf(line, sizeof(line), "\n  --%s ", row->name);
        assert_int_equal(strstr(text, line) != NULL, is_known);
        n_expected += is_known;
    }
    assert_int_equal(n_options + 1, n_expected);
    assert_non_null(strstr(text, "\n  -h, --help "));
    assert_non_null(strstr(text, "\nExample:\n  fstune the example\n"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        assert_true(length <= 100);
        assert_true(length == 0 || line[length - 1] != ' ');
    }
}

TEST(help_mentions_every_option_of_the_command_and_no_other)
{
    check_help(OPTIONS_RECOMMEND, "recommend");
    check_help(OPTIONS_MEASURE, "measure");
    check_help(OPTIONS_DOCTOR, "doctor");
    check_help(OPTIONS_PREDICT, "predict write");
    check_help(OPTIONS_ADVISE, "advise write");
}

TEST(help_states_range_and_default_of_the_command)
{
    AUTO(auto_free) char *recommend = print_help(OPTIONS_RECOMMEND, "recommend");
    AUTO(auto_free) char *measure = print_help(OPTIONS_MEASURE, "measure");
    AUTO(auto_free) char *predict = print_help(OPTIONS_PREDICT, "predict write");
    assert_non_null(strstr(recommend, "(1s..168h; default 60s)"));
    assert_non_null(strstr(recommend, "  --queue-depth N,...  "));
    assert_non_null(strstr(recommend, "requests in flight per thread (1..1024; default 1..64)"));
    assert_non_null(strstr(recommend, "(50ms..1h; default chosen from the budget)"));
    assert_non_null(strstr(recommend, "Usage: fstune recommend [OPTION...]\n\nSummary.\n"));
    assert_non_null(strstr(measure, "  --queue-depth N  "));
    assert_non_null(strstr(measure, "requests in flight per thread (1..1024; required)"));
    assert_non_null(strstr(measure, "(50ms..1h; default 2s)"));
    assert_non_null(strstr(predict, "  --request-size SIZE  "));
    assert_non_null(strstr(predict, "(1..1024t)"));
    assert_non_null(strstr(predict, "default write)"));
}
