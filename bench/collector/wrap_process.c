/* bench/collector/wrap_process: system calls by number, and what a program forbids itself. */
#include "bench/collector/collector.h"

#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

static void restrict_to(bool is_strict)
{
    if (is_strict)
        collector_leave();
    else
        collector_restrict();
}

/* Looks out for rings that are made without liburing, and for a seccomp filter; arguments are passed on as
 * libc passes them. */
WRAPPER(long, syscall, long number, long a, long b, long c, long d, long e, long f)
{
    REAL(long, syscall, long, long, long, long, long, long, long);
    if (number == SYS_seccomp)
        restrict_to((unsigned long)a == SECCOMP_SET_MODE_STRICT);
    long result = real.call(number, a, b, c, d, e, f);
    if (number == SYS_io_uring_setup && result >= 0 && collector_is_on())
        sink_add(SINK_RING, 1);
    return result;
}

WRAPPER(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    REAL(int, prctl, int, unsigned long, unsigned long, unsigned long, unsigned long);
    if (option == PR_SET_SECCOMP)
        restrict_to(a == SECCOMP_MODE_STRICT);
    return real.call(option, a, b, c, d);
}
