/* bench/busy: reads /proc, and what bench/hostinfo knows. */
#include "bench/busy.h"

#include "bench/hostinfo_internal.h"
#include "bench/procfs.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

double busy_parse_pressure(const char *line)
{
    double avg10, avg60;
    if (sscanf(line, "some avg10=%lf avg60=%lf", &avg10, &avg60) != 2 || !(avg60 >= 0 && avg60 <= 100))
        return NAN;
    return avg60 / 100;
}

static double read_pressure(const char *path)
{
    char line[160];
    return procfs_read_line(path, line, sizeof line) == 0 ? busy_parse_pressure(line) : NAN;
}

static double read_number(const char *path)
{
    double number;
    return procfs_read_number(path, &number) == 0 ? number : NAN;
}

static double scan_memory(const char *name)
{
    double number;
    return hostinfo_scan("/proc/meminfo", name, &number) == 0 ? number : NAN;
}

void busy_read(struct busy_facts *facts, int directory_fd)
{
    struct hostinfo host = {0};
    hostinfo_collect(&host, directory_fd);
    const struct hostinfo_fact *battery = hostinfo_find(&host, "on_battery");
    *facts = (struct busy_facts){
        .io_pressure_share = read_pressure("/proc/pressure/io"),
        .cpu_pressure_share = read_pressure("/proc/pressure/cpu"),
        .load_share = read_number("/proc/loadavg") / (double)sysconf(_SC_NPROCESSORS_ONLN),
        .dirty_bytes = scan_memory("Dirty") + scan_memory("Writeback"),
        .uptime_seconds = read_number("/proc/uptime"),
        .on_battery = battery != NULL && battery->number == 1,
    };
}
