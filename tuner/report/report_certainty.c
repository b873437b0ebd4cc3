/* How sure an answer is, and what more time would bring. */
#include "tuner/report/report_certainty.h"

#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/options/settings.h"
#include "tuner/report/report_change.h"
#include "tuner/report/report_table.h"
#include "tuner/report/report_text.h"
#include "tuner/search/objective.h"
#include "tuner/session/session_members.h"

#include <math.h>
#include <string.h>

#define GIB_BYTES 1073741824.0
#define MIB_BYTES 1048576.0
#define INDENT    "             "
/* Beyond so many budgets a forecast is no more than "more". */
#define LARGEST_FACTOR 20
#define LEAST_FACTOR   2
/* The forecast alone is enough in half of the cases only (docs/statistics.md). */
#define SAFETY         2
#define OFFERED_FACTOR 2 /* what a conclusive answer could be given */
/* A loss of so many tolerances is no longer about the tolerance. */
#define FAR_BEYOND        1.5
#define LARGEST_TOLERANCE 50   /* that the option takes, in per cent */
#define ABOUT             0.7  /* from so many tolerances on it is */
#define LEAST_HELD        3    /* settings that a limit holds, before it is told */
#define LEARNT_SHARE      0.5  /* of the measured settings, that a limit holds of which nobody told */
#define HELD_LOG          0.05 /* below a limit, at most, to be held by it */

/* A share lost, in per cent, rounded to the safe side. */
static double lost_percent(const struct tune *tune, double share)
{
    double tolerance = 100 * tune->settings->search.tolerance_share;
    double unit = fabs(tolerance - round(tolerance)) < 1e-9 ? 1 : 0.1;
    return ceil(100 * share / unit - 1e-9) * unit;
}

static bool is_lower_better(const struct tune *tune)
{
    return objective_table[tune->settings->search.objective].lower;
}

/* "at least 94 %" of the best, or of a latency "at most 6 %" above the lowest. */
static void print_share(FILE *out, const struct tune *tune, double share)
{
    double lost = lost_percent(tune, share);
    if (is_lower_better(tune))
        fprintf(out, "at most %g %%", lost);
    else
        fprintf(out, "at least %g %%", 100 - lost);
}

void report_certainty_line(FILE *out, const struct tune *tune)
{
    double share = tune_shortfall_share(tune);
    if (!isfinite(share)) {
        fputs("not known: too little was measured to compare with the rest of the space", out);
        return;
    }
    fprintf(out, "%g %% sure of ", 100 * tune->settings->runs.confidence_share);
    print_share(out, tune, share);
    /* What was measured too briefly for the objective is no rival, and may be better. */
    const char *among =
        tune->n_unsupported > 0 ? " among the settings that can be compared" : ", measured or not";
    if (tune->settings->search.profile != PROFILE_MAX_THROUGHPUT)
        fprintf(out, " of the best possible score of this profile here%s", among);
    else
        fprintf(out, " %s possible here%s%s", is_lower_better(tune) ? "above the lowest" : "of the best",
                engine_is_limited(&tune->engine) ? " within the limit" : "", among);
}

static const char *limit_name(const struct tune *tune)
{
    return tune->engine.stop == ENGINE_STOP_WRITES ? "--max-write" : "--budget";
}

/* What ended the search, times the factor: "120s" or "120g". */
static const char *limit_times(const struct tune *tune, double factor, char text[UNITS_TEXT_SIZE])
{
    const struct settings *settings = tune->settings;
    double seconds = (double)settings->limits.budget_ns / 1e9 * factor, step = seconds < 100 ? 1 : 10;
    double bytes = (double)settings->limits.max_write_bytes * factor;
    double unit = bytes < GIB_BYTES ? MIB_BYTES : GIB_BYTES;
    if (tune->engine.stop == ENGINE_STOP_WRITES)
        return units_format_size((uint64_t)(ceil(bytes / unit) * unit), text);
    snprintf(text, UNITS_TEXT_SIZE, "%.0fs", ceil(seconds / step) * step);
    return text;
}

/* What it was, as it was given. */
static const char *limit_now(const struct tune *tune, char text[UNITS_TEXT_SIZE])
{
    const struct settings *settings = tune->settings;
    if (tune->engine.stop == ENGINE_STOP_WRITES)
        return units_format_size(settings->limits.max_write_bytes, text);
    snprintf(text, UNITS_TEXT_SIZE, "%gs", (double)settings->limits.budget_ns / 1e9);
    return text;
}

/* The same of time as well where the search ended for want of something else, and what both are now. */
static void print_limits(FILE *out, const struct tune *tune, double factor)
{
    double seconds = session_seconds(tune->session) * factor;
    double budget_seconds = (double)tune->settings->limits.budget_ns / 1e9;
    char text[UNITS_TEXT_SIZE];
    bool both = tune->engine.stop == ENGINE_STOP_WRITES && seconds > budget_seconds;
    fprintf(out, "%s %s", limit_name(tune), limit_times(tune, factor, text));
    if (both)
        fprintf(out, " --budget %.0fs", ceil(seconds / 10) * 10);
    fprintf(out, " (now %s", limit_now(tune, text));
    if (both)
        fprintf(out, " --budget %gs", budget_seconds);
    fputc(')', out);
}

/* With which the answer as it stands would be conclusive. A profile's score is lost by another measure. */
static void print_accepting_tolerance(FILE *out, const struct tune *tune)
{
    double lost = lost_percent(tune, tune_shortfall_share(tune));
    if (lost <= LARGEST_TOLERANCE && tune->settings->search.profile == PROFILE_MAX_THROUGHPUT &&
        tune->engine.points[tune->engine.chosen].confirming.n >= ENGINE_CONFIRMING_LEAST)
        fprintf(out, INDENT "--tolerance %g%% would accept this one as it is; it gets no better by that.\n",
                lost);
}

/* Where more is lost than the tolerance, another search would rather choose something else. */
static void print_way_to_another(FILE *out, const struct tune *tune)
{
    char text[UNITS_TEXT_SIZE];
    double lost = objective_share(tune->settings, tune->engine.expected_shortfall);
    if (tune->engine.expected_shortfall > FAR_BEYOND * tune->engine.tolerance)
        fprintf(out,
                INDENT "It is expected to lose %g %% against the best, more than the tolerance.\n" INDENT
                       "A search with a larger %s (now %s) may choose another setting.\n",
                lost_percent(tune, lost), limit_name(tune), limit_now(tune, text));
    else
        fputs(INDENT "More time will hardly settle it: what is lost against the best is about the "
                     "tolerance; --prefer fastest does.\n",
              out);
}

static void print_way_to_settle(FILE *out, const struct tune *tune)
{
    char text[UNITS_TEXT_SIZE];
    double times = engine_times_to_settle(&tune->engine);
    bool far = !(SAFETY * times <= LARGEST_FACTOR), resumes = tune->settings->search.resume[0] != '\0';
    if (tune->settings->search.max_latency_p99_ns != 0) {
        fprintf(out, INDENT "A larger %s (now %s) may settle it, and so may longer runs (--duration).\n",
                limit_name(tune), limit_now(tune, text));
    } else if (far && tune->engine.expected_shortfall > ABOUT * tune->engine.tolerance) {
        print_way_to_another(out, tune);
    } else {
        fputs(far ? INDENT "More than " : INDENT "A search with ", out);
        print_limits(out, tune, far ? LARGEST_FACTOR : fmax(SAFETY * times, LEAST_FACTOR));
        fputs(far       ? " would be needed.\n"
              : resumes ? " may settle it.\n"
                        : ", from the start again, may settle it.\n",
              out);
    }
    print_accepting_tolerance(out, tune);
}

/* Whether settings with less in flight than the recommended one may do as well as the best. */
static bool has_cheaper(const struct tune *tune)
{
    const struct engine *engine = &tune->engine;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune->records[i].n > 0 &&
            engine->points[i].in_flight_bytes < engine->points[engine->chosen].in_flight_bytes &&
            engine_is_eligible(engine, i) && engine->verdicts[i] == VERDICT_UNDECIDED &&
            answer_share(tune, i) >= 1 - tune->settings->search.tolerance_share)
            return true;
    }
    return false;
}

/* "Not conclusive: --tolerance 10 % asks for at least 90 %" */
static void print_verdict(FILE *out, const struct tune *tune)
{
    fprintf(out, INDENT "%s: --tolerance %g %% asks for ",
            tune->engine.conclusive ? "Conclusive" : "Not conclusive",
            100 * tune->settings->search.tolerance_share);
    print_share(out, tune, objective_share(tune->settings, tune->engine.tolerance));
    bool open = tune->engine.conclusive && tune_is_of_throughput(tune) && !tune->engine.prefers_fastest &&
                has_cheaper(tune);
    fputs(open ? "; whether less in flight would do, too, is not settled.\n" : ".\n", out);
}

/* More time changes nothing where the search ended because nothing was left to ask. */
static void print_what_time_brings(FILE *out, const struct tune *tune)
{
    double share = objective_share(tune->settings, engine_shortfall_after(&tune->engine, OFFERED_FACTOR));
    if (tune->engine.stop == ENGINE_STOP_SEPARATED) {
        fputs(INDENT "That settled it before the time was over: more time changes nothing, a smaller "
                     "--tolerance does.\n",
              out);
        return;
    }
    if (tune->engine.stop != ENGINE_STOP_BUDGET && tune->engine.stop != ENGINE_STOP_WRITES)
        return;
    if (lost_percent(tune, share) >= lost_percent(tune, tune_shortfall_share(tune))) {
        fputs(INDENT "More time would hardly make the choice surer.\n", out);
        return;
    }
    fputs(INDENT "With ", out);
    print_limits(out, tune, OFFERED_FACTOR);
    fprintf(out, " it would be %g %% sure of about %g %%%s.\n", 100 * tune->settings->runs.confidence_share,
            is_lower_better(tune) ? lost_percent(tune, share) : 100 - lost_percent(tune, share),
            is_lower_better(tune) ? " above the lowest" : " of the best");
}

void report_certainty_text(FILE *out, const struct tune *tune)
{
    double share = tune_shortfall_share(tune);
    double tolerance = objective_share(tune->settings, tune->engine.tolerance);
    fputs("How sure     ", out);
    report_certainty_line(out, tune);
    if (isfinite(share) && !is_lower_better(tune) && !tune->engine.conclusive)
        fprintf(out, ": it may lose up to %g %%", lost_percent(tune, share));
    fputc('\n', out);
    if (!isfinite(share))
        return;
    if (!tune->engine.conclusive && share <= tolerance) {
        fputs(INDENT "Not conclusive: too few replays were made after the choice.\n", out);
        return;
    }
    print_verdict(out, tune);
    if (tune->engine.conclusive)
        print_what_time_brings(out, tune);
    else
        print_way_to_settle(out, tune);
}

/* The one that looks fastest of those that look faster by fewer runs than a verdict takes, or ENGINE_NONE. */
static size_t find_faster_by_few_runs(const struct tune *tune)
{
    char standing[REPORT_STANDING_SIZE];
    size_t found = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune->records[i].n > 0 && answer_share(tune, i) > 1 &&
            strcmp(report_table_standing(tune, i, standing), "few runs") == 0 &&
            (found == ENGINE_NONE || answer_share(tune, i) > answer_share(tune, found)))
            found = i;
    }
    return found;
}

void report_certainty_fastest(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    size_t faster = find_faster_by_few_runs(tune);
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], keep[REPORT_CHANGE_SIZE];
    if (report_change_keep(answer, keep)[0] != '\0')
        return;
    fprintf(out, "Fastest      this one%s",
            engine_is_limited(&tune->engine) ? ", of those within the limit" : "");
    if (faster != ENGINE_NONE) {
        const struct record *record = &tune->records[faster];
        double bps = exp(record_log_moments(record, false).mean);
        fprintf(out, ", of the settings with %d runs or more; %s may be faster, ", ENGINE_MIN_REPLAYS,
                factors_format(&record->point, text));
        if (bps > answer->chosen.mean_bps)
            fprintf(out, "%s in only %zu run%s\n", text_short_rate(bps, rate), record->n,
                    record->n == 1 ? "" : "s");
        else
            fputs("by the search's estimate\n", out);
    } else if (has_cheaper(tune))
        fputs("; others with less in flight may do as well, which is not shown yet\n", out);
    else
        fputs(tune->engine.conclusive ? "\n" : ", as it seems\n", out);
}

/* What the control group allows. Small requests meet a limit on their number before the one on their bytes.
 */
static void print_known_limit(FILE *out, const struct tune *tune, double limit_bps, const char *rate)
{
    const struct session *session = tune->session;
    const struct storage_stack *stack = &session->target_facts.stack;
    const struct pattern *pattern = &tune->settings->workload.pattern;
    bool is_plain = session_n_members(session) == 1 && pattern_reads(pattern) != pattern_writes(pattern);
    double iops = !is_plain ? 0 : pattern_writes(pattern) ? stack->cap_write_iops : stack->cap_read_iops;
    bool has_bytes = !is_plain || (pattern_writes(pattern) ? stack->cap_write_bps : stack->cap_read_bps) > 0;
    double least = INFINITY;
    for (size_t i = 0; i < tune->space.n_points; i++)
        least = fmin(least, (double)tune->records[i].point.request_size_bytes);
    bool has_requests = stack->caps_known && iops > 0 && iops * least < limit_bps * (1 - HELD_LOG);
    if (has_bytes || !has_requests)
        fputs(rate, out);
    if (has_requests)
        fprintf(out, "%s%.0f requests a second", has_bytes ? " and " : "", iops);
    fputs(" by the control group (io.max, blkio.throttle)", out);
}

/* A limit on the rate that the control group sets or that the runs show, where the recommended setting
 * reaches it: there the limit decides, and what is recommended is what costs least. */
void report_certainty_limit(FILE *out, const struct tune *tune)
{
    const struct belief *belief = &tune->engine.belief;
    size_t n_held = 0, n_measured = 0;
    char rate[UNITS_TEXT_SIZE];
    bool known = isfinite(belief->ceiling);
    if (!tune_is_of_throughput(tune) || tune->engine.chosen >= tune->space.n_points)
        return;
    double limit =
        known ? belief->ceiling : belief_likely_ceiling(belief, tune->settings->runs.confidence_share);
    for (size_t i = 0; i < tune->space.n_points; i++) {
        n_measured += belief->moments[i].n > 0;
        n_held += belief->moments[i].n > 0 && belief->moments[i].mean >= limit - HELD_LOG;
    }
    if (n_held < (known ? LEAST_HELD : fmax(LEAST_HELD, LEARNT_SHARE * (double)n_measured)) ||
        belief->moments[tune->engine.chosen].mean < limit - HELD_LOG)
        return;
    text_short_rate(exp(limit), rate);
    fputs("Limited to   ", out);
    if (known)
        print_known_limit(out, tune, exp(limit), rate);
    else
        fprintf(out, "about %s, as it seems", rate);
    fprintf(out, ": %zu of the %zu measured settings come within %g %% of %s\n", n_held, n_measured,
            100 * HELD_LOG, rate);
}
