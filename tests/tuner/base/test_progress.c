/* Tests of tuner/base/progress: stderr becomes a file or a terminal for a moment. */
#include "tests/test.h"
#include "tuner/base/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>

static char seen[1024];

static void draw(bool quiet, const char *text)
{
    AUTO(progress_clear) struct progress progress;
    progress_init(&progress, quiet);
    progress_show(&progress, "%s", text);
}

static void draw_on(int fd, bool quiet, const char *text)
{
    AUTO(auto_close) int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    draw(quiet, text);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
}

/* What a terminal was sent arrives at its master late and in parts; after its last close the
 * master gives all of it and then fails, so reading to the failure misses nothing. */
static void read_all(int master)
{
    size_t length = 0;
    ssize_t n;
    while (length < sizeof seen - 1 && (n = read(master, seen + length, sizeof seen - 1 - length)) > 0)
        length += (size_t)n;
    seen[length] = '\0';
}

static int open_terminal(int *ret_master, unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip(); /* a sandbox without terminals */
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    *ret_master = master;
    return terminal;
}

static const char *draw_on_terminal(unsigned short columns, bool quiet, const char *text)
{
    int master = -1, terminal = open_terminal(&master, columns);
    draw_on(terminal, quiet, text);
    close(terminal);
    read_all(master);
    close(master);
    return seen;
}

TEST(nothing_is_printed_where_stderr_is_no_terminal)
{
    AUTO(auto_close) int file = memfd_create("err", MFD_CLOEXEC);
    assert_true(file >= 0);
    draw_on(file, false, "filling");
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
}

TEST(a_terminal_sees_the_line_and_its_removal)
{
    assert_string_equal(draw_on_terminal(80, false, "12 s of 60"), "\r\033[K12 s of 60\r\033[K");
}

TEST(quiet_prints_nothing_on_a_terminal)
{
    assert_string_equal(draw_on_terminal(80, true, "12 s of 60"), "");
}

TEST(the_line_is_cut_at_the_width)
{
    assert_string_equal(draw_on_terminal(6, false, "0123456789"), "\r\033[K01234\r\033[K");
    assert_string_equal(draw_on_terminal(11, false, "0123456789"), "\r\033[K0123456789\r\033[K");
    char text[600];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_true(strlen(draw_on_terminal(1000, false, text)) < 300);
}

TEST(a_terminal_of_unknown_width_has_80_columns)
{
    char text[200];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(draw_on_terminal(0, false, text)), 79 + 8);
}

TEST(what_was_not_drawn_is_not_cleared)
{
    struct progress progress = {.on = true};
    progress_clear(&progress);
    assert_false(progress.drawn);
}

TEST(a_resized_terminal_is_looked_at_again)
{
    struct winsize size = {.ws_row = 24, .ws_col = 6};
    struct progress progress;
    int master = -1, terminal = open_terminal(&master, 80), saved = dup(STDERR_FILENO);
    dup2(terminal, STDERR_FILENO);
    progress_init(&progress, false);
    progress_show(&progress, "0123456789");
    ioctl(terminal, TIOCSWINSZ, &size);
    progress_show(&progress, "0123456789");
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(terminal);
    read_all(master);
    close(master);
    assert_string_equal(seen, "\r\033[K0123456789\r\033[K01234");
}

TEST(a_drawing_is_due_five_times_a_second)
{
    static uint64_t now_ns;
    struct clock clock = clock_virtual(&now_ns);
    struct progress progress = {.on = true, .clock = &clock};
    assert_true(progress_is_due(&progress));
    progress.drawn = true;
    now_ns = PROGRESS_PERIOD_NS - 1;
    assert_false(progress_is_due(&progress));
    now_ns++;
    assert_true(progress_is_due(&progress));
    progress.on = false;
    assert_false(progress_is_due(&progress));
}

/* As after Ctrl-Z and fg: what the shell wrote below the line is not erased. */
TEST(after_a_stop_the_line_begins_anew)
{
    uint64_t now_ns = 0;
    struct clock clock = clock_virtual(&now_ns);
    struct progress progress = {.on = true, .clock = &clock, .drawn = true, .n_continued = -1};
    int file = memfd_create("err", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
    assert_true(progress_is_due(&progress));
    dup2(file, STDERR_FILENO);
    progress_clear(&progress);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    assert_false(progress.drawn);
}

/* Whether a group in the front, or in the background, of a terminal of its own has something to draw. The
 * exit code of a child, as the terminal of a session cannot be given back. */
static bool is_due_in_a_session(const char *name, bool in_front)
{
    struct progress progress;
    setsid();
    int terminal = open(name, O_RDWR | O_CLOEXEC);
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0 || dup2(terminal, STDERR_FILENO) < 0)
        _exit(2);
    pid_t child = fork();
    int status = 0;
    if (child != 0)
        return waitpid(child, &status, 0) == child && WEXITSTATUS(status) != 0;
    if (!in_front)
        setpgid(0, 0);
    progress_init(&progress, false);
    bool is_due = progress_is_due(&progress);
    progress_show(&progress, "12 s of 60");
    _exit(is_due && progress.drawn);
}

TEST(nothing_is_drawn_in_the_background_of_a_terminal)
{
    for (int in_front = 0; in_front <= 1; in_front++) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status = 0;
        if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
            skip();
        pid_t child = fork();
        if (child == 0)
            _exit(is_due_in_a_session(ptsname(master), in_front != 0));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), in_front);
        close(master);
    }
}
