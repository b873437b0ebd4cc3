/* tuner/retune_ready: the rules, the most lasting reason first. */
#include "tuner/retune_ready.h"

#include "bench/units.h"

#include <stdint.h>
#include <stdio.h>

static bool is_young(const struct busy_facts *facts, const struct retune_ready_limits *limits, char *why)
{
    char age[UNITS_TEXT_SIZE], wanted[UNITS_TEXT_SIZE];
    if (!(facts->uptime_seconds < limits->uptime_seconds))
        return false;
    units_format_duration((uint64_t)(facts->uptime_seconds * 1e9), age);
    units_format_duration((uint64_t)(limits->uptime_seconds * 1e9), wanted);
    snprintf(why, RETUNE_READY_WHY_SIZE, "the machine started %s ago, min_uptime is %s", age, wanted);
    return true;
}

static bool has_dirty(const struct busy_facts *facts, const struct retune_ready_limits *limits, char *why)
{
    char dirty[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    if (!(facts->dirty_bytes > limits->dirty_bytes))
        return false;
    units_format_bytes((uint64_t)facts->dirty_bytes, dirty);
    units_format_size((uint64_t)limits->dirty_bytes, limit);
    snprintf(why, RETUNE_READY_WHY_SIZE, "%s wait to be written to disks, max_dirty is %s", dirty, limit);
    return true;
}

bool retune_ready(const struct busy_facts *facts, const struct retune_ready_limits *limits,
                  char why[RETUNE_READY_WHY_SIZE])
{
    const struct {
        double share, limit;
        const char *what, *key;
    } shares[] = {
        {facts->io_pressure_share, limits->io_pressure_share,
         "tasks waited for I/O, share of the last minute:", "max_io_pressure"},
        {facts->cpu_pressure_share, limits->cpu_pressure_share,
         "tasks waited for a processor, share of the last minute:", "max_cpu_pressure"},
        {facts->load_share, limits->load_share, "load per processor:", "max_load"},
    };
    if (facts->on_battery && !limits->on_battery) {
        snprintf(why, RETUNE_READY_WHY_SIZE, "the machine runs on battery, on_battery is false");
        return false;
    }
    if (is_young(facts, limits, why) || has_dirty(facts, limits, why))
        return false;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        if (!(shares[i].share > shares[i].limit))
            continue;
        snprintf(why, RETUNE_READY_WHY_SIZE, "%s %.0f %%, %s is %.0f %%", shares[i].what,
                 100 * shares[i].share, shares[i].key, 100 * shares[i].limit);
        return false;
    }
    return true;
}
