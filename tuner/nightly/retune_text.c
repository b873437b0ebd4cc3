/* The evidence of a night in words. */
#include "tuner/nightly/retune_decide.h"

#include "bench/base/units.h"
#include "tuner/impact/neighbour_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const decisions[NIGHT_N_VERDICTS] = {
    [NIGHT_NOTHING] = "",
    [NIGHT_FIRST] = "",
    [NIGHT_NO_CHANGE] = "the current setting stays",
    [NIGHT_PENDING] = "another night must confirm it",
    [NIGHT_CHANGE] = "a change",
};

static double percent_of(double ratio)
{
    return (ratio - 1) * 100;
}

/* "+12.1 % (+8.0 to +16.3 %)", or without the interval where there is none. */
static int gain_text(const struct retune_figure *gain, char *text, size_t size)
{
    if (!isfinite(gain->interval.low))
        return snprintf(text, size, "%+.1f %%", percent_of(gain->mean));
    return snprintf(text, size, "%+.1f %% (%+.1f to %+.1f %%)", percent_of(gain->mean),
                    percent_of(gain->interval.low), percent_of(gain->interval.high));
}

static void compare_in_words(const struct retune_request *request, struct retune_result *result)
{
    char contender[FACTORS_TEXT_SIZE], in_force[FACTORS_TEXT_SIZE], tonight[96], pooled[128] = "",
                                                                                 why[64] = "";
    gain_text(&result->gain_tonight, tonight, sizeof tonight);
    if (result->gain_pooled.n > 1) {
        char text[96];
        gain_text(&result->gain_pooled, text, sizeof text);
        snprintf(pooled, sizeof pooled, ", over %zu nights %s", result->gain_pooled.n, text);
    }
    if (result->n_changes >= NIGHT_MAX_CHANGES)
        snprintf(why, sizeof why, " after %zu changes in %d nights", result->n_changes, NIGHT_CHANGES_NIGHTS);
    snprintf(result->evidence, sizeof result->evidence,
             "%s against the current setting %s: %s tonight%s; more than %.1f %% in each of %u nights is "
             "needed%s: %s",
             factors_format(&result->contender, contender), factors_format(&result->in_force, in_force),
             tonight, pooled, result->needed_share * 100, request->nights_needed, why,
             decisions[result->verdict]);
}

static void tell_first(struct retune_result *result)
{
    char point[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    units_format_rate(result->throughput.mean, rate);
    snprintf(result->evidence, sizeof result->evidence, "first tune: %s at %s%s",
             factors_format(&result->recommendation, point), rate,
             result->conclusive ? "" : "; not conclusive yet, later nights go on from here");
}

static void tell_behind(struct retune_result *result)
{
    char point[FACTORS_TEXT_SIZE], text[96], now[UNITS_TEXT_SIZE], before[UNITS_TEXT_SIZE];
    size_t used = 0, size = sizeof result->reason;
    if ((result->behind & NIGHT_BEHIND_SETTINGS) != 0) {
        gain_text(&result->gain_pooled, text, sizeof text);
        used += (size_t)snprintf(result->reason, size,
                                 "the current setting has fallen behind: %s has %s over the nights so far",
                                 factors_format(&result->contender, point), text);
    }
    if ((result->behind & NIGHT_BEHIND_THROUGHPUT) == 0)
        return;
    units_format_rate(result->throughput.mean, now);
    units_format_rate(result->expected.mean, before);
    snprintf(result->reason + used, size - used,
             "%sthe throughput of the current setting %s: %s, after %s over %zu nights%s",
             used > 0 ? "; " : "", result->drifted ? "has drifted down" : "is down", now, before,
             result->expected.n, result->drifted ? " in a row" : "");
}

void retune_text(const struct retune_request *request, struct retune_result *result)
{
    char point[FACTORS_TEXT_SIZE];
    if (result->verdict == NIGHT_FIRST)
        tell_first(result);
    else if (result->verdict != NIGHT_NOTHING && result->has_contender)
        compare_in_words(request, result);
    else if (result->verdict != NIGHT_NOTHING)
        snprintf(result->evidence, sizeof result->evidence,
                 "%s, the current setting: no other setting came near it",
                 factors_format(&result->in_force, point));
    tell_behind(result);
}

/* Runs of this setting that the whole write budget allows. */
static size_t runs_allowed(const struct tune *tune, size_t point)
{
    double bytes = (double)tune->settings->limits.max_write_bytes - (double)tune->search_from_bytes;
    double run_bytes = tune_writes_of_run(tune, point);
    return bytes > 0 && run_bytes > 0 ? (size_t)(bytes / run_bytes) : 0;
}

const char *retune_text_too_few(const struct tune *tune, char text[NIGHT_TEXT_SIZE])
{
    char bytes[UNITS_TEXT_SIZE], point[FACTORS_TEXT_SIZE];
    bool in_force = tune->settings->search.current_given;
    size_t index =
        in_force || tune->engine.chosen == ENGINE_NONE ? tune->engine.baseline : tune->engine.chosen;
    snprintf(text, NIGHT_TEXT_SIZE,
             "%s of writes allow only %zu runs of %s%s, too few for %d replays of it and of another setting "
             "beside the search; raise max_write",
             units_format_bytes(tune->settings->limits.max_write_bytes, bytes), runs_allowed(tune, index),
             factors_format(&tune->records[index].point, point), in_force ? " (current)" : "",
             ENGINE_CONFIRMING_LEAST);
    return text;
}

void retune_text_add_neighbours(const struct tune *tune, struct retune_result *result)
{
    char text[NEIGHBOUR_REPORT_SIZE];
    size_t used = strlen(result->evidence);
    if (neighbour_report_total(tune, text)[0] != '\0')
        snprintf(result->evidence + used, sizeof result->evidence - used, "; %s", text);
}

void retune_text_add_writes(const struct tune *tune, struct retune_result *result)
{
    char bytes[UNITS_TEXT_SIZE], unpaid[FACTORS_TEXT_SIZE + 64] = "", point[FACTORS_TEXT_SIZE];
    size_t used = strlen(result->evidence), n_looked_at = 0;
    if (!tune->writes_are_scarce ||
        (tune->engine.stop != ENGINE_STOP_WRITES && tune->engine.confirm.unpaid == ENGINE_NONE))
        return;
    for (size_t i = 0; i < tune->space.n_points; i++)
        n_looked_at += tune->records[i].n > 0;
    if (tune->engine.confirm.unpaid != ENGINE_NONE)
        snprintf(unpaid, sizeof unpaid, ", and no %d replays of %s", ENGINE_CONFIRMING_LEAST,
                 factors_format(&tune->records[tune->engine.confirm.unpaid].point, point));
    snprintf(result->evidence + used, sizeof result->evidence - used,
             "; %s of writes allowed a look at %zu of %zu settings%s: a larger max_write finds more",
             units_format_bytes(tune->settings->limits.max_write_bytes, bytes), n_looked_at,
             tune->space.n_points, unpaid);
}
