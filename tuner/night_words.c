/* The evidence of a night in words. */
#include "tuner/night_words.h"

#include "bench/units.h"

#include <math.h>
#include <stdio.h>

static const char *const decisions[NIGHT_N_VERDICTS] = {
    [NIGHT_NOTHING] = "",
    [NIGHT_FIRST] = "",
    [NIGHT_NO_CHANGE] = "the settings in force stay",
    [NIGHT_PENDING] = "another night must confirm it",
    [NIGHT_CHANGE] = "a change",
};

static double percent_of(double ratio)
{
    return (ratio - 1) * 100;
}

/* "+12.1 % (+8.0 to +16.3 %)", or without the interval where there is none. */
static int gain_text(const struct night_figure *gain, char *text, size_t size)
{
    if (!isfinite(gain->interval.low))
        return snprintf(text, size, "%+.1f %%", percent_of(gain->mean));
    return snprintf(text, size, "%+.1f %% (%+.1f to %+.1f %%)", percent_of(gain->mean),
                    percent_of(gain->interval.low), percent_of(gain->interval.high));
}

static void compare(const struct night_request *request, struct night_result *result)
{
    char contender[FACTORS_TEXT_SIZE], in_force[FACTORS_TEXT_SIZE], tonight[96], pooled[128] = "";
    gain_text(&result->gain_tonight, tonight, sizeof tonight);
    if (result->gain_pooled.n > 1) {
        char text[96];
        gain_text(&result->gain_pooled, text, sizeof text);
        snprintf(pooled, sizeof pooled, ", over %zu nights %s", result->gain_pooled.n, text);
    }
    snprintf(result->evidence, sizeof result->evidence,
             "%s against %s in force: %s tonight%s; more than %.1f %% in each of %u nights is needed: %s",
             factors_format(&result->contender, contender), factors_format(&result->in_force, in_force),
             tonight, pooled, request->settings->tolerance_share * 100, request->nights_needed,
             decisions[result->verdict]);
}

static void tell_first(struct night_result *result)
{
    char point[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    units_format_rate(result->throughput.mean, rate);
    snprintf(result->evidence, sizeof result->evidence, "first tune: %s at %s%s",
             factors_format(&result->advice, point), rate,
             result->conclusive ? "" : "; not conclusive yet, later nights go on from here");
}

static void tell_behind(struct night_result *result)
{
    char point[FACTORS_TEXT_SIZE], text[96], now[UNITS_TEXT_SIZE], before[UNITS_TEXT_SIZE];
    size_t used = 0, size = sizeof result->reason;
    if ((result->behind & NIGHT_BEHIND_SETTINGS) != 0) {
        gain_text(&result->gain_pooled, text, sizeof text);
        used += (size_t)snprintf(result->reason, size, "the settings in force have fallen behind: %s has %s",
                                 factors_format(&result->contender, point), text);
    }
    if ((result->behind & NIGHT_BEHIND_THROUGHPUT) == 0)
        return;
    units_format_rate(result->throughput.mean, now);
    units_format_rate(result->expected.mean, before);
    snprintf(result->reason + used, size - used,
             "%sthe throughput of the settings in force is down: %s, after %s over %zu nights",
             used > 0 ? "; " : "", now, before, result->expected.n);
}

void night_words(const struct night_request *request, struct night_result *result)
{
    char point[FACTORS_TEXT_SIZE];
    if (result->verdict == NIGHT_FIRST)
        tell_first(result);
    else if (result->verdict != NIGHT_NOTHING && result->has_contender)
        compare(request, result);
    else if (result->verdict != NIGHT_NOTHING)
        snprintf(result->evidence, sizeof result->evidence, "%s in force: no other setting came near it",
                 factors_format(&result->in_force, point));
    tell_behind(result);
}
