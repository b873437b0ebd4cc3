/* tuner/base/publish: a text into a file, whole or not at all. */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>
#include <stdio.h>

/* 0 where `path` may become the page or picture: nothing is there, or a regular file, which is replaced. A
 * symbolic link is refused (-ELOOP): in a directory that others write to it would lead to a file that nobody
 * named. -EISDIR, -EINVAL (a device, a fifo ...), or the errno of looking or of making a file beside it, as
 * -EACCES. */
int publish_check(const char *path, struct err *err);

/* Writes beside `path` and renames; on failure nothing is left behind and what was there stays. A file that
 * is replaced keeps its permissions. 0; -EINTR: interrupted before it had its name; or a negative errno. */
int publish_file(const char *path, const char *text, size_t size, struct err *err);

/* The same for what `print` writes about `what`: 0 or a negative errno, with err set by it or untouched. */
int publish_print(const char *path, int (*print)(FILE *out, const void *what, struct err *err),
                  const void *what, struct err *err);

/* The same of what a signal may end and leaves whole, as a recording: only one that comes meanwhile stops it.
 */
int publish_print_ended(const char *path, int (*print)(FILE *out, const void *what, struct err *err),
                        const void *what, struct err *err);
