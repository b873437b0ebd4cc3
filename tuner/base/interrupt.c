/* Signals become a flag and a readable descriptor. */
#include "tuner/base/interrupt.h"

#include "bench/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

atomic_int interrupt_signal;
static atomic_int n_continued;
static atomic_bool ends_at_once, is_below;
static atomic_ullong first_ns; /* when the first one came */
static int wake_fd = -1;

/* timeout(1) and some shells signal a process and then its group, to which it belongs; no user is so fast. */
#define ONE_EVENT_NS 100000000ULL

static void on_end(int number)
{
    int saved = errno;
    uint64_t one = 1;
    int before = 0;
    unsigned long long none = 0, now_ns = clock_now_ns(&clock_monotonic);
    atomic_compare_exchange_strong(&first_ns, &none, now_ns);
    bool first = atomic_compare_exchange_strong(&interrupt_signal, &before, number);
    bool again = !first && (before == INTERRUPT_LATE || now_ns > atomic_load(&first_ns) + ONE_EVENT_NS);
    if ((again && !atomic_load(&is_below)) || atomic_load(&ends_at_once))
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

/* nohup ignores SIGHUP, and a shell ignores SIGINT for what it starts in the background: keep that. */
static bool is_meant(int number)
{
    struct sigaction inherited;
    return number != SIGTERM && sigaction(number, NULL, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

int interrupt_setup(struct err *err)
{
    static const struct {
        int number;
        void (*handler)(int);
    } signals[] = {{SIGINT, on_end},   {SIGTERM, on_end},  {SIGHUP, on_end},  {SIGCONT, on_continue},
                   {SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}, {SIGCHLD, SIG_DFL}};
    sigset_t none;
    sigemptyset(&none);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = wake_fd < 0 ? -errno : 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0] && result == 0; i++) {
        if (signals[i].handler != on_end || !is_meant(signals[i].number))
            result = catch_signal(signals[i].number, signals[i].handler);
    }
    if (result == 0 && sigprocmask(SIG_SETMASK, &none, NULL) != 0)
        result = -errno;
    return result < 0 ? err_sys(err, result, "cannot catch signals") : 0;
}

int interrupt_catch_too(int number)
{
    return catch_signal(number, on_end);
}

int interrupt_setup_below(struct err *err)
{
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_store(&is_below, true);
    return wake_fd < 0 ? err_sys(err, -errno, "cannot catch signals") : 0;
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

bool interrupt_wait(int fd, int timeout_ms)
{
    struct pollfd waits[] = {{.fd = fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    int n = poll(waits, sizeof waits / sizeof waits[0], timeout_ms);
    /* A stop and SIGCONT end the wait, too. */
    return n == 0 || (n < 0 && errno == EINTR && atomic_load(&interrupt_signal) == 0);
}

int interrupt_n_continued(void)
{
    return atomic_load(&n_continued);
}
