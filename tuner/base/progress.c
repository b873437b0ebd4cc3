/* A progress line on a terminal, redrawn in place. */
#include "tuner/base/progress.h"

#include "tuner/base/interrupt.h"
#include "tuner/base/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE  256
#define ERASE_LINE "\r\033[K"

void progress_init(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.on = !quiet && isatty(STDERR_FILENO) != 0, .clock = &clock_monotonic};
}

/* After a stop the shell has written below the line, and the cursor is elsewhere. */
static bool stands(const struct progress *progress)
{
    return progress->drawn && progress->n_continued == interrupt_n_continued();
}

bool progress_is_due(const struct progress *progress)
{
    if (!progress->on || !terminal_is_in_front(STDERR_FILENO))
        return false;
    return !stands(progress) || clock_now_ns(progress->clock) - progress->drawn_ns >= PROGRESS_PERIOD_NS;
}

void progress_show(struct progress *progress, const char *format, ...)
{
    if (!progress->on || !terminal_is_in_front(STDERR_FILENO))
        return;
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t columns = terminal_size(STDERR_FILENO).columns;
    if (columns > 1 && strlen(line) > columns - 1)
        line[columns - 1] = '\0';
    fprintf(stderr, ERASE_LINE "%s", line);
    fflush(stderr);
    progress->drawn = true;
    progress->drawn_ns = clock_now_ns(progress->clock);
    progress->n_continued = interrupt_n_continued();
}

void progress_clear(struct progress *progress)
{
    if (stands(progress) && terminal_is_in_front(STDERR_FILENO)) {
        fputs(ERASE_LINE, stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}
