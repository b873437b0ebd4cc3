/* bench/run/watch_internal: what the watch*.c files share; the parsers are open to tests. */
#ifndef FSTUNE_BENCH_RUN_WATCH_INTERNAL_H
#define FSTUNE_BENCH_RUN_WATCH_INTERNAL_H

#include "bench/run/watch.h"

#include <stdbool.h>

/* A disk's counters since boot; NaN when unknown. */
struct watch_disk {
    double read_bytes, written_bytes;
    double busy_s; /* with a request in flight */
};

/* The first line of /proc/stat: the three tick counters of the reading. */
bool watch_parse_stat(const char *line, struct watch_reading *reading);

/* /sys/block/NAME/stat */
bool watch_parse_disk(const char *line, struct watch_disk *ret_disk);
bool watch_read_disk(const struct hostinfo_device *device, struct watch_disk *ret_disk);

/* The first line of /proc/pressure/io. */
bool watch_parse_pressure(const char *line, double *ret_avg10_share, double *ret_total_us);

/* Ticks, pressure and own bytes only. */
void watch_read_machine(struct watch_reading *reading);

/* NaN for an empty whole. */
double watch_share(double part, double whole);

#endif
