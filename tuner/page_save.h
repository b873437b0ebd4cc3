/* tuner/page_save: a text into a file, whole or not at all. */
#ifndef FSTUNE_TUNER_PAGE_SAVE_H
#define FSTUNE_TUNER_PAGE_SAVE_H

#include "bench/err.h"

#include <stddef.h>

/* 0 where `path` may become the page: nothing is there, or a regular file, which is replaced; a symbolic link
 * is followed. -EISDIR, -EINVAL (a device, a fifo ...) or the errno of looking. */
int page_save_check(const char *path, struct err *err);

/* Writes beside `path` and renames; on failure nothing is left behind and what was there stays. A file that
 * is replaced keeps its permissions. 0 or a negative errno. */
int page_save(const char *path, const char *text, size_t size, struct err *err);

#endif
