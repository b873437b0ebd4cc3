/* bench/collector/wrap_socket: send and receive in all their forms. */
#include "bench/collector/collector.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

/* What was only looked at comes again, and the queue of errors holds what we sent. Returns result. */
static ssize_t moved(unsigned flags, int options, ssize_t result)
{
    int saved = errno;
    if (result > 0 && (options & (MSG_PEEK | MSG_ERRQUEUE)) == 0 && collector_is_on())
        sink_network(collector_thread(), flags, (uint64_t)result);
    errno = saved;
    return result;
}

static int moved_many(unsigned flags, int options, const struct mmsghdr *messages, int n)
{
    for (int i = 0; i < n; i++)
        moved(flags, options, (ssize_t)messages[i].msg_len);
    return n;
}

WRAPPER(ssize_t, send, int fd, const void *buffer, size_t n, int options)
{
    REAL(ssize_t, send, int, const void *, size_t, int);
    return moved(SINK_WRITES, options, real.call(fd, buffer, n, options));
}

WRAPPER(ssize_t, sendto, int fd, const void *buffer, size_t n, int options, const struct sockaddr *to,
        socklen_t size)
{
    REAL(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    return moved(SINK_WRITES, options, real.call(fd, buffer, n, options, to, size));
}

WRAPPER(ssize_t, sendmsg, int fd, const struct msghdr *message, int options)
{
    REAL(ssize_t, sendmsg, int, const struct msghdr *, int);
    return moved(SINK_WRITES, options, real.call(fd, message, options));
}

WRAPPER(int, sendmmsg, int fd, struct mmsghdr *messages, unsigned n, int options)
{
    REAL(int, sendmmsg, int, struct mmsghdr *, unsigned, int);
    return moved_many(SINK_WRITES, options, messages, real.call(fd, messages, n, options));
}

WRAPPER(ssize_t, recv, int fd, void *buffer, size_t n, int options)
{
    REAL(ssize_t, recv, int, void *, size_t, int);
    return moved(0, options, real.call(fd, buffer, n, options));
}

/* What fortified programs call. */
WRAPPER(ssize_t, __recv_chk, int fd, void *buffer, size_t n, size_t room, int options)
{
    REAL(ssize_t, __recv_chk, int, void *, size_t, size_t, int);
    return moved(0, options, real.call(fd, buffer, n, room, options));
}

WRAPPER(ssize_t, recvfrom, int fd, void *buffer, size_t n, int options, struct sockaddr *from,
        socklen_t *size)
{
    REAL(ssize_t, recvfrom, int, void *, size_t, int, struct sockaddr *, socklen_t *);
    return moved(0, options, real.call(fd, buffer, n, options, from, size));
}

WRAPPER(ssize_t, __recvfrom_chk, int fd, void *buffer, size_t n, size_t room, int options,
        struct sockaddr *from, socklen_t *size)
{
    REAL(ssize_t, __recvfrom_chk, int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
    return moved(0, options, real.call(fd, buffer, n, room, options, from, size));
}

WRAPPER(ssize_t, recvmsg, int fd, struct msghdr *message, int options)
{
    REAL(ssize_t, recvmsg, int, struct msghdr *, int);
    return moved(0, options, real.call(fd, message, options));
}

WRAPPER(int, recvmmsg, int fd, struct mmsghdr *messages, unsigned n, int options, struct timespec *timeout)
{
    REAL(int, recvmmsg, int, struct mmsghdr *, unsigned, int, struct timespec *);
    return moved_many(0, options, messages, real.call(fd, messages, n, options, timeout));
}
