/* tuner/base/replace: a small file is replaced as a whole: whoever reads it, and whatever stops us (kill -9,
 * loss of power), sees the old text or the new one. Names are single components of the directory dir_fd. */
#pragma once

#include "bench/base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define REPLACE_MAX_BYTES (1U << 20)
#define REPLACE_NAME_SIZE (NAME_MAX + 1)

/* Whose directory a file is in: one where nobody but its owner writes (see tuner/base/trust), because the
 * file decides what is in force; or one that others may use as well, for a file that nobody acts on. */
enum replace_directory { REPLACE_OWN, REPLACE_SHARED };

/* Splits an absolute or relative path of a file, opens its directory and leaves the last component in name.
 * 0; -EINVAL where there is none, -EPERM where others may write there (of a shared directory: everybody,
 * without its sticky bit), or the errno of opening. The caller closes *ret_dir_fd. */
int replace_open_directory(const char *path, enum replace_directory kind, int *ret_dir_fd,
                           char name[REPLACE_NAME_SIZE], struct err *err);

struct replace_text {
    char *bytes; /* a zero behind them; freed by the caller. NULL: there is no such file */
    size_t n;
    struct stat status; /* only where there is one */
};

/* Reads a file that we may replace: a regular one without a second name, ours or the directory's owner's,
 * which nobody else may write to, of at most REPLACE_MAX_BYTES. 0 also where there is none. -ELOOP: a
 * symbolic link, which is never followed; -EPERM: somebody else's; -EINVAL: no regular file; -EFBIG. */
int replace_read(int dir_fd, const char *name, struct replace_text *ret_text, struct err *err);

/* All of the bytes. 0 or a negative errno. */
int replace_write(int fd, const char *bytes, size_t n);

/* Writes a new file beside NAME, ".fstune-" and 16 digits and ".NAME.new", and waits until the disk has it.
 * Owner and permissions are those of `like`, which replace_read has judged, without any for others to write,
 * or ours and 0644 with NULL. Nothing is left after a failure. */
int replace_stage(int dir_fd, const char *name, const char *bytes, size_t n, const struct stat *like,
                  char ret_staged[REPLACE_NAME_SIZE], struct err *err);

/* Gives a staged file its name, and waits for the directory. A failure leaves the old file and removes the
 * staged one; only where the directory could not be written out the new file has its name already, and
 * *ret_named (may be NULL) is true. */
int replace_commit(int dir_fd, const char *staged, const char *name, bool *ret_named, struct err *err);

void replace_discard(int dir_fd, const char *staged);

/* Removes what killed processes staged for NAME: all of it for who is alone, because nobody else can be
 * staging it now; else what is ours and older than an hour. */
void replace_sweep(int dir_fd, const char *name, bool alone);

/* All of it for one file, and reading it back. */
int replace_load(const char *path, enum replace_directory kind, struct replace_text *ret_text,
                 struct err *err);
int replace_file(const char *path, enum replace_directory kind, const char *bytes, size_t n, struct err *err);
