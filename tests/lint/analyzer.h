/* Told to clang's analyzer alone (lint-tidy puts it before every source): an error code is negative and errno
 * of a failed call is positive. Without it, each `if (result < 0)` after a failure has an impossible other
 * branch. */
#pragma once

#include <errno.h>

static inline int analyzer_negative(int code)
{
    if (code >= 0)
        __builtin_unreachable();
    return code;
}

static inline int *analyzer_errno(void)
{
    int *place = __errno_location();
    if (*place <= 0)
        __builtin_unreachable();
    return place;
}

#undef errno
#define errno (*analyzer_errno())

/* bench/base/err.c defines these functions, so their names stay free there. */
#ifndef ANALYZER_DEFINES_ERR
#include "bench/base/err.h"
#define err_set(err, code, ...) analyzer_negative(((void)err_set(err, code, __VA_ARGS__), (code)))
#define err_sys(err, code, ...) analyzer_negative(((void)err_sys(err, code, __VA_ARGS__), (code)))
#define err_prefix(err, ...)    analyzer_negative(err_prefix(err, __VA_ARGS__))
#endif
