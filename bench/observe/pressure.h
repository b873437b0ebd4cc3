/* bench/observe/pressure: how long tasks waited for the processor, the disk and memory (/proc/pressure). */
#pragma once

enum pressure_kind { PRESSURE_CPU, PRESSURE_IO, PRESSURE_MEMORY, PRESSURE_N };

/* As /proc/pressure names them. */
extern const char *const pressure_names[PRESSURE_N];

/* Seconds since the machine started in which at least one task waited. */
struct pressure {
    double some_s[PRESSURE_N];
};

/* NaN where the kernel keeps no such account. */
void pressure_read(struct pressure *ret);
