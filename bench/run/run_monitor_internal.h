/* bench/run/run_monitor_internal: what the run_monitor*.c files share; the parsers are open to tests. */
#pragma once

#include "bench/run/run_monitor.h"

#include <stdbool.h>

/* A disk's counters since boot; NaN when unknown. */
struct run_monitor_disk {
    double read_bytes, written_bytes;
    double busy_s; /* with a request in flight */
};

/* The first line of /proc/stat: the three tick counters of the reading. */
bool run_monitor_parse_stat(const char *line, struct run_monitor_reading *reading);

/* /sys/block/NAME/stat */
bool run_monitor_parse_disk(const char *line, struct run_monitor_disk *ret_disk);
bool run_monitor_read_disk(const struct hostinfo_device *device, struct run_monitor_disk *ret_disk);

/* The first line of /proc/pressure/io. */
bool run_monitor_parse_pressure(const char *line, double *ret_avg10_share, double *ret_total_us);

/* Ticks, pressure and own bytes only. */
void run_monitor_read_machine(struct run_monitor_reading *reading);

/* NaN for an empty whole. */
double watch_share(double part, double whole);
