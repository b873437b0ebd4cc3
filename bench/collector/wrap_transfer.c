/* bench/collector/wrap_transfer: read and write in all their forms. */
#include "bench/collector/collector.h"

#include <sys/uio.h>

#ifndef RWF_DSYNC
#define RWF_DSYNC 2
#endif
#ifndef RWF_SYNC
#define RWF_SYNC 4
#endif

WRAPPER(ssize_t, read, int fd, void *buffer, size_t n)
{
    REAL(ssize_t, read, int, void *, size_t);
    struct collector_call call = collector_begin(fd, COLLECTOR_POSITION, 0);
    return collector_end(&call, real.call(fd, buffer, n));
}

/* What fortified programs call. */
WRAPPER(ssize_t, __read_chk, int fd, void *buffer, size_t n, size_t room)
{
    REAL(ssize_t, __read_chk, int, void *, size_t, size_t);
    struct collector_call call = collector_begin(fd, COLLECTOR_POSITION, 0);
    return collector_end(&call, real.call(fd, buffer, n, room));
}

WRAPPER(ssize_t, write, int fd, const void *buffer, size_t n)
{
    REAL(ssize_t, write, int, const void *, size_t);
    struct collector_call call = collector_begin(fd, COLLECTOR_POSITION, SINK_WRITES);
    return collector_end(&call, real.call(fd, buffer, n));
}

WRAPPER(ssize_t, readv, int fd, const struct iovec *parts, int n)
{
    REAL(ssize_t, readv, int, const struct iovec *, int);
    struct collector_call call = collector_begin(fd, COLLECTOR_POSITION, 0);
    return collector_end(&call, real.call(fd, parts, n));
}

WRAPPER(ssize_t, writev, int fd, const struct iovec *parts, int n)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    struct collector_call call = collector_begin(fd, COLLECTOR_POSITION, SINK_WRITES);
    return collector_end(&call, real.call(fd, parts, n));
}

#define WRAP_PREAD(NAME, OFFSET)                                                                             \
    WRAPPER(ssize_t, NAME, int fd, void *buffer, size_t n, OFFSET offset)                                    \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, void *, size_t, OFFSET);                                                    \
        struct collector_call call = collector_begin(fd, offset, 0);                                         \
        return collector_end(&call, real.call(fd, buffer, n, offset));                                       \
    }

#define WRAP_PREAD_CHECKED(NAME, OFFSET)                                                                     \
    WRAPPER(ssize_t, NAME, int fd, void *buffer, size_t n, OFFSET offset, size_t room)                       \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, void *, size_t, OFFSET, size_t);                                            \
        struct collector_call call = collector_begin(fd, offset, 0);                                         \
        return collector_end(&call, real.call(fd, buffer, n, offset, room));                                 \
    }

#define WRAP_PWRITE(NAME, OFFSET)                                                                            \
    WRAPPER(ssize_t, NAME, int fd, const void *buffer, size_t n, OFFSET offset)                              \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, const void *, size_t, OFFSET);                                              \
        struct collector_call call = collector_begin(fd, offset, SINK_WRITES);                               \
        return collector_end(&call, real.call(fd, buffer, n, offset));                                       \
    }

#define WRAP_VECTOR(NAME, OFFSET, FLAGS)                                                                     \
    WRAPPER(ssize_t, NAME, int fd, const struct iovec *parts, int n, OFFSET offset)                          \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, const struct iovec *, int, OFFSET);                                         \
        struct collector_call call = collector_begin(fd, offset, FLAGS);                                     \
        return collector_end(&call, real.call(fd, parts, n, offset));                                        \
    }

static unsigned flags_of(int flags)
{
    return (flags & (RWF_DSYNC | RWF_SYNC)) != 0 ? SINK_DURABLE : 0;
}

/* Their offset of -1 is the position, as here. */
#define WRAP_VECTOR_2(NAME, OFFSET, FLAGS)                                                                   \
    WRAPPER(ssize_t, NAME, int fd, const struct iovec *parts, int n, OFFSET offset, int flags)               \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, const struct iovec *, int, OFFSET, int);                                    \
        struct collector_call call = collector_begin(fd, offset, (FLAGS) | flags_of(flags));                 \
        return collector_end(&call, real.call(fd, parts, n, offset, flags));                                 \
    }

/* The names without 64 take a long, which has 32 bits on small machines. */
WRAP_PREAD(pread, long)
WRAP_PREAD(pread64, int64_t)
WRAP_PREAD_CHECKED(__pread_chk, long)
WRAP_PREAD_CHECKED(__pread64_chk, int64_t)
WRAP_PWRITE(pwrite, long)
WRAP_PWRITE(pwrite64, int64_t)
WRAP_VECTOR(preadv, long, 0)
WRAP_VECTOR(preadv64, int64_t, 0)
WRAP_VECTOR(pwritev, long, SINK_WRITES)
WRAP_VECTOR(pwritev64, int64_t, SINK_WRITES)
WRAP_VECTOR_2(preadv2, long, 0)
WRAP_VECTOR_2(preadv64v2, int64_t, 0)
WRAP_VECTOR_2(pwritev2, long, SINK_WRITES)
WRAP_VECTOR_2(pwritev64v2, int64_t, SINK_WRITES)

/* Both sides of a copy inside the kernel: a read of one file and a write of another. */
static ssize_t copied(const struct collector_call *from, const struct collector_call *to, ssize_t result)
{
    collector_end(from, result);
    return collector_end(to, result);
}

WRAPPER(ssize_t, copy_file_range, int in, int64_t *in_at, int out, int64_t *out_at, size_t n, unsigned flags)
{
    REAL(ssize_t, copy_file_range, int, int64_t *, int, int64_t *, size_t, unsigned);
    struct collector_call from = collector_begin(in, in_at != NULL ? *in_at : COLLECTOR_POSITION, 0);
    struct collector_call to =
        collector_begin_second(out, out_at != NULL ? *out_at : COLLECTOR_POSITION, SINK_WRITES);
    return copied(&from, &to, real.call(in, in_at, out, out_at, n, flags));
}

#define WRAP_SENDFILE(NAME, OFFSET)                                                                          \
    WRAPPER(ssize_t, NAME, int out, int in, OFFSET *at, size_t n)                                            \
    {                                                                                                        \
        REAL(ssize_t, NAME, int, int, OFFSET *, size_t);                                                     \
        struct collector_call from = collector_begin(in, at != NULL ? *at : COLLECTOR_POSITION, 0);          \
        struct collector_call to = collector_begin_second(out, COLLECTOR_POSITION, SINK_WRITES);             \
        return copied(&from, &to, real.call(out, in, at, n));                                                \
    }

WRAP_SENDFILE(sendfile, long)
WRAP_SENDFILE(sendfile64, int64_t)
