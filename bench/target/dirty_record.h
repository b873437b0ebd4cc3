/* bench/target/dirty_record: the dirty limits as they were, kept in a file until they stand again, for the
 * case that nobody of those who were to put them back is left.
 *
 * The file is not synced: what would lose it ends the kernel's values, too. It stays, empty, because its lock
 * (flock) is what tells whether somebody is still at work. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order that they are put back. */
enum dirty_value {
    DIRTY_HARD_BYTES,
    DIRTY_HARD_RATIO,
    DIRTY_BACKGROUND_BYTES,
    DIRTY_BACKGROUND_RATIO,
    DIRTY_N_VALUES
};

struct dirty_record {
    uint64_t old[DIRTY_N_VALUES];
    uint64_t set_hard_bytes, set_background_bytes; /* what stands in their place */
};

/* Opens and locks the file in that directory; `create`: makes what is not there. 0 and a descriptor; -ENOENT;
 * -EACCES: for another user; -EWOULDBLOCK: its owner is at work; -EPERM: somebody else could have written
 * it. */
int dirty_record_open(const char *directory, bool create, int *ret_fd, struct err *err);

/* False where the file is empty, or holds anything but a whole record with values that a kernel can have:
 * then nothing was changed yet. */
bool dirty_record_read(int fd, struct dirty_record *ret_record);

/* Into an empty file. */
int dirty_record_write(int fd, const struct dirty_record *record);

/* Empties and unlocks. Safe after a fork. */
int dirty_record_clear(int fd);
