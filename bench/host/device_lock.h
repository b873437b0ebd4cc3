/* bench/host/device_lock: one command at a time measures a device.
 *
 * The file /run/fstune/devices belongs to root, and nobody else may open it but the group that the unit of
 * the nightly service gives it. Its bytes are devices: who measures one holds the bytes of its disk and of
 * its file system (by the kernel's numbers) for writing, as long as the descriptor is open. The locks are
 * those of an open file description, so that they end with the process, whatever ends it, and a file that
 * nobody holds blocks nobody.
 *
 * - Root and the nightly service keep each other away, whatever name spaces they are in, as long as they see
 *   the same /run/fstune. The disk needs a /sys; without one the file system alone is the same.
 * - Another user cannot open the file. Such a user's commands are kept apart by a file of the user's own, in
 *   /run/user/UID, and say that they do not see the others; nor do the others see them.
 * - A container has a /run of its own. To be kept apart from the machine, it needs /run/fstune mounted
 * inside.
 * - A file or directory that somebody else could have put there or could lock is not used, which is said,
 * too: nobody but root and the service can keep root from measuring. */
#pragma once

#include "bench/base/err.h"

/* Locks the device below the file system of fd. *ret_lock_fd is always set: a descriptor to close, or -1.
 * 0; -EWOULDBLOCK: another process measures the device; other errors: this command is not kept apart from
 * those of root and the service, but from others of this user where there is a descriptor. */
int device_lock_take(int fd, int *ret_lock_fd, struct err *err);

/* Adds the device below fd to what lock_fd holds, which may be the same device. 0, -EWOULDBLOCK or another
 * errno. */
int device_lock_more(int lock_fd, int fd);

/* Where the files are; an own_directory of NULL: only the machine's. For tests. */
struct device_lock_places {
    const char *directory, *own_directory;
};

int device_lock_take_at(const struct device_lock_places *places, int fd, int *ret_lock_fd, struct err *err);
