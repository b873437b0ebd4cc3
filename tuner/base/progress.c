/* Progress on a terminal, redrawn in place. */
#include "tuner/base/progress.h"

#include "tuner/base/interrupt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_SIZE  256
#define ERASE_LINE "\r\033[K"
#define ERASE_REST "\r\033[J"

void progress_init(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.on = !quiet && isatty(STDERR_FILENO) != 0, .clock = &clock_monotonic};
}

static const char *set_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool speaks_utf8(void)
{
    const char *locale = set_variable("LC_ALL");
    if (locale == NULL)
        locale = set_variable("LC_CTYPE");
    if (locale == NULL)
        locale = set_variable("LANG");
    return locale != NULL && (strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL);
}

struct progress_form progress_form(void)
{
    struct winsize size;
    const char *terminal = set_variable("TERM");
    struct progress_form form = {
        .columns = 80,
        .rows = 24,
        .moves = terminal != NULL && strcmp(terminal, "dumb") != 0,
        .utf8 = speaks_utf8(),
        .colours = set_variable("NO_COLOR") == NULL,
    };
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0)
        return form;
    form.columns = size.ws_col > 0 ? size.ws_col : form.columns;
    form.rows = size.ws_row > 0 ? size.ws_row : form.rows;
    return form;
}

/* In the background (Ctrl-Z and bg) the terminal is somebody else's. One that is not ours to control has no
 * foreground to ask for. */
static bool is_in_front(void)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);
    return group < 0 || group == getpgrp();
}

/* After a stop the shell has written below it, and the cursor is elsewhere. */
static bool stands(const struct progress *progress)
{
    return progress->drawn && progress->n_continued == interrupt_n_continued();
}

bool progress_is_due(const struct progress *progress)
{
    if (!progress->on || !is_in_front())
        return false;
    return !stands(progress) || clock_now_ns(progress->clock) - progress->drawn_ns >= PROGRESS_PERIOD_NS;
}

/* What brings the cursor to the beginning of what stands there. A window that was made narrower may have more
 * rows of it by now, if its terminal wraps again what it showed. Some do and some do not, and at the bottom
 * of the window neither size nor cursor tells: to go up further could erase what others wrote, so that rows
 * may stay instead. */
static void go_back(const struct progress *progress, char *ret_codes, size_t size)
{
    ret_codes[0] = '\0';
    if (stands(progress) && progress->n_lines > 0)
        snprintf(ret_codes, size, "\r\033[%zuA", progress->n_lines);
}

static void note_drawn(struct progress *progress, size_t n_lines)
{
    progress->drawn = true;
    progress->n_lines = n_lines;
    progress->drawn_ns = clock_now_ns(progress->clock);
    progress->n_continued = interrupt_n_continued();
}

void progress_show(struct progress *progress, const char *format, ...)
{
    if (!progress->on || !is_in_front())
        return;
    char line[LINE_SIZE], back[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t columns = progress_form().columns;
    if (columns > 1 && strlen(line) > columns - 1)
        line[columns - 1 < sizeof line ? columns - 1 : sizeof line - 1] = '\0';
    go_back(progress, back, sizeof back);
    fprintf(stderr, "%s%s%s", back, back[0] != '\0' ? ERASE_REST : ERASE_LINE, line);
    fflush(stderr);
    note_drawn(progress, 0);
}

void progress_draw(struct progress *progress, const char *lines, size_t n_lines)
{
    char back[32];
    if (!progress->on || !is_in_front())
        return;
    go_back(progress, back, sizeof back);
    fprintf(stderr, "%s" ERASE_REST "%s", back, lines);
    fflush(stderr);
    note_drawn(progress, n_lines);
}

void progress_clear(struct progress *progress)
{
    char back[32];
    if (stands(progress) && is_in_front()) {
        go_back(progress, back, sizeof back);
        fprintf(stderr, "%s%s", back, back[0] != '\0' ? ERASE_REST : ERASE_LINE);
        fflush(stderr);
    }
    progress->drawn = false;
    progress->n_lines = 0;
}
