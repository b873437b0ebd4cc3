/* Another program, started, fed, heard and ended. */
#include "tuner/child.h"

#include "bench/clock.h"
#include "bench/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 20 /* a signal is seen so late at most */

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_N };

struct collected {
    char *text;
    size_t size;
};

/* Both ends of the three pipes: [stream][0] reads, [stream][1] writes. */
struct pipes {
    int fd[STREAM_N][2];
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct pipes *pipes)
{
    for (int i = 0; i < STREAM_N; i++) {
        close_end(&pipes->fd[i][0]);
        close_end(&pipes->fd[i][1]);
    }
}

static int open_all(struct pipes *pipes)
{
    for (int i = 0; i < STREAM_N; i++)
        pipes->fd[i][0] = pipes->fd[i][1] = -1;
    for (int i = 0; i < STREAM_N; i++) {
        if (pipe2(pipes->fd[i], O_CLOEXEC) != 0)
            return -errno;
    }
    return 0;
}

/* A pipe holds 64 KiB unread (4 KiB where a user has very many): the input fits, or the write fails at
 * once instead of waiting for a reader that does not exist yet. */
static int feed(struct pipes *pipes, const char *input)
{
    size_t length = input != NULL ? strlen(input) : 0;
    int result = 0;
    if (length > CHILD_INPUT_MAX_BYTES)
        return -E2BIG;
    (void)fcntl(pipes->fd[STREAM_IN][1], F_SETFL, O_NONBLOCK);
    if (length > 0 && write(pipes->fd[STREAM_IN][1], input, length) != (ssize_t)length)
        result = -E2BIG;
    close_end(&pipes->fd[STREAM_IN][1]);
    return result;
}

/* 0 and *ret_open; the end of the stream closes it. */
static int collect(int fd, struct collected *into, bool *ret_open)
{
    char part[8192];
    ssize_t n = read(fd, part, sizeof part);
    *ret_open = n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n <= 0)
        return n == 0 || *ret_open ? 0 : -errno;
    size_t left = CHILD_OUTPUT_MAX_BYTES - into->size;
    size_t length = (size_t)n < left ? (size_t)n : left;
    char *text = realloc(into->text, into->size + length + 1);
    if (text == NULL)
        return -ENOMEM;
    memcpy(text + into->size, part, length);
    into->text = text;
    into->size += length;
    text[into->size] = '\0';
    return 0;
}

static int why_end(const struct child *child, uint64_t start_ns)
{
    if (child->interrupted != NULL && atomic_load(child->interrupted) != 0)
        return -EINTR;
    bool late = child->timeout_ns != 0 && clock_now_ns(&clock_monotonic) - start_ns >= child->timeout_ns;
    return late ? -ETIMEDOUT : 0;
}

/* Listens until both streams are closed. */
static int listen_to(const struct child *child, struct pipes *pipes, struct collected collected[STREAM_N])
{
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    int result = 0;
    while (result == 0 && (pipes->fd[STREAM_OUT][0] >= 0 || pipes->fd[STREAM_ERR][0] >= 0)) {
        struct pollfd fds[STREAM_N] = {{.fd = -1},
                                       {.fd = pipes->fd[STREAM_OUT][0], .events = POLLIN},
                                       {.fd = pipes->fd[STREAM_ERR][0], .events = POLLIN}};
        int n = poll(fds, STREAM_N, POLL_MS);
        for (int i = STREAM_OUT; i < STREAM_N && n > 0 && result == 0; i++) {
            bool is_open = true;
            if (fds[i].revents != 0)
                result = collect(fds[i].fd, &collected[i], &is_open);
            if (!is_open)
                close_end(&pipes->fd[i][0]);
        }
        if (result == 0)
            result = why_end(child, start_ns);
    }
    return result;
}

static int reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int judge(const struct child *child, int result, struct err *err)
{
    const char *name = child->arguments[0];
    if (result == -ETIMEDOUT)
        return err_set(err, result, "%s did not end in time and was killed", name);
    if (result == -EINTR)
        return err_set(err, result, "interrupted while %s was running", name);
    return result < 0 ? err_sys(err, result, "cannot run %s", name) : 0;
}

int child_run(const struct child *child, struct child_result *ret, struct err *err)
{
    struct collected collected[STREAM_N] = {{0}};
    struct pipes pipes;
    pid_t pid = -1;
    int code = 0, result = open_all(&pipes);
    if (result == 0)
        result = feed(&pipes, child->input);
    if (result == 0)
        result = spawn_start(child->arguments, environ, pipes.fd[STREAM_IN][0], pipes.fd[STREAM_OUT][1],
                             pipes.fd[STREAM_ERR][1], &pid);
    if (result == 0) {
        close_end(&pipes.fd[STREAM_OUT][1]);
        close_end(&pipes.fd[STREAM_ERR][1]);
        result = listen_to(child, &pipes, collected);
        if (result < 0)
            kill(-pid, SIGKILL);
        code = reap(pid);
    }
    close_all(&pipes);
    for (int i = STREAM_OUT; i < STREAM_N && result == 0; i++) {
        if (collected[i].text == NULL && (collected[i].text = calloc(1, 1)) == NULL)
            result = -ENOMEM;
    }
    if (result == 0)
        *ret = (struct child_result){collected[STREAM_OUT].text, collected[STREAM_ERR].text, code};
    for (int i = STREAM_OUT; i < STREAM_N && result < 0; i++)
        free(collected[i].text);
    return judge(child, result, err);
}

void child_free(struct child_result *result)
{
    free(result->output);
    free(result->errors);
    *result = (struct child_result){0};
}
