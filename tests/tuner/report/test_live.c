/* Tests of tuner/report/live: what stands on a terminal of some size after the view was drawn on it again and
 * again.
 */
#include "tests/test.h"
#include "tuner/report/live.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define MAX_ROWS    60
#define MAX_COLUMNS 200
#define MARK        '\005' /* what was sent before it has arrived */

/* A terminal of the simplest kind: cells of letters, '=' for a character that is not ASCII. */
static char cells[MAX_ROWS][MAX_COLUMNS + 1];
static size_t n_rows, n_columns, row, column;
static bool was_coloured, wrapped;

static int master = -1, terminal = -1, saved = -1;
static uint64_t now_ns;
static struct clock clock_of_test;
static struct progress progress;
static struct live live;

static void feed_line_feed(void)
{
    if (row + 1 < n_rows) {
        row++;
        return;
    }
    memmove(cells[0], cells[1], (n_rows - 1) * sizeof cells[0]);
    memset(cells[n_rows - 1], ' ', MAX_COLUMNS);
}

static void feed_code(char code, size_t number)
{
    if (code == 'A')
        row -= number < row ? number : row;
    else if (code == 'K' || code == 'J')
        memset(&cells[row][column], ' ', MAX_COLUMNS - column);
    else if (code == 'm')
        was_coloured = true;
    else
        fail_msg("this terminal does not know the code '%c'", code);
    for (size_t i = row + 1; code == 'J' && i < n_rows; i++)
        memset(cells[i], ' ', MAX_COLUMNS);
}

static void feed_letter(char letter)
{
    if (((unsigned char)letter & 0xC0) == 0x80)
        return;
    if (column == n_columns) {
        wrapped = true;
        column = 0;
        feed_line_feed();
    }
    cells[row][column++] = (unsigned char)letter < 0x80 ? letter : '=';
}

static void feed(char letter)
{
    static enum { TEXT, ESCAPE, CODE } in = TEXT;
    static size_t number;
    if (in == ESCAPE || letter == '\033') {
        in = letter == '\033' ? ESCAPE : CODE;
        number = 0;
    } else if (in == CODE) {
        if (letter >= '0' && letter <= '9')
            number = 10 * number + (size_t)(letter - '0');
        else if (letter != ';') {
            in = TEXT;
            feed_code(letter, number);
        }
    } else if (letter == '\r') {
        column = 0;
    } else if (letter == '\n') {
        feed_line_feed();
    } else {
        feed_letter(letter);
    }
}

/* Everything that was sent so far. */
static void take(void)
{
    char letter = MARK;
    assert_int_equal(write(terminal, &letter, 1), 1);
    for (letter = '\0'; letter != MARK;) {
        assert_int_equal(read(master, &letter, 1), 1);
        if (letter != MARK)
            feed(letter);
    }
}

static void resize(unsigned short rows, unsigned short columns)
{
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    n_rows = rows;
    n_columns = columns;
}

static void send(const char *text)
{
    assert_int_equal(write(terminal, text, strlen(text)), strlen(text));
    take();
}

static void offer(size_t id, const char *name, double bps, size_t n)
{
    struct live_row one = {.id = id, .worth = log(bps), .logs = {.n = n, .mean = log(bps), .std = 0.01}};
    snprintf(one.name, sizeof one.name, "%s", name);
    live_offer(&live, &one);
}

FIXTURE(enter)
{
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    setenv("NO_COLOR", "1", 1);
    memset(cells, ' ', sizeof cells);
    row = column = 0;
    was_coloured = wrapped = false;
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return 0;
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    resize(24, 80);
    saved = dup(STDERR_FILENO);
    dup2(terminal, STDERR_FILENO);
    clock_of_test = clock_virtual(&now_ns);
    progress_init(&progress, false);
    progress.clock = &clock_of_test;
    memset(&live, 0, sizeof live);
    live.confidence = 0.95;
    live.done_share = 0.5;
    strcpy(live.progress, "30 s of 60  searching  run 14");
    strcpy(live.now, "4k x 1, direct, psync");
    return 0;
}

FIXTURE(leave)
{
    if (saved >= 0) {
        dup2(saved, STDERR_FILENO);
        close(saved);
        close(terminal);
    }
    if (master >= 0)
        close(master);
    master = terminal = saved = -1;
    return 0;
}

EACH_TEST(enter, leave);

/* A sandbox may have no terminals. */
static void need_terminal(void)
{
    if (terminal < 0)
        skip();
}

static void offer_seven(void)
{
    static const char *const names[] = {"a, direct", "b, direct", "c, direct", "d, direct",
                                        "e, direct", "f, direct", "g, direct"};
    for (size_t i = 0; i < 7; i++)
        offer(i, names[i], (double)((i * 3) % 7 + 1) * 1e8, i + 2);
    live.has_best = true;
    live.best = live.rows[0];
}

static void draw_times(int n)
{
    for (int i = 0; i < n; i++)
        live_show(&live, &progress);
    take();
}

static void assert_line(size_t number, const char *expected)
{
    char line[MAX_COLUMNS + 1];
    memcpy(line, cells[number], MAX_COLUMNS);
    size_t length = MAX_COLUMNS;
    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    assert_string_equal(line, expected);
}

static void assert_view_of_80(size_t top)
{
    assert_line(top, "[########       ]  50 %  30 s of 60  searching  run 14");
    assert_line(top + 1, "now  4k x 1, direct, psync");
    assert_line(top + 2, "best 700 MB/s (95 %: 689 MB/s to 711 MB/s)  c, direct");
    assert_line(top + 3, "*  700 MB/s ############### x4   c, direct");
    assert_line(top + 4, "   600 MB/s #############   x6   e, direct");
    assert_line(top + 5, "   500 MB/s ###########     x8   g, direct");
    assert_line(top + 6, "   400 MB/s #########       x3   b, direct");
    assert_line(top + 7, "   300 MB/s ######          x5   d, direct");
    assert_line(top + 8, "");
}

TEST(the_view_stays_in_place_on_80_columns)
{
    need_terminal();
    send("fstune recommend\r\n");
    offer_seven();
    draw_times(9);
    assert_line(0, "fstune recommend");
    assert_view_of_80(1);
    assert_int_equal(row, 9);
    assert_int_equal(column, 0);
    assert_false(wrapped);
}

TEST(at_the_bottom_it_scrolls_once)
{
    need_terminal();
    for (int i = 0; i < 30; i++)
        send("above\r\n");
    offer_seven();
    draw_times(9);
    assert_line(14, "above");
    assert_view_of_80(15);
}

TEST(on_40_columns_figures_come_first)
{
    need_terminal();
    resize(24, 40);
    offer_seven();
    draw_times(9);
    assert_line(0, "30 s of 60  searching  run 14");
    assert_line(2, "best 700 MB/s (689 MB/s-711 MB/s)  c, d");
    assert_line(3, "*  700 MB/s ####### x4   c, direct");
    assert_line(7, "   300 MB/s ###     x5   d, direct");
    assert_line(8, "");
    assert_false(wrapped);
}

TEST(on_20_columns_and_5_rows_there_is_one_line)
{
    need_terminal();
    resize(5, 20);
    send("above\r\n");
    offer_seven();
    draw_times(9);
    assert_line(0, "above");
    assert_line(1, "30 s of 60  searchi");
    assert_line(2, "");
    progress_clear(&progress);
    take();
    assert_line(1, "");
    assert_false(wrapped);
}

TEST(rows_must_have_room_for_the_cursor_too)
{
    need_terminal();
    offer_seven();
    resize(LIVE_LINES, 80);
    draw_times(3);
    assert_line(0, "30 s of 60  searching  run 14  4k x 1, direct, psync  best so far 700 MB/s");
    assert_line(1, "");
    resize(LIVE_LINES + 1, 80);
    draw_times(3);
    assert_view_of_80(0);
}

TEST(a_resized_terminal_is_looked_at_again)
{
    need_terminal();
    offer_seven();
    resize(24, 40);
    draw_times(3);
    resize(24, 80);
    draw_times(3);
    assert_view_of_80(0);
    resize(24, 20);
    draw_times(3);
    assert_line(0, "30 s of 60  searchi");
    for (size_t i = 1; i < 24; i++)
        assert_line(i, "");
}

TEST(clearing_leaves_nothing_also_where_an_interrupt_was_echoed)
{
    need_terminal();
    send("above\r\n");
    offer_seven();
    draw_times(2);
    send("^C");
    progress_clear(&progress);
    take();
    assert_line(0, "above");
    for (size_t i = 1; i < 24; i++)
        assert_line(i, "");
    assert_int_equal(row, 1);
    assert_int_equal(column, 0);
}

TEST(fewer_contenders_leave_no_lines_of_more)
{
    need_terminal();
    offer_seven();
    draw_times(1);
    live.n_rows = 0;
    live.has_best = false;
    draw_times(2);
    assert_line(2, "best not known yet");
    for (size_t i = 3; i < 24; i++)
        assert_line(i, "");
}

TEST(a_dumb_terminal_gets_one_line)
{
    need_terminal();
    static const char *const names[] = {"dumb", ""};
    offer_seven();
    for (size_t i = 0; i < 2; i++) {
        setenv("TERM", names[i], 1);
        draw_times(2);
        assert_line(0, "30 s of 60  searching  run 14  4k x 1, direct, psync  best so far 700 MB/s");
        assert_line(1, "");
    }
}

TEST(colours_are_left_out_for_no_color)
{
    need_terminal();
    offer_seven();
    draw_times(2);
    assert_false(was_coloured);
    setenv("NO_COLOR", "", 1);
    draw_times(2);
    assert_true(was_coloured);
    assert_view_of_80(0);
}

TEST(blocks_need_a_locale_of_utf8)
{
    need_terminal();
    offer_seven();
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "", 1);
    setenv("LANG", "de_DE.utf8", 1);
    draw_times(2);
    assert_line(3, "*  700 MB/s =============== x4   c, direct");
    assert_line(7, "   300 MB/s =======         x5   d, direct");
    setenv("LC_ALL", "POSIX", 1);
    draw_times(2);
    assert_view_of_80(0);
}

TEST(a_block_ends_in_an_eighth)
{
    struct progress_form form = {.columns = 80, .rows = 24, .moves = true, .utf8 = true};
    char text[LIVE_TEXT_SIZE];
    for (int eighths = 1; eighths <= 8; eighths++) {
        char bar[32];
        live.done_share = eighths / 120.0;
        snprintf(bar, sizeof bar, "[\xE2\x96%c ", 0x90 - eighths);
        assert_int_equal(live_paint(&live, &form, text), 3 + live.n_rows);
        assert_memory_equal(text, bar, strlen(bar));
    }
}

TEST(without_replays_there_is_no_interval)
{
    struct progress_form form = {.columns = 80, .rows = 24, .moves = true};
    char text[LIVE_TEXT_SIZE];
    offer(1, "one", 1e9, 2);
    live.has_best = true;
    live.best = live.rows[0];
    live_paint(&live, &form, text);
    assert_non_null(strstr(text, "best 1.00 GB/s (no interval yet)  one\n"));
}

TEST(figures_have_the_unit_of_the_objective)
{
    struct progress_form form = {.columns = 80, .rows = 24, .moves = true};
    char text[LIVE_TEXT_SIZE];
    offer(1, "one", 183000, 2);
    live.unit = LIVE_NS;
    live_paint(&live, &form, text);
    assert_non_null(strstr(text, "183 us"));
    live.unit = LIVE_PER_S;
    live_paint(&live, &form, text);
    assert_non_null(strstr(text, "183 k/s"));
}

/* The text has room for the widest lines in three bytes a cell. */
TEST(the_widest_line_fits)
{
    struct progress_form form = {.columns = 5000, .rows = 24, .moves = true, .utf8 = true, .colours = true};
    char text[LIVE_TEXT_SIZE], *line = text;
    memset(live.now, 'n', sizeof live.now - 1);
    offer_seven();
    for (size_t i = 0; i < LIVE_ROWS; i++)
        for (size_t k = 0; k + 3 < sizeof live.rows[i].name; k += 3)
            memcpy(live.rows[i].name + k, "\u2588", 4);
    live.best = live.rows[0];
    live.done_share = 7;
    assert_int_equal(live_paint(&live, &form, text), LIVE_LINES);
    for (size_t i = 0; i < LIVE_LINES; i++)
        line = strchr(line, '\n') + 1;
    assert_int_equal(*line, '\0');
    assert_non_null(strstr(text, "100 %"));
}

TEST(a_drawing_is_due_five_times_a_second)
{
    need_terminal();
    assert_true(progress_is_due(&progress));
    draw_times(1);
    assert_false(progress_is_due(&progress));
    now_ns += PROGRESS_PERIOD_NS - 1;
    assert_false(progress_is_due(&progress));
    now_ns++;
    assert_true(progress_is_due(&progress));
    progress.on = false;
    assert_false(progress_is_due(&progress));
}

/* As after Ctrl-Z and fg: what the shell wrote below the view stays, and so does the view above it. */
TEST(after_a_stop_the_view_begins_anew)
{
    need_terminal();
    offer_seven();
    draw_times(1);
    send("stopped\r\n");
    progress.n_continued--;
    assert_true(progress_is_due(&progress));
    draw_times(2);
    assert_line(8, "stopped");
    assert_view_of_80(9);
    progress.n_continued--;
    progress_clear(&progress);
    take();
    assert_view_of_80(9);
}
