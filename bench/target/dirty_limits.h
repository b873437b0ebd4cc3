/* bench/target/dirty_limits: how much memory may be dirty before it is written back: asked for, and set for a
 * while.
 *
 * Source: Linux, Documentation/admin-guide/sysctl/vm.rst: dirty_bytes and dirty_ratio are two forms of one
 * value, and writing one of them zeroes the other. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The directories of the values, and of the record of old ones (bench/target/dirty_record), which is made
 * where it is missing. A reboot clears both. */
struct dirty_limits_places {
    const char *limits, *record;
};

/* All but tests use these: /proc/sys/vm and /run/fstune. */
extern const struct dirty_limits_places dirty_limits_system;

/* Limits in force: the machine's, lowered where a memory cgroup of version 2 gives this process less. */
struct dirty_thresholds {
    double background_bytes, hard_bytes;
    double cgroup_share; /* memory of the cgroup / memory of the machine where it lowered them, else 1 */
};

/* The machine's from /proc/vmstat. 0; -ENOENT where the kernel does not tell. */
int dirty_limits_thresholds(struct dirty_thresholds *ret);

/* Limits that are set. A guard, a process in a session of its own that no signal but SIGKILL ends, waits
 * until this process closes its end or is gone, however it went, and then writes the old values back. Where
 * the guard was killed with it, dirty_limits_recover does. Values that somebody else has set since stay. */
struct dirty_limits {
    int guard_fd; /* 0 or less: nothing is set */
    pid_t guard;
    int record_fd; /* holds the lock of the record */
    const struct dirty_limits_places *places;
};

/* Whether dirty_limits_set could set them: changes nothing, and does not ask for the guard of another. 0;
 * -EINVAL; -EACCES, -EPERM or -EROFS: no permission. */
int dirty_limits_check(const struct dirty_limits_places *places, uint64_t background_bytes,
                       uint64_t hard_bytes, struct err *err);

/* Starts the guard, then sets both, in bytes; background_bytes < hard_bytes, at least 16 pages. Call it
 * before memory is touched whose writing is timed: what is shared with the guard is copied when written to.
 * 0; -EINVAL; -EACCES, -EPERM or -EROFS: no permission; -EBUSY: another guard holds them; nothing has changed
 * then, or it has been put back. */
int dirty_limits_set(struct dirty_limits *limits, const struct dirty_limits_places *places,
                     uint64_t background_bytes, uint64_t hard_bytes, struct err *err);

/* Puts back what a killed command and its guard have left, as every command does when it starts. Nothing to
 * do where there is no record, it is another user's, its owner is still at work, or we may not set limits. */
int dirty_limits_recover(const struct dirty_limits_places *places, bool *ret_restored, struct err *err);

/* Returns when the old values stand again. Accepts a zeroed struct. 0, or -EIO when
 * neither the guard nor this process could write them. */
int dirty_limits_restore(struct dirty_limits *limits, struct err *err);
