/* Signals become a flag and a readable descriptor. */
#include "tuner/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

atomic_int interrupt_signal;
static atomic_int n_continued;
static atomic_bool ends_at_once;
static int wake_fd = -1;

static void on_end(int number)
{
    int saved = errno;
    uint64_t one = 1;
    if (atomic_exchange(&interrupt_signal, number) != 0 || atomic_load(&ends_at_once))
        _exit(128 + number);
    ssize_t written = write(wake_fd, &one, sizeof one);
    (void)written;
    errno = saved;
}

static void on_continue(int number)
{
    (void)number;
    atomic_fetch_add(&n_continued, 1);
}

static int catch_signal(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    return sigaction(number, &action, NULL) == 0 ? 0 : -errno;
}

int interrupt_setup(struct err *err)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = wake_fd < 0 ? -errno : 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && result == 0; i++)
        result = catch_signal(ends[i], on_end);
    if (result == 0)
        result = catch_signal(SIGCONT, on_continue);
    if (result == 0)
        result = catch_signal(SIGPIPE, SIG_IGN);
    if (result == 0)
        result = catch_signal(SIGXFSZ, SIG_IGN);
    return result < 0 ? err_sys(err, result, "cannot catch signals") : 0;
}

void interrupt_end_at_once(bool at_once)
{
    int number = atomic_load(&interrupt_signal);
    atomic_store(&ends_at_once, at_once);
    if (at_once && number > 0)
        _exit(128 + number);
}

int interrupt_descriptor(void)
{
    return wake_fd;
}

int interrupt_n_continued(void)
{
    return atomic_load(&n_continued);
}
