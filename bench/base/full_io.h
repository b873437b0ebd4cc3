/* bench/base/full_io: pread, pwrite and fdatasync that go on until all is done: EINTR is retried, the rest of
 * a short transfer is continued. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 0 or a negative errno; -ESTALE at the end of the file. */
int full_io_read(int fd, void *buffer, size_t size, uint64_t offset);
/* *n_short, if not NULL, grows by each call that left something to do. */
int full_io_write(int fd, const void *buffer, size_t size, uint64_t offset, uint32_t *n_short);
int full_io_sync(int fd);
