/* tuner/nightly/retune_ready: the rules, the most lasting reason first. */
#include "tuner/nightly/retune_steps.h"

#include "bench/base/units.h"

#include <stdint.h>
#include <stdio.h>

static bool is_young(const struct host_load_facts *facts, const struct retune_ready_limits *limits, char *why)
{
    char age[UNITS_TEXT_SIZE], wanted[UNITS_TEXT_SIZE];
    if (!(facts->uptime_seconds < limits->uptime_seconds))
        return false;
    units_format_duration((uint64_t)(facts->uptime_seconds * 1e9), age);
    units_format_duration((uint64_t)(limits->uptime_seconds * 1e9), wanted);
    snprintf(why, RETUNE_READY_WHY_SIZE, "the machine started %s ago, min_uptime is %s", age, wanted);
    return true;
}

static bool has_dirty(const struct host_load_facts *facts, const struct retune_ready_limits *limits,
                      char *why)
{
    char dirty[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    if (!(facts->dirty_bytes > limits->dirty_bytes))
        return false;
    units_format_bytes((uint64_t)facts->dirty_bytes, dirty);
    units_format_size((uint64_t)limits->dirty_bytes, limit);
    snprintf(why, RETUNE_READY_WHY_SIZE, "%s wait to be written to disks, max_dirty is %s", dirty, limit);
    return true;
}

/* seconds: what the share is one of; 0 where the words say it. */
static bool is_above(double share, double limit, const char *words, double seconds, const char *key,
                     char *why)
{
    char span[32] = "";
    if (!(share > limit))
        return false;
    if (seconds > 0)
        snprintf(span, sizeof span, ", share of the last %.0f s", seconds);
    snprintf(why, RETUNE_READY_WHY_SIZE, "%s%s: %.0f %%, %s is %.0f %%", words, span, 100 * share, key,
             100 * limit);
    return true;
}

bool retune_ready(const struct host_load_facts *facts, const struct retune_ready_limits *limits,
                  char why[RETUNE_READY_WHY_SIZE])
{
    if (facts->on_battery && !limits->on_battery) {
        snprintf(why, RETUNE_READY_WHY_SIZE, "the machine runs on battery, on_battery is false");
        return false;
    }
    return !is_young(facts, limits, why) && !has_dirty(facts, limits, why) &&
           !is_above(facts->io_pressure_share, limits->io_pressure_share, "tasks waited for I/O",
                     facts->pressure_seconds, "max_io_pressure", why) &&
           !is_above(facts->cpu_pressure_share, limits->cpu_pressure_share, "tasks waited for a processor",
                     facts->pressure_seconds, "max_cpu_pressure", why) &&
           !is_above(facts->load_share, limits->load_share, "load per processor", 0, "max_load", why);
}
