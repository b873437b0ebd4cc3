/* The scientific library's errors while this library works.
 *
 * Its handler belongs to the whole process, and the one it begins with ends that. While a thread is inside, a
 * handler is set that passes over this thread's errors, whose functions return them, and gives those of all
 * other threads to the handler that was there before. The last one out puts that back. */
#include "models/library/library_internal.h"

#include <gsl/gsl_errno.h>
#include <stdatomic.h>

static atomic_flag lock = ATOMIC_FLAG_INIT; /* held for a few instructions alone */
static size_t n_inside;
static gsl_error_handler_t *before;
static _Thread_local bool is_inside;

static void take_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
}

static void give_lock(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* Where there was no handler, GSL's own ends the process. */
static void pass_on(const char *reason, const char *file, int line, int code)
{
    if (is_inside)
        return;
    take_lock();
    gsl_error_handler_t *handler = before;
    give_lock();
    if (handler != NULL) {
        handler(reason, file, line, code);
        return;
    }
    gsl_set_error_handler(NULL);
    gsl_error(reason, file, line, code);
}

void library_guard_enter(void)
{
    take_lock();
    if (n_inside++ == 0)
        before = gsl_set_error_handler(pass_on);
    give_lock();
    is_inside = true;
}

void library_guard_leave(void)
{
    is_inside = false;
    take_lock();
    if (--n_inside == 0)
        gsl_set_error_handler(before);
    give_lock();
}
