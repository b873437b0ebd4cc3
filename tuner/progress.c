/* The progress line. */
#include "tuner/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_SIZE 256

void progress_init(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.on = !quiet && isatty(STDERR_FILENO) != 0};
}

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_show(struct progress *progress, const char *format, ...)
{
    if (!progress->on)
        return;
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t columns = terminal_columns();
    if (columns > 1 && strlen(line) > columns - 1)
        line[columns - 1 < sizeof line ? columns - 1 : sizeof line - 1] = '\0';
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
    progress->drawn = true;
}

void progress_clear(struct progress *progress)
{
    if (!progress->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->drawn = false;
}
