/* bench/run/replay_file: one file of a replay, written to in one of the modes. */
#include "bench/base/full_io.h"
#include "bench/run/replay_internal.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

int replay_file_open(struct replay_file *file, const struct target *target, uint32_t number,
                     enum replay_mode mode, struct err *err)
{
    *file = (struct replay_file){.fd = -1};
    int code;
    if (mode == REPLAY_DIRECT || mode == REPLAY_SYNC)
        code = target_reopen(target_fds(target)[number], target->name,
                             O_RDWR | O_DSYNC | (mode == REPLAY_DIRECT ? O_DIRECT : 0), &file->fd, err);
    else
        code = target_open_file(target, number, false, true, &file->fd, err);
    if (code != 0 || mode != REPLAY_STDIO)
        return code;
    file->stream = fdopen(file->fd, "w");
    if (file->stream == NULL)
        return err_sys(err, -errno, "%s: no stream can be made of it", target->name);
    return 0;
}

/* The C library forgets what is in its buffer when writing it fails, interrupted calls included: such a
 * stream cannot be continued. */
static int stream_errno(void)
{
    return errno != 0 && errno != EINTR ? -errno : -EIO;
}

static int write_stream(struct replay_file *file, const unsigned char *bytes, uint64_t size_bytes,
                        uint64_t offset_bytes)
{
    if (file->position != offset_bytes && fseeko(file->stream, (off_t)offset_bytes, SEEK_SET) != 0)
        return stream_errno();
    errno = 0;
    if (fwrite(bytes, 1, size_bytes, file->stream) != size_bytes)
        return stream_errno();
    file->position = offset_bytes + size_bytes;
    return 0;
}

int replay_file_write(struct replay_file *file, const void *bytes, uint64_t size_bytes, uint64_t offset_bytes,
                      uint32_t *n_short)
{
    if (file->stream != NULL)
        return write_stream(file, bytes, size_bytes, offset_bytes);
    return full_io_write(file->fd, bytes, size_bytes, offset_bytes, n_short);
}

int replay_file_flush(struct replay_file *file)
{
    errno = 0;
    return file->stream != NULL && fflush(file->stream) != 0 ? stream_errno() : 0;
}

void replay_file_close(struct replay_file *file)
{
    if (file->stream != NULL) {
        __fpurge(file->stream);
        (void)fclose(file->stream);
    } else if (file->fd > 0) {
        close(file->fd);
    }
    *file = (struct replay_file){.fd = -1};
}
