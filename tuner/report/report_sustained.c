/* What a trace says about a rate. */
#include "tuner/report/report_sustained.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/session/json_row.h"

#include <math.h>
#include <string.h>

/* Smaller changes of the whole command are within what a recommendation tolerates. */
#define COMMAND_CHANGE_SHARE 0.05
#define DRIFT_SIZE           64
#define AT_LEVEL_SHARE       0.05 /* of a level, by which the rate of one may differ from it */

static const char *const shape_words[TRACE_N_SHAPES] = {
    [TRACE_SHORT] = "too short to tell",    [TRACE_FLAT] = "flat",
    [TRACE_RAMP] = "flat after a warm-up",  [TRACE_SPIKES] = "flat with single outliers",
    [TRACE_CLIFF] = "a burst that ended",   [TRACE_THROTTLED] = "throttled",
    [TRACE_PERIODIC] = "periodic",          [TRACE_TWO_LEVELS] = "jumping between two levels",
    [TRACE_DECLINE] = "drifting on and on", [TRACE_UNSTEADY] = "irregular",
};

static bool is_short(const struct sustained_verdict *verdict)
{
    return verdict->trace.shape == TRACE_SHORT;
}

static void seen_over(const struct sustained_verdict *verdict, char *buffer, size_t size)
{
    char seconds[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], runs[48] = "";
    /* Those before a choice are among them, whose figures stand nowhere else. */
    if (verdict->n_runs > 1)
        snprintf(runs, sizeof runs, " (%zu runs in all)", verdict->n_runs);
    snprintf(buffer, size, "%s and %s%s", units_format_duration((uint64_t)(verdict->seconds * 1e9), seconds),
             units_format_bytes(verdict->bytes, bytes), runs);
}

static void burst_words(const struct sustained_verdict *verdict, char *buffer, size_t size)
{
    char before[UNITS_TEXT_SIZE], after[UNITS_TEXT_SIZE], seconds[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    snprintf(buffer, size, "a burst of %s ended after %s (%s moved by then); %s since",
             units_format_rate(verdict->burst_bps, before),
             units_format_duration((uint64_t)(verdict->burst_seconds * 1e9), seconds),
             units_format_bytes(verdict->burst_load_bytes, bytes),
             units_format_rate(verdict->after_bps, after));
}

/* "+1.0 % +- 2.0 %" between the two texts, or nothing where the windows are too few to tell. */
static const char *drift_words(const struct sustained_verdict *verdict, const char *before, const char *after,
                               char buffer[DRIFT_SIZE])
{
    char error[UNITS_TEXT_SIZE] = "";
    buffer[0] = '\0';
    if (isfinite(verdict->drift_error_share))
        snprintf(error, sizeof error, " +- %.1f %%", 200 * verdict->drift_error_share);
    if (isfinite(verdict->drift_share))
        snprintf(buffer, DRIFT_SIZE, "%s%+.1f %%%s%s", before, 100 * verdict->drift_share, error, after);
    return buffer;
}

const char *report_sustained_words(const struct sustained_verdict *verdict,
                                   char buffer[REPORT_SUSTAINED_SIZE])
{
    char seen[2 * UNITS_TEXT_SIZE + 56], burst[200], drift[DRIFT_SIZE];
    seen_over(verdict, seen, sizeof seen);
    burst_words(verdict, burst, sizeof burst);
    if (verdict->burst)
        snprintf(buffer, REPORT_SUSTAINED_SIZE, "%s, %s, seen over %s", burst,
                 verdict->trace.steady ? "steady" : "not yet shown to be steady", seen);
    else if (is_short(verdict))
        snprintf(buffer, REPORT_SUSTAINED_SIZE,
                 "not known: seen over only %s; fstune measure --until-steady tells", seen);
    else if (verdict->hidden && verdict->trace.left)
        snprintf(buffer, REPORT_SUSTAINED_SIZE,
                 "seen over %s; %+.1f %% at the end of it, for too short to tell whether that stays", seen,
                 100 * (verdict->after_bps / verdict->burst_bps - 1));
    else if (verdict->hidden)
        snprintf(buffer, REPORT_SUSTAINED_SIZE,
                 "seen over %s; no end of a burst, but the scatter could hide a drift%s", seen,
                 drift_words(verdict, " (", ")", drift));
    else if (verdict->trace.steady)
        snprintf(buffer, REPORT_SUSTAINED_SIZE, "steady (%s) over %s%s; longer bursts not excluded",
                 shape_words[verdict->trace.shape], seen, drift_words(verdict, ", drift ", "", drift));
    else
        snprintf(buffer, REPORT_SUSTAINED_SIZE, "NOT STEADY (%s) over %s%s",
                 shape_words[verdict->trace.shape], seen, drift_words(verdict, ", drift ", "", drift));
    return buffer;
}

/* A stream that dirties more than the background limit meets the flusher; beyond the limit it is held back.
 */
static void print_dirty_limits(FILE *out, const struct session *session,
                               const struct sustained_verdict *verdict)
{
    double background = hostinfo_number(&session->host, "dirty_background_limit_bytes");
    double limit = hostinfo_number(&session->host, "dirty_limit_bytes");
    char run[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (!isfinite(background) || !isfinite(limit) || verdict->n_runs == 0)
        return;
    double per_run = (double)verdict->written_bytes / (double)verdict->n_runs;
    fprintf(
        out,
        "             A run dirtied %s; the kernel writes back from %s of dirty memory on and holds writers "
        "back at %s:\n             %s\n",
        units_format_bytes((uint64_t)per_run, run), units_format_bytes((uint64_t)background, low),
        units_format_bytes((uint64_t)limit, high),
        per_run < background ? "longer streams of buffered writes may go at another rate"
                             : "the runs reached the flusher");
}

void report_sustained_text(FILE *out, const struct session *session, const struct sustained_verdict *verdict,
                           const struct point *point)
{
    char words[REPORT_SUSTAINED_SIZE];
    fprintf(out, "Sustained    %s\n", report_sustained_words(verdict, words));
    if (point->direct == 0 && point->sync != SYNC_EACH &&
        pattern_writes(&session->settings->workload.pattern) && !session->simulated)
        print_dirty_limits(out, session, verdict);
}

void report_sustained_levels(FILE *out, const struct levels_verdict *levels, double mean_bps)
{
    char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    bool between =
        mean_bps > (1 + AT_LEVEL_SHARE) * levels->low && mean_bps < (1 - AT_LEVEL_SHARE) * levels->high;
    if (levels->two && between)
        fprintf(out,
                "             two levels: %zu runs at about %s, %zu at about %s; the mean is the rate of "
                "neither\n",
                levels->n_low, units_format_rate(levels->low, low), levels->n_high,
                units_format_rate(levels->high, high));
}

static json_t *json_burst(const struct sustained_verdict *verdict)
{
    if (!verdict->burst)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:o}", "mean", json_number(verdict->burst_bps), "seconds",
                     json_number(verdict->burst_seconds), "bytes_moved",
                     (json_int_t)verdict->burst_load_bytes, "mean_after", json_number(verdict->after_bps));
}

static json_t *json_levels(const struct levels_verdict *levels)
{
    if (!levels->two)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:I}", "low", json_number(levels->low), "high",
                     json_number(levels->high), "runs_low", (json_int_t)levels->n_low, "runs_high",
                     (json_int_t)levels->n_high);
}

/* {"shape", "steady" (null: too short to tell), "seconds", "bytes", "drift_share", "burst", "levels",
 * "text"}. */
static json_t *json_sustained(const struct sustained_verdict *verdict)
{
    char words[REPORT_SUSTAINED_SIZE];
    const struct trace_verdict *trace = &verdict->trace;
    return json_pack(
        "{s:s, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "shape", trace_shape_names[trace->shape],
        "steady", is_short(verdict) || verdict->hidden ? json_null() : json_boolean(trace->steady), "seconds",
        json_number(verdict->seconds), "bytes", (json_int_t)verdict->bytes, "drift_share",
        json_number(verdict->drift_share), "drift_error_share", json_number(verdict->drift_error_share),
        "window_seconds", json_number(verdict->window_seconds), "burst", json_burst(verdict), "levels",
        json_levels(&verdict->levels), "text", json_text(report_sustained_words(verdict, words)));
}

void report_sustained_figures(json_t *object, const struct row *row, double confidence,
                              const struct sustained_verdict *verdict)
{
    json_object_set_new(object, "throughput", row != NULL ? json_throughput(row, confidence) : json_null());
    json_object_set_new(object, "iops",
                        row != NULL ? json_pack("{s:o}", "mean", json_number(row->iops)) : json_null());
    json_object_set_new(object, "latency_ns", row != NULL ? json_latency(&row->latency_ns) : json_null());
    json_object_set_new(object, "sustained", verdict != NULL ? json_sustained(verdict) : json_null());
}

static void note_levels(struct notes *warnings, const struct levels_verdict *levels,
                        const struct point *point)
{
    char setting[FACTORS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (levels->two)
        notes_add(warnings, "two_levels",
                  "the runs of %s fall into two levels: %zu at about %s, %zu at about %s; a mean of "
                  "both describes neither",
                  factors_format(point, setting), levels->n_low, units_format_rate(levels->low, low),
                  levels->n_high, units_format_rate(levels->high, high));
}

void report_sustained_note(struct notes *warnings, const struct sustained_verdict *verdict,
                           const struct point *point)
{
    char words[REPORT_SUSTAINED_SIZE];
    report_sustained_words(verdict, words);
    note_levels(warnings, &verdict->levels, point);
    if (verdict->burst)
        notes_add(
            warnings, "burst_ended",
            "%s; a mean over all runs mixes both: `fstune measure --until-steady` shows the rate that lasts",
            words);
    else if (!is_short(verdict) && !verdict->hidden && !verdict->trace.steady)
        notes_add(warnings, verdict->trace.left ? "steady_state_left" : "not_steady",
                  "%s: a longer measurement (--duration, --until-steady) may show another rate", words);
}

void report_sustained_note_command(struct notes *warnings, const struct sustained_change *change)
{
    char bytes[UNITS_TEXT_SIZE];
    if (fabs(change->ratio - 1) < COMMAND_CHANGE_SHARE)
        return;
    if (change->fell_or_rose)
        notes_add(warnings, "rate_changed",
                  "rates went to %.0f %% of what they were during the search, over all settings on average, "
                  "when %s had been moved%s; "
                  "the figures "
                  "of the replays after the choice stand, a longer load may see yet another rate",
                  100 * change->ratio, units_format_bytes(change->load_bytes, bytes),
                  change->ratio < 1 ? ": a burst credit or a write cache may be used up" : "");
    else if (change->drifted)
        notes_add(warnings, "rate_changed",
                  "rates drifted to %.0f %% of what they were during the search, over all settings on "
                  "average: the figures hold for "
                  "its end, and "
                  "a longer load may go on drifting",
                  100 * change->ratio);
}

void report_sustained_note_wander(struct notes *warnings, const struct wander *wander, size_t n_runs)
{
    char text[UNITS_TEXT_SIZE];
    if (wander->variance > 0)
        notes_add(
            warnings, "rate_wanders",
            "rates of all settings rise and fall together, by %.0f %% (standard deviation, %zu runs), for "
            "about %s at a time: settings are compared without that, and the interval of the recommended "
            "rate allows for it",
            100 * sqrt(wander->variance), n_runs,
            units_format_duration((uint64_t)(wander->tau_seconds * 1e9), text));
}
