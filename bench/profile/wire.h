/* bench/profile/wire: bytes to another program and back: over the pipes of a program that was started, a
 * socket of this machine, or TCP. Nothing here waits, except for the resolution of a host's name. */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct wire {
    int in_fd, out_fd; /* the same of a socket; -1: there is no link */
};

/* Of an address: "unix:PATH" or "HOST:PORT", with brackets around an IPv6 host. */
struct wire_address {
    struct sockaddr_storage address;
    socklen_t size;
};

/* 0; -EINVAL: it is none, or the host is not known. */
int wire_resolve(const char *text, struct wire_address *ret, struct err *err);

/* A socket on which others may call. One in the file system that nobody listens on any more is replaced. 0 or
 * a negative errno. */
int wire_listen(const struct wire_address *address, int *ret_fd, struct err *err);
/* Removes it from the file system. */
void wire_end_listening(const struct wire_address *address, int fd);
/* 0; -EAGAIN: nobody calls. */
int wire_accept(int listening_fd, struct wire *ret);

/* Begins to call; whether the other side answers shows in what is sent. 0 or a negative errno. */
int wire_call(const struct wire_address *address, struct wire *ret);

/* Starts a program, looked for in PATH, whose standard input and output are the link. Ctrl-C does not reach
 * it. 0 or a negative errno. */
int wire_start(const char *const *argv, struct wire *ret, pid_t *ret_pid, struct err *err);

/* How many bytes were taken; 0: none now; a negative errno: the link is cut. */
ssize_t wire_send(const struct wire *link, const void *bytes, size_t n);
/* The same; -EPIPE: the other side has ended. */
ssize_t wire_receive(const struct wire *link, void *bytes, size_t n);

/* Accepts one that is closed. */
void wire_close(struct wire *link);
