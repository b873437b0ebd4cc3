/* tuner/commands/write_default: by the budget, and by the size of an SSD. */
#include "tuner/commands/write_default.h"

#include "bench/host/hostinfo.h"
#include "bench/host/procfs.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GIB 1073741824.0

uint64_t write_default_bytes(uint64_t budget_ns, uint64_t ssd_bytes)
{
    double most = (double)WRITE_DEFAULT_BYTES * fmax(1, (double)budget_ns / (double)WRITE_DEFAULT_BUDGET_NS);
    if (ssd_bytes > 0)
        most =
            fmin(most, fmax((double)ssd_bytes / WRITE_DEFAULT_SSD_SHARE, (double)WRITE_DEFAULT_LEAST_BYTES));
    return (uint64_t)(floor(most / GIB) * GIB);
}

/* Of a drive with a model in a machine of its own; else 0. */
static uint64_t find_ssd_bytes(int fd)
{
    struct hostinfo host;
    struct hostinfo_device device;
    char path[160];
    double sectors, is_rotational = 1;
    hostinfo_collect(&host, fd);
    hostinfo_find_device(fd, &device);
    if (device.sysfs[0] == '\0' || hostinfo_text(&host, "device_model")[0] == '\0' ||
        strcmp(hostinfo_text(&host, "virtualisation"), "none") != 0)
        return 0;
    snprintf(path, sizeof path, "%s/queue/rotational", device.sysfs);
    if (procfs_read_number(path, &is_rotational) < 0 || is_rotational != 0)
        return 0;
    snprintf(path, sizeof path, "%s/size", device.sysfs);
    return procfs_read_number(path, &sectors) == 0 ? (uint64_t)(sectors * 512) : 0;
}

void write_default_settle(struct settings *settings)
{
    if (settings->limits.max_write_given || settings->file.simulate[0] != '\0')
        return;
    int fd = open(settings_place(settings), O_PATH | O_CLOEXEC);
    settings->limits.max_write_bytes =
        write_default_bytes(settings->limits.budget_ns, fd >= 0 ? find_ssd_bytes(fd) : 0);
    if (fd >= 0)
        close(fd);
}
