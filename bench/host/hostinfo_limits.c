/* bench/host/hostinfo_limits: limits of the process, the kernel and the processor that stand in a
 * measurement's way, and what else the machine was doing, before and after. */
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

/* One list holds the load before and after; the suffix keeps the keys apart. */
static void add_with_suffix(struct hostinfo *info, const char *name, const char *suffix, double number)
{
    char key[sizeof(info->facts[0].key)];
    snprintf(key, sizeof(key), "%s_%s", name, suffix);
    hostinfo_add_number(info, key, number);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static void add_pressure(struct hostinfo *info, const char *suffix)
{
    char line[160];
    double avg10, avg60;
    if (procfs_read_line("/proc/pressure/io", line, sizeof(line)) != 0 ||
        sscanf(line, "some avg10=%lf avg60=%lf", &avg10, &avg60) != 2)
        return;
    add_with_suffix(info, "psi_io_some_avg10_percent", suffix, avg10);
    add_with_suffix(info, "psi_io_some_avg60_percent", suffix, avg60);
}

/* "cpu user nice system idle iowait irq softirq steal ...": time that the host gave to others. */
static void add_steal(struct hostinfo *info, const char *suffix)
{
    char line[256];
    double steal;
    if (procfs_read_line("/proc/stat", line, sizeof(line)) == 0 &&
        sscanf(line, "cpu %*f %*f %*f %*f %*f %*f %*f %lf", &steal) == 1)
        add_with_suffix(info, "steal_ticks", suffix, steal);
}

void hostinfo_collect_load(struct hostinfo *info, int fd, const char *suffix)
{
    double number;
    uint64_t in_flight;
    struct hostinfo_device device;
    if (procfs_read_number("/proc/loadavg", &number) == 0)
        add_with_suffix(info, "load1", suffix, number);
    add_pressure(info, suffix);
    if (hostinfo_scan("/proc/meminfo", "Dirty", &number) == 0)
        add_with_suffix(info, "dirty_memory_bytes", suffix, number);
    if (hostinfo_scan("/proc/meminfo", "Writeback", &number) == 0)
        add_with_suffix(info, "writeback_memory_bytes", suffix, number);
    hostinfo_find_device(fd, &device);
    if (hostinfo_in_flight(&device, &in_flight) == 0)
        add_with_suffix(info, "device_in_flight", suffix, (double)in_flight);
    add_steal(info, suffix);
}
