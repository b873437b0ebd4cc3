/* Tests of tuner/base/style: only a terminal that knows styles gets them. */
#include "tests/test.h"
#include "tuner/base/style.h"

#include <fcntl.h>

/* The other end of it stays open, or writing would fail. */
static FILE *open_terminal(int *ret_master)
{
    *ret_master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*ret_master < 0)
        return NULL;
    assert_int_equal(grantpt(*ret_master), 0);
    assert_int_equal(unlockpt(*ret_master), 0);
    return fopen(ptsname(*ret_master), "w");
}

static void surround(const char *terminal, const char *no_color)
{
    assert_int_equal(terminal != NULL ? setenv("TERM", terminal, 1) : unsetenv("TERM"), 0);
    assert_int_equal(no_color != NULL ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR"), 0);
}

TEST(a_terminal_has_styles_unless_it_is_told_otherwise)
{
    int master = -1;
    FILE *terminal = open_terminal(&master);
    if (terminal == NULL) {
        print_message("skipped: no terminal can be had here\n");
        skip();
    }
    surround("xterm", NULL);
    assert_string_equal(style_text(terminal, STYLE_BOLD), "\033[1m");
    assert_string_equal(style_text(terminal, STYLE_DIM), "\033[2m");
    assert_string_equal(style_text(terminal, STYLE_PLAIN), "\033[0m");
    surround("xterm", "");
    assert_string_equal(style_text(terminal, STYLE_BOLD), "\033[1m");
    surround("xterm", "1");
    assert_string_equal(style_text(terminal, STYLE_BOLD), "");
    surround("dumb", NULL);
    assert_string_equal(style_text(terminal, STYLE_BOLD), "");
    surround(NULL, NULL);
    assert_string_equal(style_text(terminal, STYLE_PLAIN), "");
    assert_int_equal(fclose(terminal), 0);
    close(master);
}

TEST(what_is_no_terminal_has_no_styles)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size), *file = tmpfile();
    assert_true(memory != NULL && file != NULL);
    surround("xterm", NULL);
    assert_string_equal(style_text(memory, STYLE_BOLD), "");
    assert_string_equal(style_text(file, STYLE_BOLD), "");
    assert_int_equal(fclose(memory), 0);
    assert_int_equal(fclose(file), 0);
    free(text);
}
