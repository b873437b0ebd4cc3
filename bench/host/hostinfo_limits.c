/* bench/host/hostinfo_limits: limits of the process, the kernel and the processor that stand in a
 * measurement's way. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#define MAX_CPUS 4096

static void add_limit(struct hostinfo *info, const char *key, int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        hostinfo_add_number(info, key, (double)limit.rlim_cur);
}

/* Processors may have governors of their own. */
static void add_governor(struct hostinfo *info)
{
    char first[64] = "", line[64], path[96];
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", i);
        if (procfs_read_line(path, line, sizeof(line)) != 0)
            break;
        if (i == 0)
            memcpy(first, line, sizeof(first));
        else if (strcmp(first, line) != 0)
            snprintf(first, sizeof(first), "mixed");
    }
    if (first[0] != '\0')
        hostinfo_add_text(info, "cpu_governor", first);
}

/* Opened, because the file is there but refuses to be read where pressure is switched off. */
static bool can_read(const char *path)
{
    char line[160];
    return procfs_read_line(path, line, sizeof(line)) == 0;
}

void hostinfo_collect_limits(struct hostinfo *info, int fd)
{
    struct statvfs space;
    add_limit(info, "open_files_limit", RLIMIT_NOFILE);
    add_limit(info, "file_size_limit_bytes", RLIMIT_FSIZE);
    hostinfo_add_file_number(info, "aio_max_nr", "/proc/sys/fs/aio-max-nr");
    hostinfo_add_file_number(info, "aio_nr", "/proc/sys/fs/aio-nr");
    if (fstatvfs(fd, &space) == 0)
        hostinfo_add_flag(info, "mount_read_only", (space.f_flag & ST_RDONLY) != 0);
    hostinfo_add_flag(info, "pressure_readable", can_read("/proc/pressure/io"));
    add_governor(info);
}
