/* Tests of tuner/base/terminal: what a terminal is sent for lines that are drawn in place. */
#include "tests/test.h"
#include "tuner/base/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

static struct terminal_area area;
static char seen[1024];
static int control = -1;

static void resize(unsigned short rows, unsigned short columns)
{
    const struct winsize size = {.ws_row = rows, .ws_col = columns};
    assert_int_equal(ioctl(fileno(area.out), TIOCSWINSZ, &size), 0);
}

FIXTURE(open_terminal)
{
    setenv("TERM", "dumb", 1);
    control = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (control < 0 || grantpt(control) != 0 || unlockpt(control) != 0)
        return 0; /* a sandbox without terminals */
    area = (struct terminal_area){.out = fopen(ptsname(control), "w")};
    assert_non_null(area.out);
    resize(24, 80);
    return 0;
}

FIXTURE(close_terminal)
{
    if (area.out != NULL)
        fclose(area.out);
    close(control);
    area.out = NULL;
    return 0;
}

EACH_TEST(open_terminal, close_terminal);

/* All that was written arrives with the last close. */
static const char *end(void)
{
    size_t length = 0;
    ssize_t n;
    fclose(area.out);
    area.out = NULL;
    while (length < sizeof seen - 1 && (n = read(control, seen + length, sizeof seen - 1 - length)) > 0)
        length += (size_t)n;
    seen[length] = '\0';
    return seen;
}

static void need_terminal(void)
{
    if (area.out == NULL)
        skip();
}

TEST(lines_are_drawn_over_those_before_and_go_at_the_end)
{
    need_terminal();
    terminal_draw(&area, "a\nb\n");
    terminal_draw(&area, "c\n");
    terminal_clear(&area);
    terminal_clear(&area);
    assert_string_equal(end(), "\r\033[Ja\r\nb\r\n\r\033[2A\033[Jc\r\n\r\033[1A\033[J");
}

TEST(in_a_window_of_another_size_they_begin_anew)
{
    need_terminal();
    terminal_draw(&area, "a\n");
    resize(30, 100);
    terminal_draw(&area, "b\n");
    assert_int_equal(terminal_size(fileno(area.out)).rows, 30);
    assert_int_equal(terminal_size(fileno(area.out)).columns, 100);
    assert_string_equal(end(), "\r\033[Ja\r\n\r\033[Jb\r\n");
}

TEST(a_terminal_that_is_held_is_not_waited_for)
{
    need_terminal();
    assert_true(terminal_takes(fileno(area.out)));
    assert_int_equal(tcflow(fileno(area.out), TCOOFF), 0);
    assert_false(terminal_takes(fileno(area.out)));
    terminal_draw(&area, "a\n");
    assert_int_equal(tcflow(fileno(area.out), TCOON), 0);
    assert_string_equal(end(), "");
}

TEST(what_is_no_terminal_has_24_rows_of_80_columns_and_no_cursor)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(terminal_size(fd).rows, 24);
    assert_int_equal(terminal_size(fd).columns, 80);
    assert_false(terminal_has_cursor(fd));
    close(fd);
}
