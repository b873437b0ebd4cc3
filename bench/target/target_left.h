/* bench/target/target_left: files that a dead fstune has left where there is no O_TMPFILE.
 *
 * Such a file is unlinked at once, but some file systems then only rename it (.nfsXXXX, .fuse_hiddenXXXX) and
 * remove it when it is closed, which a machine that crashes never does. So the file says in a block behind
 * its end whose it is, and the next fstune in that directory removes it if its owner is dead: on this
 * machine, and before its last start, or with a process that is gone. Files of other machines and of other
 * users stay, and so does what was copied, because the block names the file's inode. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGET_LEFT_BYTES 4096U

struct target_left_owner {
    char machine[64], host[72], boot[64]; /* "" : unknown, and nobody is then taken for dead */
    uint64_t pid_namespace, pid, start;   /* start: in ticks since the boot, of /proc/PID/stat */
};

/* This process. */
void target_left_self(struct target_left_owner *ret_owner);

/* Whether `owner` cannot be alive, as `self` sees it. */
bool target_left_is_dead(const struct target_left_owner *owner, const struct target_left_owner *self);

/* Writes the block at that offset, the file's end to be. 0 or -errno; without it the file is as good, but
 * nobody will know it again. */
int target_left_mark(int fd, uint64_t offset_bytes, const struct target_left_owner *owner);

struct target_left {
    uint64_t n, bytes; /* files that were removed */
};

/* Looks through the directory. new_fd is a file there that was just made: its time is now, by the server's
 * clock. Never fails: what cannot be read, or removed, stays. */
void target_left_remove(int dir_fd, int new_fd, const struct target_left_owner *self,
                        struct target_left *ret_left);
