/* bench/host/host_load: what a machine is doing right now, for those who would rather wait. Facts only. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/* NaN: the kernel does not tell. */
struct host_load_facts {
    double io_pressure_share, cpu_pressure_share; /* /proc/pressure, "some", 0..1, over pressure_seconds */
    double pressure_seconds;
    double load_share;     /* load of the last minute divided by the number of processors */
    double dirty_bytes;    /* Dirty + Writeback of /proc/meminfo */
    double uptime_seconds; /* of the machine; in a container that of the machine outside */
    bool on_battery;       /* a battery of this machine discharges */
};

#define HOST_LOAD_MINUTE_S 60
#define HOST_LOAD_APART_S  10

/* directory_fd: on the file system that will be measured. after_own_work: the caller has just measured, so
 * that the last minute says nothing about others; it is not looked at (load_share is NaN), but
 * HOST_LOAD_APART_S seconds in which the caller sleeps, fewer once *interrupted (may be NULL) is not 0. */
void host_load_read(struct host_load_facts *facts, int directory_fd, bool after_own_work,
                    const atomic_int *interrupted);

/* The share behind " avg60=" of a line of /proc/pressure, 0..1; NaN where there is none. */
double host_load_parse_pressure(const char *line);

/* The seconds of waiting behind " total=" of such a line; NaN where there are none. */
double host_load_parse_total(const char *line);
