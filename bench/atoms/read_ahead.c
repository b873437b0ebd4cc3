/* The window of the file system, where it has a number for that, else of the disk's queue; btrfs has one of
 * its own. */
#include "bench/atoms/read_ahead.h"

#include "bench/host/hostinfo.h"
#include "bench/host/procfs.h"

#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#define USUAL_BYTES ((uint64_t)128 << 10)
#define BTRFS_BYTES ((uint64_t)4 << 20)
#define MOST_KIB    1e9

static bool read_kib(const char *path, uint64_t *ret_bytes)
{
    double kib;
    if (procfs_read_number(path, &kib) != 0 || !(kib >= 0 && kib <= MOST_KIB))
        return false;
    *ret_bytes = (uint64_t)kib << 10;
    return true;
}

uint64_t read_ahead_bytes(int fd)
{
    struct hostinfo_device device;
    struct statfs status;
    struct stat file;
    char path[sizeof device.sysfs + 32];
    uint64_t bytes = USUAL_BYTES;
    if (fstat(fd, &file) == 0) {
        snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(file.st_dev),
                 minor(file.st_dev));
        if (read_kib(path, &bytes))
            return bytes;
    }
    hostinfo_find_device(fd, &device);
    snprintf(path, sizeof path, "%s/queue/read_ahead_kb", device.sysfs);
    if (device.sysfs[0] != '\0')
        (void)read_kib(path, &bytes);
    const bool is_btrfs = fstatfs(fd, &status) == 0 && (uint32_t)status.f_type == BTRFS_SUPER_MAGIC;
    return is_btrfs && bytes < BTRFS_BYTES ? BTRFS_BYTES : bytes;
}
