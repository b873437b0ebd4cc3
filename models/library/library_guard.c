/* The scientific library's errors while this library works.
 *
 * Its handler belongs to the whole process, and the one it begins with ends that. While a thread is inside, a
 * handler is set that passes over this thread's errors, whose functions return them, and gives those of all
 * other threads to the handler that was there before. The last one out puts that back. */
#include "models/library/library_internal.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t n_inside;
static gsl_error_handler_t *before;
static _Thread_local bool is_inside;

static void pass_on(const char *reason, const char *file, int line, int code)
{
    if (is_inside)
        return;
    pthread_mutex_lock(&lock);
    gsl_error_handler_t *ours = gsl_set_error_handler(before);
    gsl_error(reason, file, line, code);
    gsl_set_error_handler(ours);
    pthread_mutex_unlock(&lock);
}

void library_guard_enter(void)
{
    pthread_mutex_lock(&lock);
    if (n_inside++ == 0)
        before = gsl_set_error_handler(pass_on);
    pthread_mutex_unlock(&lock);
    is_inside = true;
}

void library_guard_leave(void)
{
    is_inside = false;
    pthread_mutex_lock(&lock);
    if (--n_inside == 0)
        gsl_set_error_handler(before);
    pthread_mutex_unlock(&lock);
}
