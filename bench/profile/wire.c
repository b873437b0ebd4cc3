/* bench/profile/wire: pipes and sockets that are asked before each call, so that the flags of descriptors
 * which others share stay as they are. */
#include "bench/profile/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIX_PREFIX "unix:"
#define HOST_SIZE   256
/* A cut that nobody tells of is noticed after so long. */
#define SILENCE_MS  10000
#define NOT_STARTED 127

static int resolve_path(const char *path, struct wire_address *ret, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return err_set(err, -EINVAL, "the path of a socket has 1 to %zu characters; name another one",
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, length);
    memcpy(&ret->address, &address, sizeof address);
    ret->size = sizeof address;
    return 0;
}

int wire_resolve(const char *text, struct wire_address *ret, struct err *err)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char host[HOST_SIZE];
    *ret = (struct wire_address){0};
    if (strncmp(text, UNIX_PREFIX, sizeof UNIX_PREFIX - 1) == 0)
        return resolve_path(text + sizeof UNIX_PREFIX - 1, ret, err);
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    bool has_brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (length == 0 || length >= sizeof host || colon[1] == '\0')
        return err_set(err, -EINVAL, "'%.100s' is no address; write unix:PATH or HOST:PORT", text);
    snprintf(host, sizeof host, "%.*s", (int)(has_brackets ? length - 2 : length), text + has_brackets);
    int code = getaddrinfo(host, colon + 1, &wanted, &found);
    if (code != 0)
        return err_set(err, -EINVAL,
                       "'%.100s' is no address that is known here (%s); write unix:PATH or HOST:PORT", text,
                       gai_strerror(code));
    memcpy(&ret->address, found->ai_addr, found->ai_addrlen);
    ret->size = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static const char *path_of(const struct wire_address *address)
{
    return ((const struct sockaddr_un *)&address->address)->sun_path;
}

static const struct sockaddr *plain(const struct wire_address *address)
{
    return (const struct sockaddr *)&address->address;
}

static int make_socket(const struct wire_address *address)
{
    int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 ? fd : -errno;
}

/* A socket in the file system outlives who listened on it. The kernel refuses calls of other files, too. */
static void remove_dead(const struct wire_address *address)
{
    struct stat status;
    if (address->address.ss_family != AF_UNIX || lstat(path_of(address), &status) != 0 ||
        !S_ISSOCK(status.st_mode))
        return;
    int fd = make_socket(address);
    if (fd < 0)
        return;
    if (connect(fd, plain(address), address->size) != 0 && errno == ECONNREFUSED)
        unlink(path_of(address));
    close(fd);
}

int wire_listen(const struct wire_address *address, int *ret_fd, struct err *err)
{
    int one = 1, code = 0;
    remove_dead(address);
    int fd = make_socket(address);
    if (fd < 0)
        return err_sys(err, fd, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Others than this user may not call on it. */
    mode_t before = umask(077);
    if (bind(fd, plain(address), address->size) != 0 || listen(fd, 1) != 0)
        code = -errno;
    umask(before);
    if (code < 0) {
        close(fd);
        return err_sys(err, code, "cannot listen there; name another address");
    }
    *ret_fd = fd;
    return 0;
}

void wire_end_listening(const struct wire_address *address, int fd)
{
    /* Before it is closed: afterwards the next one who listens may have put its own there. */
    if (address->address.ss_family == AF_UNIX)
        unlink(path_of(address));
    close(fd);
}

/* Small batches go at once, and a silent cut is noticed. */
static void set_socket(int fd)
{
    int one = 1, idle_s = SILENCE_MS / 2000, between_s = 1, n = SILENCE_MS / 2000, silence_ms = SILENCE_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof between_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &n, sizeof n);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
}

int wire_accept(int listening_fd, struct wire *ret)
{
    int fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED ? -EAGAIN : -errno;
    set_socket(fd);
    *ret = (struct wire){fd, fd};
    return 0;
}

int wire_call(const struct wire_address *address, struct wire *ret)
{
    int fd = make_socket(address);
    if (fd < 0)
        return fd;
    set_socket(fd);
    if (connect(fd, plain(address), address->size) != 0 && errno != EINPROGRESS) {
        int code = -errno;
        close(fd);
        return code;
    }
    *ret = (struct wire){fd, fd};
    return 0;
}

static _Noreturn void become_program(const char *const *argv, const int in[2], const int out[2], int told_fd)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    if (dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    int code = errno;
    (void)!write(told_fd, &code, sizeof code);
    _exit(NOT_STARTED);
}

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

int wire_start(const char *const *argv, struct wire *ret, pid_t *ret_pid, struct err *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, told[2] = {-1, -1}, code = 0;
    pid_t pid = -1;
    if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0)
        become_program(argv, in, out, told[1]);
    if (pid < 0) {
        code = -errno;
        close_both(in);
        close_both(out);
        close_both(told);
        return err_sys(err, code, "cannot run %.200s", argv[0]);
    }
    close(in[0]);
    close(out[1]);
    close(told[1]);
    /* It closes with the exec that succeeds. */
    while (read(told[0], &code, sizeof code) < 0 && errno == EINTR) {
    }
    close(told[0]);
    *ret = (struct wire){.in_fd = out[0], .out_fd = in[1]};
    *ret_pid = pid;
    if (code == 0)
        return 0;
    wire_close(ret);
    waitpid(pid, NULL, 0);
    return err_sys(err, -code, "cannot run %.200s", argv[0]);
}

static bool is_later(int code)
{
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

/* Whether a call on this pipe returns at once. A poll that fails leaves it to the call to tell why. */
static bool is_ready(int fd, short events)
{
    struct pollfd asked = {.fd = fd, .events = events};
    return poll(&asked, 1, 0) != 0;
}

/* A pipe that is ready takes PIPE_BUF bytes without waiting. */
ssize_t wire_send(const struct wire *link, const void *bytes, size_t n)
{
    ssize_t done = send(link->out_fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done < 0 && errno == ENOTSOCK) {
        if (!is_ready(link->out_fd, POLLOUT))
            return 0;
        done = write(link->out_fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
    }
    if (done >= 0)
        return done;
    return is_later(errno) ? 0 : -errno;
}

ssize_t wire_receive(const struct wire *link, void *bytes, size_t n)
{
    ssize_t done = recv(link->in_fd, bytes, n, MSG_DONTWAIT);
    if (done < 0 && errno == ENOTSOCK) {
        if (!is_ready(link->in_fd, POLLIN))
            return 0;
        done = read(link->in_fd, bytes, n);
    }
    if (done > 0)
        return done;
    if (done == 0)
        return -EPIPE;
    return is_later(errno) ? 0 : -errno;
}

void wire_close(struct wire *link)
{
    if (link->in_fd >= 0)
        close(link->in_fd);
    if (link->out_fd >= 0 && link->out_fd != link->in_fd)
        close(link->out_fd);
    *link = (struct wire){-1, -1};
}
