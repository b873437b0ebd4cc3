/* The status line of a search or an experiment. */
#include "tuner/report/live.h"

#include "bench/base/units.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const char *format_figure(enum live_unit unit, double value, char text[UNITS_TEXT_SIZE])
{
    char count[UNITS_TEXT_SIZE];
    if (unit == LIVE_BYTES_PER_S)
        return units_format_rate(value, text);
    if (unit == LIVE_NS)
        return value < 1e18 ? units_format_duration((uint64_t)llround(value), text) : "n/a";
    snprintf(text, UNITS_TEXT_SIZE, "%.*s/s", UNITS_TEXT_SIZE - 3, units_format_count(value, count));
    return text;
}

static void format_best(const struct live *live, char *ret_text, size_t size)
{
    char figure[UNITS_TEXT_SIZE], scatter[UNITS_TEXT_SIZE] = "";
    struct interval interval = student_interval(live->best_logs, live->confidence);
    if (live->best_logs.n == 0) {
        snprintf(ret_text, size, "no best yet");
        return;
    }
    if (isfinite(interval.high))
        snprintf(scatter, sizeof scatter, " +-%.1f %%", expm1(interval.high - live->best_logs.mean) * 100);
    snprintf(ret_text, size, "best %s%s (%s)", format_figure(live->unit, exp(live->best_logs.mean), figure),
             scatter, live->best);
}

void live_show(const struct live *live, struct progress *progress)
{
    char best[LIVE_NAME_SIZE + 2 * UNITS_TEXT_SIZE + 16];
    format_best(live, best, sizeof best);
    progress_show(progress, "%.0f s left  %s  now %s", fmax(live->seconds_left, 0), best, live->now);
}
