/* bench/spawn: starting programs, and reading what they print. */
#include "bench/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS  20
#define POLL_NS  2000000ULL
#define GRACE_NS 200000000ULL /* after SIGKILL; longer only in uninterruptible sleep */

static int set_file(posix_spawn_file_actions_t *actions, int fd, int number)
{
    int flags = number == 0 ? O_RDONLY : O_WRONLY;
    return fd < 0 ? posix_spawn_file_actions_addopen(actions, number, "/dev/null", flags, 0)
                  : posix_spawn_file_actions_adddup2(actions, fd, number);
}

static int set_files(posix_spawn_file_actions_t *actions, int in_fd, int out_fd, int err_fd)
{
    int code = set_file(actions, in_fd, 0);
    if (code == 0)
        code = set_file(actions, out_fd, 1);
    if (code == 0)
        code = set_file(actions, err_fd, 2);
    return code == 0 ? posix_spawn_file_actions_addclosefrom_np(actions, 3) : code;
}

int spawn_start(const char *const argv[], char *const environment[], int in_fd, int out_fd, int err_fd,
                pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int code = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETSIGMASK);
    if (code == 0)
        code = posix_spawnattr_setpgroup(&attributes, 0);
    if (code == 0)
        code = posix_spawnattr_setsigdefault(&attributes, &all);
    if (code == 0)
        code = posix_spawnattr_setsigmask(&attributes, &none);
    if (code == 0)
        code = set_files(&actions, in_fd, out_fd, err_fd);
    /* posix_spawn shares the memory until exec: after a fork every page of the I/O buffers would fault again.
     * It changes no argument; its type is older than const. */
    if (code == 0)
        code = posix_spawnp(ret_pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
                            environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -code;
}

struct capture {
    const struct clock *clock;
    uint64_t end_ns;
    const atomic_int *interrupted;
    char *buffer;
    size_t size, n;
    int fd;
    pid_t pid;
};

/* Why it is over, or 0. */
static int over(const struct capture *capture)
{
    if (capture->interrupted != NULL && atomic_load(capture->interrupted) != 0)
        return -EINTR;
    return clock_now_ns(capture->clock) >= capture->end_ns ? -ETIMEDOUT : 0;
}

static int read_all(struct capture *capture)
{
    for (;;) {
        struct pollfd ready = {.fd = capture->fd, .events = POLLIN};
        int code = over(capture);
        if (code < 0)
            return code;
        if (poll(&ready, 1, POLL_MS) <= 0)
            continue;
        if (capture->n + 1 >= capture->size)
            return -EFBIG;
        ssize_t n = read(capture->fd, capture->buffer + capture->n, capture->size - 1 - capture->n);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        capture->n += n > 0 ? (size_t)n : 0;
    }
}

/* True when the process was reaped before `end_ns`. */
static bool wait_until(const struct capture *capture, uint64_t end_ns, int *ret_status)
{
    for (;;) {
        pid_t ended = waitpid(capture->pid, ret_status, WNOHANG);
        if (ended == capture->pid || (ended < 0 && errno != EINTR))
            return true;
        uint64_t now_ns = clock_now_ns(capture->clock);
        if (now_ns >= end_ns || (capture->interrupted != NULL && atomic_load(capture->interrupted) != 0))
            return false;
        clock_sleep_until_ns(capture->clock, now_ns + POLL_NS);
    }
}

/* One that closed its output may still be running. */
static int end_process(const struct capture *capture, int code, int *ret_status)
{
    if (code == 0 && wait_until(capture, capture->end_ns, ret_status))
        return 0;
    if (code == 0)
        code = over(capture);
    kill(-capture->pid, SIGKILL);
    struct capture patient = *capture;
    patient.interrupted = NULL;
    wait_until(&patient, clock_now_ns(capture->clock) + GRACE_NS, ret_status);
    return code;
}

static int explain(struct err *err, int code, const char *name)
{
    switch (code) {
    case -ENOENT:
        return err_set(err, code, "%s is not installed", name);
    case -ETIMEDOUT:
        return err_set(err, code, "%s did not answer in time and was killed", name);
    case -EINTR:
        return err_set(err, code, "%s was interrupted", name);
    case -EFBIG:
        return err_set(err, code, "%s printed more than expected", name);
    default:
        return err_sys(err, code, "%s could not be run", name);
    }
}

int spawn_capture(const char *const argv[], const struct clock *clock, uint64_t timeout_ns,
                  const atomic_int *interrupted, char *buffer, size_t size, int *ret_status, struct err *err)
{
    int fds[2];
    struct capture capture = {.clock = clock, .interrupted = interrupted, .buffer = buffer, .size = size};
    if (pipe2(fds, O_CLOEXEC) != 0)
        return explain(err, -errno, argv[0]);
    capture.fd = fds[0];
    capture.end_ns = clock_now_ns(clock) + timeout_ns;
    int code = spawn_start(argv, environ, -1, fds[1], -1, &capture.pid);
    close(fds[1]);
    if (code == 0)
        code = end_process(&capture, read_all(&capture), ret_status);
    close(fds[0]);
    buffer[capture.n] = '\0';
    return code < 0 ? explain(err, code, argv[0]) : 0;
}
