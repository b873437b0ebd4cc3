/* bench/collector/wrap_files: what opens, closes, copies and places descriptors, and what makes files
 * durable. */
#include "bench/collector/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

/* Returns fd, which a call opened. */
static int opened(int fd)
{
    if (fd >= 0 && collector_owns_descriptors()) {
        int saved = errno;
        descriptors_opened(fd);
        errno = saved;
    }
    return fd;
}

static void forget(int fd)
{
    if (fd >= 0 && collector_owns_descriptors()) {
        int saved = errno;
        descriptors_forget(fd);
        errno = saved;
    }
}

static int copied(int from, int to)
{
    if (to >= 0 && collector_owns_descriptors()) {
        int saved = errno;
        descriptors_copied(from, to);
        errno = saved;
    }
    return to;
}

/* The mode is there only for files that may be made; passing on what is not is harmless, as libc does it. */
#define WRAP_OPEN(NAME)                                                                                      \
    WRAPPER(int, NAME, const char *path, int flags, mode_t mode)                                             \
    {                                                                                                        \
        REAL(int, NAME, const char *, int, ...);                                                             \
        return opened(real.call(path, flags, mode));                                                         \
    }

#define WRAP_OPENAT(NAME)                                                                                    \
    WRAPPER(int, NAME, int directory, const char *path, int flags, mode_t mode)                              \
    {                                                                                                        \
        REAL(int, NAME, int, const char *, int, ...);                                                        \
        return opened(real.call(directory, path, flags, mode));                                              \
    }

#define WRAP_OPEN_2(NAME)                                                                                    \
    WRAPPER(int, NAME, const char *path, int flags)                                                          \
    {                                                                                                        \
        REAL(int, NAME, const char *, int);                                                                  \
        return opened(real.call(path, flags));                                                               \
    }

#define WRAP_OPENAT_2(NAME)                                                                                  \
    WRAPPER(int, NAME, int directory, const char *path, int flags)                                           \
    {                                                                                                        \
        REAL(int, NAME, int, const char *, int);                                                             \
        return opened(real.call(directory, path, flags));                                                    \
    }

#define WRAP_CREAT(NAME)                                                                                     \
    WRAPPER(int, NAME, const char *path, mode_t mode)                                                        \
    {                                                                                                        \
        REAL(int, NAME, const char *, mode_t);                                                               \
        return opened(real.call(path, mode));                                                                \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP_OPEN_2(__open_2)
WRAP_OPEN_2(__open64_2)
WRAP_OPENAT_2(__openat_2)
WRAP_OPENAT_2(__openat64_2)
WRAP_CREAT(creat)
WRAP_CREAT(creat64)

#define WRAP_FOPEN(NAME)                                                                                     \
    WRAPPER(FILE *, NAME, const char *path, const char *mode)                                                \
    {                                                                                                        \
        REAL(FILE *, NAME, const char *, const char *);                                                      \
        FILE *file = real.call(path, mode);                                                                  \
        if (file != NULL)                                                                                    \
            opened(fileno(file));                                                                            \
        return file;                                                                                         \
    }

WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

WRAPPER(int, fclose, FILE *file)
{
    REAL(int, fclose, FILE *);
    int saved = errno;
    forget(fileno(file));
    errno = saved;
    return real.call(file);
}

WRAPPER(int, close, int fd)
{
    REAL(int, close, int);
    forget(fd);
    return real.call(fd);
}

WRAPPER(int, close_range, unsigned first, unsigned last, int flags)
{
    REAL(int, close_range, unsigned, unsigned, int);
    if (collector_owns_descriptors())
        descriptors_forget_range(first, last);
    return real.call(first, last, flags);
}

WRAPPER(void, closefrom, int first)
{
    REAL(void, closefrom, int);
    if (collector_owns_descriptors())
        descriptors_forget_range(first > 0 ? (unsigned)first : 0, UINT32_MAX);
    real.call(first);
}

WRAPPER(int, dup, int fd)
{
    REAL(int, dup, int);
    return copied(fd, real.call(fd));
}

WRAPPER(int, dup2, int from, int to)
{
    REAL(int, dup2, int, int);
    return copied(from, real.call(from, to));
}

WRAPPER(int, dup3, int from, int to, int flags)
{
    REAL(int, dup3, int, int, int);
    return copied(from, real.call(from, to, flags));
}

/* Flags that change make it another open file for us. */
static int controlled(int fd, int command, int result)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return copied(fd, result);
    if (command == F_SETFL && result == 0)
        forget(fd);
    return result;
}

#define WRAP_FCNTL(NAME)                                                                                     \
    WRAPPER(int, NAME, int fd, int command, void *argument)                                                  \
    {                                                                                                        \
        REAL(int, NAME, int, int, ...);                                                                      \
        return controlled(fd, command, real.call(fd, command, argument));                                    \
    }

WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

#define WRAP_LSEEK(NAME, OFFSET)                                                                             \
    WRAPPER(OFFSET, NAME, int fd, OFFSET offset, int whence)                                                 \
    {                                                                                                        \
        REAL(OFFSET, NAME, int, OFFSET, int);                                                                \
        OFFSET position = real.call(fd, offset, whence);                                                     \
        if (position >= 0 && collector_is_followed())                                                        \
            descriptors_placed(fd, (uint64_t)position);                                                      \
        return position;                                                                                     \
    }

WRAP_LSEEK(lseek, long)
WRAP_LSEEK(lseek64, int64_t)

static uint64_t start(void)
{
    return collector_is_on() ? collector_now_ns() : 0;
}

WRAPPER(int, fsync, int fd)
{
    REAL(int, fsync, int);
    uint64_t start_ns = start();
    return collector_flushed(fd, start_ns, real.call(fd));
}

WRAPPER(int, fdatasync, int fd)
{
    REAL(int, fdatasync, int);
    uint64_t start_ns = start();
    return collector_flushed(fd, start_ns, real.call(fd));
}

static void flushed_all(uint64_t start_ns)
{
    if (collector_is_on())
        sink_flush(0, start_ns, collector_now_ns());
}

WRAPPER(void, sync, void)
{
    REAL(void, sync, void);
    uint64_t start_ns = start();
    real.call();
    flushed_all(start_ns);
}

WRAPPER(int, syncfs, int fd)
{
    REAL(int, syncfs, int);
    uint64_t start_ns = start();
    int result = real.call(fd);
    if (result == 0)
        flushed_all(start_ns);
    return result;
}

WRAPPER(int, sync_file_range, int fd, int64_t offset, int64_t n, unsigned flags)
{
    REAL(int, sync_file_range, int, int64_t, int64_t, unsigned);
    if (collector_is_on())
        sink_add(SINK_RANGE_FLUSH, 1);
    return real.call(fd, offset, n, flags);
}

#define WRAP_MMAP(NAME, OFFSET)                                                                              \
    WRAPPER(void *, NAME, void *address, size_t n, int protection, int flags, int fd, OFFSET offset)         \
    {                                                                                                        \
        REAL(void *, NAME, void *, size_t, int, int, int, OFFSET);                                           \
        void *result = real.call(address, n, protection, flags, fd, offset);                                 \
        int saved = errno;                                                                                   \
        if (result != MAP_FAILED && (flags & MAP_ANONYMOUS) == 0 && collector_is_on() &&                     \
            descriptors_find(fd) != NULL)                                                                    \
            sink_add(SINK_MAP, n);                                                                           \
        errno = saved;                                                                                       \
        return result;                                                                                       \
    }

WRAP_MMAP(mmap, long)
WRAP_MMAP(mmap64, int64_t)
