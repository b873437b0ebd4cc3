/* Tests of tuner/base/words: commands as one line. */
#include "tests/test.h"
#include "tuner/base/words.h"

GROUP(NULL, NULL);

TEST(words_stand_with_blanks_between)
{
    static const char *const command[] = {"dd", "if=/dev/zero", "of=file", NULL}, *const one[] = {"sync",
                                                                                                  NULL};
    char line[32];
    words_of_command(command, 7, line, sizeof line);
    assert_string_equal(line, "dd if=/dev/zero of=file");
    words_of_command(one, 7, line, sizeof line);
    assert_string_equal(line, "sync");
}

TEST(what_does_not_fit_is_cut)
{
    static const char *const command[] = {"tar", "cf", "archive.tar", "directory", NULL};
    char line[9];
    words_of_command(command, 7, line, sizeof line);
    assert_string_equal(line, "tar cf a");
}

TEST(without_a_command_the_process_is_named)
{
    char line[32];
    words_of_command(NULL, 4711, line, sizeof line);
    assert_string_equal(line, "process 4711");
}
