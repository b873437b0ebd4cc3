/* tests/tuner/report/live_rig: what a view sends to a terminal, with stderr as a file for a moment. */
#ifndef FSTUNE_TESTS_TUNER_REPORT_LIVE_RIG_H
#define FSTUNE_TESTS_TUNER_REPORT_LIVE_RIG_H

#include "tuner/report/live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char shown[2 * LIVE_TEXT_SIZE];

/* Of 80 columns and 24 rows, as the file has no size; without colours and blocks. */
static inline const char *what_is_shown(void (*show)(void))
{
    int file = memfd_create("err", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    setenv("NO_COLOR", "1", 1);
    memset(shown, 0, sizeof shown);
    dup2(file, STDERR_FILENO);
    show();
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = pread(file, shown, sizeof shown - 1, 0);
    close(file);
    return n < 0 ? "" : shown;
}

static inline size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

#endif
