/* tuner/base/terminal: the sequences of ECMA-48 for lines that are drawn in place. */
#include "tuner/base/terminal.h"

#include "tuner/base/interrupt.h"
#include "tuner/base/style.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TEXT_SIZE    16384
#define ERASE_BEYOND "\033[J" /* from the cursor to the end of the screen */

struct terminal_size terminal_size(int fd)
{
    struct winsize size = {0};
    bool is_known = ioctl(fd, TIOCGWINSZ, &size) == 0;
    return (struct terminal_size){.rows = is_known && size.ws_row > 0 ? size.ws_row : 24,
                                  .columns = is_known && size.ws_col > 0 ? size.ws_col : 80};
}

bool terminal_is_in_front(int fd)
{
    pid_t group = tcgetpgrp(fd);
    return group < 0 || group == getpgrp();
}

bool terminal_has_cursor(int fd)
{
    const char *name = getenv("TERM");
    return isatty(fd) != 0 && name != NULL && name[0] != '\0' && strcmp(name, "dumb") != 0;
}

bool terminal_takes(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

/* After a stop the shell has written below the lines, and in a window of another size they stand elsewhere.
 */
static bool stands(const struct terminal_area *area, struct terminal_size size)
{
    return area->n_lines > 0 && area->n_continued == interrupt_n_continued() &&
           area->size.rows == size.rows && area->size.columns == size.columns;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* In one write, so that nobody sees half of it. */
static void write_frame(struct terminal_area *area, struct terminal_size size, const char *text)
{
    char frame[TEXT_SIZE], up[32] = "";
    int first = (int)strcspn(text, "\n");
    if (stands(area, size))
        snprintf(up, sizeof up, "\033[%zuA", area->n_lines);
    int n =
        snprintf(frame, sizeof frame, "\r%s" ERASE_BEYOND "%s%.*s%s%s", up, style_text(area->out, STYLE_BOLD),
                 first, text, style_text(area->out, STYLE_PLAIN), text + first);
    fwrite(frame, 1, n > 0 && (size_t)n < sizeof frame ? (size_t)n : 0, area->out);
    fflush(area->out);
}

void terminal_draw(struct terminal_area *area, const char *text)
{
    int fd = fileno(area->out);
    struct terminal_size size = terminal_size(fd);
    if (!terminal_is_in_front(fd) || !terminal_takes(fd))
        return;
    write_frame(area, size, text);
    area->n_lines = count_lines(text);
    area->size = size;
    area->n_continued = interrupt_n_continued();
}

void terminal_clear(struct terminal_area *area)
{
    int fd = fileno(area->out);
    if (stands(area, terminal_size(fd)) && terminal_is_in_front(fd) && terminal_takes(fd)) {
        fprintf(area->out, "\r\033[%zuA" ERASE_BEYOND, area->n_lines);
        fflush(area->out);
    }
    area->n_lines = 0;
}
