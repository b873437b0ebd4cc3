/* Tests of tuner/options/options_help: the text against the table. */
#include "tests/test.h"
#include "tuner/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_help(unsigned command, const char *name)
{
    const struct option_row *row;
    AUTO(auto_free) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    options_print_help(out, name, "Summary.", command, "fstune the example");
    fclose(out);
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
