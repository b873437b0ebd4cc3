/* bench/target/target_internal: what the target_*.c files share with one another and nobody else. */
#pragma once

#include "bench/target/target.h"

#define TARGET_MIB (1ULL << 20)
#define TARGET_CHECKPOINT                                                                                    \
    (64 * TARGET_MIB) /* of filling: flush, look at rate and free space, report progress */

/* Bytes that the file system of fd has for an unprivileged user, on tmpfs no more than the memory that is
 * available; UINT64_MAX where it does not tell. *ret_block_bytes, if not NULL: the size of its blocks. */
int target_available(int fd, const char *name, uint64_t *ret_bytes, uint64_t *ret_block_bytes,
                     struct err *err);

/* The size that the plan gets where `available` bytes are free; errors as target_estimate. */
int target_plan_size(const struct target_plan *plan, uint64_t available, uint64_t *ret_bytes,
                     struct err *err);

/* Writes the blocks; sets size_bytes, filled_bytes, fill_bps and fill_seconds. */
int target_fill(struct target *target, const struct target_plan *plan, uint64_t size_bytes, struct err *err);

/* Runs plan->prepare_script to its end; -ECHILD when it fails, -ETIMEDOUT, -EINTR. */
int target_prepare(const struct target *target, const struct target_plan *plan, struct err *err);

/* The directory of a target, to make a file in: O_PATH. Errors as target_estimate. */
int target_open_directory(const char *path, int *ret_fd, struct err *err);

/* A new empty file in the directory, and the end of its name. */
#define TARGET_NAME_SIZE 40
int target_create_named(int dir_fd, const char *directory, char name[TARGET_NAME_SIZE], int *ret_fd,
                        struct err *err);
int target_remove_name(int dir_fd, const char *directory, const char *name, struct err *err);

/* Nameless empty files as the plan has them, with the size that they are to get (NULL: not asked). A failure
 * may leave some open in *target. */
int target_create_empty(struct target *target, const struct target_plan *plan, uint64_t *ret_size_bytes,
                        struct err *err);

/* A target of one file alone, to be looked at only: its parts belong to `target`. */
struct target target_one(const struct target *target, uint32_t file);

/* target_flush without its words. */
int target_sync(const struct target *target);

/* Opens the file behind fd, also when it has no name left. */
int target_reopen(int fd, const char *name, int flags, int *ret_fd, struct err *err);

/* Somebody else who uses a file: "is WHAT; REMEDY". */
struct target_user {
    char what[400], remedy[128];
};

/* Looks for swap space, loop devices, and processes that have the file behind fd open - with_readers: also
 * for reading alone - or mapped. Best effort: what may not be looked at, or lies in a namespace of its own,
 * is not found. Of a block device, users of its partitions and of the disk that it is a part of count, too.
 */
bool target_find_user(int fd, bool with_readers, struct target_user *ret_user);

/* The same without processes, which are many: for the time between runs. */
bool target_find_kernel_user(int fd, struct target_user *ret_user);

/* Of a loop device: who else uses the file that is behind it, such as a second loop device. */
bool target_find_image_user(int fd, struct target_user *ret_user);

/* Of a block device: mounts and devices made of it or of one of its parts. */
bool target_device_find_holder(int fd, struct target_user *ret_user);

/* What libblkid knows of the device's contents and of those of its partitions, "ext4 \"home\", ...": cut
 * where that is long, "" where it knows nothing. 0; or why it cannot be read. */
int target_device_signatures(int fd, char *text, size_t size);

/* Opens a block device by the contract's guards; inode_fd is an O_PATH descriptor of it. */
struct target_existing;
int target_device_open(struct target *target, int inode_fd, const struct target_existing *existing,
                       struct err *err);

/* Bytes of a file or a device now. 0 or -errno. */
int target_size_of(int fd, uint64_t *ret_bytes);

/* Whether the file behind fd is open anywhere else: for reading or writing, in any namespace, in the kernel
 * or by another descriptor of ours, O_PATH not counted. False also where that cannot be asked: leases need
 * the file's owner or CAP_LEASE, and NFS, CIFS and FUSE have none. */
bool target_is_shared(int fd);
