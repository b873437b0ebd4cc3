/* The window of the disk's queue; btrfs has one of its own. */
#include "bench/atoms/read_ahead.h"

#include "bench/host/hostinfo.h"
#include "bench/host/procfs.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#define USUAL_BYTES ((uint64_t)128 << 10)
#define BTRFS_BYTES ((uint64_t)4 << 20)

uint64_t read_ahead_bytes(int fd)
{
    struct hostinfo_device device;
    struct statfs status;
    char path[sizeof device.sysfs + 32];
    double kib;
    hostinfo_find_device(fd, &device);
    snprintf(path, sizeof path, "%s/queue/read_ahead_kb", device.sysfs);
    const bool is_known = device.sysfs[0] != '\0' && procfs_read_number(path, &kib) == 0 && kib >= 0;
    const uint64_t bytes = is_known ? (uint64_t)kib << 10 : USUAL_BYTES;
    const bool is_btrfs = fstatfs(fd, &status) == 0 && status.f_type == BTRFS_SUPER_MAGIC;
    return is_btrfs && bytes < BTRFS_BYTES ? BTRFS_BYTES : bytes;
}
