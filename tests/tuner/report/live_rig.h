/* tests/tuner/report/live_rig: the status line that a terminal gets, with stderr as a file for a moment. */
#pragma once

#include "tuner/report/live.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char shown[256];

/* Of 80 columns, as a file has no width. */
static inline const char *what_is_shown(void (*show)(void))
{
    int file = memfd_create("err", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
    memset(shown, 0, sizeof shown);
    dup2(file, STDERR_FILENO);
    show();
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = pread(file, shown, sizeof shown - 1, 0);
    close(file);
    return n < 0 ? "" : shown;
}
