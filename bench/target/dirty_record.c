/* bench/target/dirty_record: a line in a file of our own. */
#include "bench/target/dirty_record.h"

#include "bench/base/full_io.h"
#include "bench/base/private_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "dirty-limits"
#define TEXT_SIZE 256

static void format(const struct dirty_record *record, char text[static TEXT_SIZE])
{
    const uint64_t *old = record->old;
    snprintf(text, TEXT_SIZE,
             "bytes %" PRIu64 " ratio %" PRIu64 " background_bytes %" PRIu64 " background_ratio %" PRIu64
             " set %" PRIu64 " %" PRIu64 " end\n",
             old[DIRTY_HARD_BYTES], old[DIRTY_HARD_RATIO], old[DIRTY_BACKGROUND_BYTES],
             old[DIRTY_BACKGROUND_RATIO], record->set_hard_bytes, record->set_background_bytes);
}

static int lock_record(int fd, const char *directory, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return err_set(err, -EWOULDBLOCK,
                       "the dirty limits are already set by another fstune; wait until it ends");
    return err_sys(err, -errno, "%s/" FILE_NAME ": cannot be locked", directory);
}

int dirty_record_open(const char *directory, bool create, int *ret_fd, struct err *err)
{
    int fd = private_file_open(directory, FILE_NAME, create, S_IRWXG | S_IRWXO);
    if (fd == -EPERM)
        return err_set(err, fd,
                       "%s/" FILE_NAME ": others may write to it or its directory, or made it; remove it",
                       directory);
    if (fd < 0)
        return err_sys(err, fd, "%s/" FILE_NAME ": cannot be opened, to keep the old dirty limits in",
                       directory);
    int code = lock_record(fd, directory, err);
    if (code == 0)
        *ret_fd = fd;
    else
        close(fd);
    return code;
}

/* A text is a record only if writing what was read from it gives the same text. */
bool dirty_record_read(int fd, struct dirty_record *ret_record)
{
    struct dirty_record record;
    uint64_t *old = record.old;
    char text[TEXT_SIZE], again[TEXT_SIZE];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    if (n <= 0 || strlen(text) != (size_t)n ||
        sscanf(text,
               "bytes %" SCNu64 " ratio %" SCNu64 " background_bytes %" SCNu64 " background_ratio %" SCNu64
               " set %" SCNu64 " %" SCNu64,
               &old[DIRTY_HARD_BYTES], &old[DIRTY_HARD_RATIO], &old[DIRTY_BACKGROUND_BYTES],
               &old[DIRTY_BACKGROUND_RATIO], &record.set_hard_bytes, &record.set_background_bytes) != 6)
        return false;
    format(&record, again);
    if (strcmp(text, again) != 0 || old[DIRTY_HARD_RATIO] > 100 || old[DIRTY_BACKGROUND_RATIO] > 100)
        return false;
    *ret_record = record;
    return true;
}

int dirty_record_write(int fd, const struct dirty_record *record)
{
    char text[TEXT_SIZE];
    format(record, text);
    return full_io_write(fd, text, strlen(text), 0, NULL);
}

int dirty_record_clear(int fd)
{
    int code = ftruncate(fd, 0) == 0 ? 0 : -errno;
    flock(fd, LOCK_UN);
    return code;
}
