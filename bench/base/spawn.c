/* bench/base/spawn: starting programs, hearing what they print, and ending them in time. */
#include "bench/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS      20            /* a signal is noticed at most so late; */
#define POLL_DEAF_MS 2             /* so is an end that no pipe shows */
#define GRACE_NS     1000000000ULL /* after SIGKILL; longer only in uninterruptible sleep */
#define PART_BYTES   8192
#define PIPE_PARTS   128 /* 1 MiB, the most that a user may give a pipe */

/* [number of its descriptor] */
struct pipes {
    int theirs[3]; /* negative: nothing */
    int heard[3];  /* the end that is read here; -1: there is none, or it has ended */
};

static int set_file(posix_spawn_file_actions_t *actions, int fd, int number)
{
    int flags = number == 0 ? O_RDONLY : O_WRONLY;
    return fd < 0 ? posix_spawn_file_actions_addopen(actions, number, "/dev/null", flags, 0)
                  : posix_spawn_file_actions_adddup2(actions, fd, number);
}

static int set_files(posix_spawn_file_actions_t *actions, const int fds[3])
{
    int code = 0;
    for (int number = 0; number < 3 && code == 0; number++)
        code = set_file(actions, fds[number], number);
    return code == 0 ? posix_spawn_file_actions_addclosefrom_np(actions, 3) : code;
}

static int start_program(const struct spawn *spawn, const int fds[3], pid_t *ret_pid)
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
        code = set_files(&actions, fds);
    /* posix_spawn shares the memory until exec: after a fork every page of the I/O buffers would fault again.
     * It changes no argument; its type is older than const. */
    if (code == 0)
        code = posix_spawnp(ret_pid, spawn->argv[0], &actions, &attributes,
                            (char *const *)(uintptr_t)spawn->argv,
                            spawn->environment != NULL ? spawn->environment : environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -code;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_heard(struct pipes *pipes, int number)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pipes->heard[number] = ends[0];
    pipes->theirs[number] = ends[1];
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
}

/* Only what was opened here is closed again. */
static void close_theirs(struct pipes *pipes)
{
    for (int number = 1; number < 3; number++) {
        if (pipes->heard[number] >= 0)
            close_end(&pipes->theirs[number]);
    }
}

static int start_with_pipes(const struct spawn *spawn, struct pipes *pipes, pid_t *ret_pid)
{
    int result = 0;
    *pipes = (struct pipes){{spawn->in_fd, spawn->out_fd, spawn->err_fd}, {-1, -1, -1}};
    for (int number = 1; number < 3 && result == 0; number++) {
        if (pipes->theirs[number] == SPAWN_HEARD)
            result = open_heard(pipes, number);
    }
    if (pipes->theirs[2] == SPAWN_AS_OUTPUT)
        pipes->theirs[2] = pipes->theirs[1];
    if (result == 0)
        result = start_program(spawn, pipes->theirs, ret_pid);
    close_theirs(pipes);
    return result;
}

/* All that is there now of one stream, and no more than a pipe holds: a program that never stops printing
 * must not keep anybody from looking at the clock. */
static int hear(const struct spawn *spawn, struct pipes *pipes, int number)
{
    char part[PART_BYTES];
    int result = 0;
    for (unsigned i = 0; i < PIPE_PARTS && result == 0 && pipes->heard[number] >= 0; i++) {
        ssize_t n = read(pipes->heard[number], part, sizeof part);
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN ? 0 : -errno;
        if (n == 0)
            close_end(&pipes->heard[number]);
        if (n > 0)
            result = spawn->hear(spawn->context, number, part, (size_t)n);
    }
    return result;
}

static int hear_both(const struct spawn *spawn, struct pipes *pipes)
{
    int result = hear(spawn, pipes, 1);
    return result == 0 ? hear(spawn, pipes, 2) : result;
}

static void pause_for(const struct pipes *pipes)
{
    struct pollfd fds[2] = {{.fd = pipes->heard[1], .events = POLLIN},
                            {.fd = pipes->heard[2], .events = POLLIN}};
    bool deaf = pipes->heard[1] < 0 && pipes->heard[2] < 0;
    poll(fds, 2, deaf ? POLL_DEAF_MS : POLL_MS);
}

/* Why the program must be ended, or 0. */
static int over(const struct spawn *spawn, uint64_t start_ns)
{
    if (spawn->interrupted != NULL && atomic_load(spawn->interrupted) != 0)
        return -EINTR;
    bool late = spawn->timeout_ns != 0 && clock_now_ns(spawn->clock) - start_ns >= spawn->timeout_ns;
    return late ? -ETIMEDOUT : 0;
}

int spawn_reap(pid_t pid, int *ret_status)
{
    pid_t ended = waitpid(pid, ret_status, WNOHANG);
    return ended == pid ? 1 : ended == 0 || errno == EINTR ? 0 : -errno;
}

int spawn_reap_within(pid_t pid, uint64_t wait_ns, int *ret_status)
{
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    for (;;) {
        int result = spawn_reap(pid, ret_status);
        if (result != 0 || clock_now_ns(&clock_monotonic) - start_ns >= wait_ns)
            return result;
        poll(NULL, 0, POLL_DEAF_MS);
    }
}

/* The end of the process counts, not that of its output: something that it left running may hold that. */
static int attend(const struct spawn *spawn, struct pipes *pipes, pid_t pid, int *ret_status)
{
    uint64_t start_ns = clock_now_ns(spawn->clock);
    for (;;) {
        int ended = spawn_reap(pid, ret_status), result = hear_both(spawn, pipes);
        if (ended < 0 || (ended > 0 && result == 0))
            return ended < 0 ? ended : 0;
        if (result == 0)
            result = over(spawn, start_ns);
        if (result < 0) {
            kill(-pid, SIGKILL);
            if (ended == 0)
                spawn_reap_within(pid, GRACE_NS, ret_status);
            return result;
        }
        pause_for(pipes);
    }
}

int spawn_run(const struct spawn *spawn, int *ret_status)
{
    struct pipes pipes;
    pid_t pid;
    int result = start_with_pipes(spawn, &pipes, &pid);
    if (result == 0)
        result = attend(spawn, &pipes, pid, ret_status);
    close_end(&pipes.heard[1]);
    close_end(&pipes.heard[2]);
    return result;
}

struct capture {
    char *buffer;
    size_t size, n;
};

static int keep_output(void *context, int number, const char *text, size_t n)
{
    struct capture *capture = context;
    (void)number;
    size_t room = capture->size - 1 - capture->n;
    memcpy(capture->buffer + capture->n, text, n < room ? n : room);
    capture->n += n < room ? n : room;
    return n <= room ? 0 : -EFBIG;
}

static int explain_spawn_failure(struct err *err, int code, const char *name)
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
    struct capture capture = {.buffer = buffer, .size = size};
    const struct spawn spawn = {.argv = argv,
                                .in_fd = SPAWN_NOTHING,
                                .out_fd = SPAWN_HEARD,
                                .err_fd = SPAWN_NOTHING,
                                .hear = keep_output,
                                .context = &capture,
                                .clock = clock,
                                .timeout_ns = timeout_ns,
                                .interrupted = interrupted};
    int code = spawn_run(&spawn, ret_status);
    buffer[capture.n] = '\0';
    return code < 0 ? explain_spawn_failure(err, code, argv[0]) : 0;
}
