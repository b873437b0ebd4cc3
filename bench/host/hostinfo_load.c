/* bench/host/hostinfo_load: what else the machine was doing, before and after. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <stdio.h>

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
