/* A handle of this process becomes readable when it ends. */
#include "bench/base/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a group of its own, so that Ctrl-C is not for it; without our files, which it would hold open. */
static void become_guard(int owner_fd, pid_t group)
{
    struct pollfd owner = {.fd = owner_fd, .events = POLLIN};
    setpgid(0, 0);
    if (owner_fd > 0)
        (void)close_range(0, (unsigned)owner_fd - 1, 0);
    (void)close_range((unsigned)owner_fd + 1, ~0U, 0);
    while (poll(&owner, 1, -1) < 0 && errno == EINTR) {
    }
    kill(-group, SIGKILL);
    _exit(0);
}

pid_t guard_start(pid_t group, struct err *err)
{
    sigset_t all, before;
    int owner_fd = pidfd_open(getpid(), 0);
    if (owner_fd < 0)
        return err_sys(err, -errno, "this process cannot be watched by its guard");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t guard = fork();
    int code = -errno;
    if (guard == 0)
        become_guard(owner_fd, group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(owner_fd);
    return guard > 0 ? guard : err_sys(err, code, "the guard of a command cannot be started");
}

void guard_stop(pid_t guard)
{
    if (guard <= 0)
        return;
    kill(guard, SIGKILL);
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR) {
    }
}
