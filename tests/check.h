/* tests/check: cmocka with what it needs, and a comparison of doubles in double precision (cmocka 1.1.5
 * compares floats). */
#ifndef FSTUNE_TESTS_CHECK_H
#define FSTUNE_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fails, printing both values, unless |actual - expected| <= tolerance; NaN on either side fails. */
#define assert_close(actual, expected, tolerance)                                                            \
    check_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

static inline void check_close(double actual, double expected, double tolerance, const char *what,
                               const char *file, int line)
{
    /* Equality first: two infinities of one sign are equal, their difference is NaN. */
    if (actual == expected || fabs(actual - expected) <= tolerance)
        return;
    print_error("%s: %.17g is not within %.3g of %.17g\n", what, actual, tolerance, expected);
    _fail(file, line);
}

/* Skips where a start of a program cannot fail: valgrind makes a fork of posix_spawn's vfork, and the child's
 * errno does not come back. */
static inline void need_spawn_errors(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload == NULL || strstr(preload, "vgpreload") == NULL)
        return;
    print_message("under valgrind, posix_spawn does not tell that a program is missing\n");
    skip();
}

#endif
