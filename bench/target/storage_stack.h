/* bench/target/storage_stack: what lies under a file: file system, device, and what limits this process
 * there.
 *
 * A flag is true only when it is known to hold; false may also mean "cannot be asked". */
#pragma once

#include "bench/host/network_mount.h"

#include <stdbool.h>

struct storage_stack {
    /* From /proc/self/mountinfo. */
    bool
        in_memory; /* tmpfs, ramfs; brd, zram or pmem below; or a loop device whose file is on one of these */
    bool overlay;  /* overlay, aufs, fuse-overlayfs, ecryptfs: another file system does the work */
    bool network;  /* nfs, cifs, 9p, virtiofs, ceph, ...: a server's cache is behind it */
    bool fuse;     /* a process does the work */
    struct network_mount server; /* of the mount; of a network block device nothing is known */
    /* File system type, mount options, and the flags of this very file (FS_IOC_GETFLAGS). */
    bool compresses; /* the file's data are or may be compressed when written; zfs, where it cannot be asked,
                        does it by default */
    bool
        copies_on_write; /* a rewrite goes to a new place: btrfs without NOCOW, zfs, bcachefs, f2fs, nilfs2 */
    bool may_deduplicate; /* zfs, vdo: cannot be asked */
    bool encrypted;       /* the file's data (fscrypt) or the device (dm-crypt) */
    /* The device, sysfs. */
    char device[32];     /* whole disk: "vda", "nvme0n1", "loop3"; "" when there is none */
    bool loop;           /* here, or below a device mapper */
    bool loop_direct_io; /* only then its file's cached pages do not serve reads */
    bool guest;          /* this machine is virtual */
    bool virtual_disk;   /* a guest's disk that the host emulates, and may cache */
    double free_share;   /* free / (used + free), as df counts; 0..1; NaN when unknown */
    /* Limits on this process at this device: cgroup v2 io.max, the lowest of its group and all ancestors, and
     * v1 blkio.throttle.*_device of its own group (that hierarchy is flat: limits of ancestors do not bind).
     * 0: none. v1 limits on writes bind direct writes, synchronous ones and the flush at the end; writeback
     * in the background belongs to the root group and escapes them. */
    bool caps_known; /* a hierarchy could be read */
    double cap_read_bps, cap_write_bps, cap_read_iops, cap_write_iops;
    double dirty_background_bytes; /* with so much dirty memory, that writeback begins; 0: unknown */
};

/* fd: the file, or the directory it will be in. Never fails: what cannot be asked stays false, 0 or "". */
void storage_stack_of(int fd, struct storage_stack *ret_storage_stack);

/* Parts that need no descriptor, open to tests. What the type and the options of a mount say of a file with
 * these flags (FS_COMPR_FL ... of linux/fs.h; 0: none or unknown). */
struct hostinfo_mount;
void storage_stack_add_mount(struct storage_stack *stack, const struct hostinfo_mount *mount, unsigned flags);

/* A disk by its directory in sysfs, and the disks below it. stack->guest is set before. */
void storage_stack_add_disk(struct storage_stack *stack, const char *sysfs);
