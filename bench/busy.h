/* bench/busy: what a machine is doing right now, for those who would rather wait. Facts only. */
#ifndef FSTUNE_BENCH_BUSY_H
#define FSTUNE_BENCH_BUSY_H

#include <stdbool.h>

/* NaN: the kernel does not tell. */
struct busy_facts {
    double io_pressure_share, cpu_pressure_share; /* /proc/pressure, "some avg60", 0..1 */
    double load_share;     /* load of the last minute divided by the number of processors */
    double dirty_bytes;    /* Dirty + Writeback of /proc/meminfo */
    double uptime_seconds; /* of the machine; in a container that of the machine outside */
    bool on_battery;       /* a battery of this machine discharges */
};

/* directory_fd: on the file system that will be measured. */
void busy_read(struct busy_facts *facts, int directory_fd);

/* The share behind " avg60=" of a line of /proc/pressure, 0..1; NaN where there is none. */
double busy_parse_pressure(const char *line);

#endif
