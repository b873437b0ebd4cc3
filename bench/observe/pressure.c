/* The totals of /proc/pressure. */
#include "bench/observe/pressure.h"

#include "bench/host/procfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_S 1e6

const char *const pressure_names[PRESSURE_N] = {"cpu", "io", "memory"};

static double total_of(const char *name)
{
    static const char key[] = " total=";
    char path[32], line[256], *end;
    snprintf(path, sizeof path, "/proc/pressure/%s", name);
    if (procfs_read_line(path, line, sizeof line) != 0)
        return NAN;
    const char *at = strstr(line, key);
    if (strncmp(line, "some ", 5) != 0 || at == NULL)
        return NAN;
    unsigned long long us = strtoull(at + sizeof key - 1, &end, 10);
    return end == at + sizeof key - 1 ? NAN : (double)us / US_PER_S;
}

void pressure_read(struct pressure *ret)
{
    for (int kind = 0; kind < PRESSURE_N; kind++)
        ret->some_s[kind] = total_of(pressure_names[kind]);
}
