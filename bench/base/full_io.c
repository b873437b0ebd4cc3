/* Whole transfers. */
#include "bench/base/full_io.h"

#include <errno.h>
#include <unistd.h>

int full_io_read(int fd, void *buffer, size_t size, uint64_t offset)
{
    unsigned char *bytes = buffer;
    unsigned n_tries = 0;
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && !retry_interrupted(&n_tries))
            return -errno;
        if (n == 0)
            return -ESTALE;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int full_io_write(int fd, const void *buffer, size_t size, uint64_t offset, uint32_t *n_short)
{
    const unsigned char *bytes = buffer;
    unsigned n_tries = 0;
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && !retry_interrupted(&n_tries))
            return -errno;
        if (n == 0)
            return -EIO;
        done += n > 0 ? (size_t)n : 0;
        if (n_short != NULL)
            *n_short += done < size;
    }
    return 0;
}

int full_io_sync(int fd)
{
    unsigned n_tries = 0;
    int code;
    do {
        code = fdatasync(fd) == 0 ? 0 : -errno;
    } while (code != 0 && retry_interrupted(&n_tries));
    return code;
}
