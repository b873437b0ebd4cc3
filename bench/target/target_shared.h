/* bench/target/target_shared: one file that several processes load together, a region for each
 * (struct target_region), and how they come by it.
 *
 * On one machine it never has a name: the others open it through /proc, so that nothing is left whenever one
 * is killed. Other machines need a name. It stays only until all have opened the file, which is empty until
 * then, and whoever learns that its maker is gone removes it, too. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* How another process finds the file; plain data, to be sent. */
struct target_shared {
    char name[40]; /* in the directory; "": it has none, and is descriptor fd of process pid */
    int32_t pid, fd;
    bool tmpfile; /* it never had a name */
    uint64_t device, inode;
};

/* An empty file in the directory. 0 and its descriptor; errors as target_create. */
int target_shared_make(const char *directory, bool needs_name, struct target_shared *ret_shared, int *ret_fd,
                       struct err *err);

/* Of another process: 0 and a descriptor of that file, -ENOENT where the directory is another one there, or
 * -ESTALE: something else, which is left as it is, has come in its place. */
int target_shared_open(const char *directory, const struct target_shared *shared, int *ret_fd,
                       struct err *err);

/* Removes the name, where there is one still. */
int target_shared_unname(const char *directory, const struct target_shared *shared, struct err *err);

/* When the name is gone: whether this machine can open the file for runs all the same. */
int target_shared_check(const char *directory, int fd, struct err *err);
