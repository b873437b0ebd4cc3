/* How sure an answer is, and what more time would bring. */
#include "tuner/report/report_certainty.h"

#include "bench/base/units.h"
#include "tuner/options/settings.h"
#include "tuner/search/objective.h"

#include <math.h>

#define GIB_BYTES 1073741824.0
#define INDENT    "             "
/* Beyond so many budgets a forecast is no more than "more". */
#define LARGEST_FACTOR 20
#define LEAST_FACTOR   2
/* The forecast alone is enough in half of the cases only (docs/statistics.md). */
#define SAFETY         2
#define OFFERED_FACTOR 2 /* what a conclusive answer could be given */
/* A loss of so many tolerances is no longer about the tolerance. */
#define FAR_BEYOND 1.5
#define ABOUT      0.7 /* from so many tolerances on it is */

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

/* What ended the search, times the factor: "--budget 120s" or "--max-write 120g". */
static void print_limit(FILE *out, const struct tune *tune, double factor)
{
    const struct settings *settings = tune->settings;
    char text[UNITS_TEXT_SIZE];
    double seconds = (double)settings->limits.budget_ns / 1e9 * factor, step = seconds < 100 ? 1 : 10;
    double gib = (double)settings->limits.max_write_bytes * factor / GIB_BYTES;
    if (tune->engine.stop == ENGINE_STOP_WRITES)
        fprintf(out, "%s %s", limit_name(tune), units_format_size((uint64_t)(ceil(gib) * GIB_BYTES), text));
    else
        fprintf(out, "%s %.0fs", limit_name(tune), ceil(seconds / step) * step);
}

/* Time where the search ended for want of something else, too. */
static void print_time(FILE *out, const struct tune *tune, double factor)
{
    double seconds = session_seconds(tune->session) * factor;
    if (tune->engine.stop == ENGINE_STOP_WRITES && seconds * 1e9 > (double)tune->settings->limits.budget_ns)
        fprintf(out, " --budget %.0fs", ceil(seconds / 10) * 10);
}

/* Where more is lost than the tolerance, another search would rather choose something else. */
static void print_way_to_another(FILE *out, const struct tune *tune)
{
    double lost = objective_share(tune->settings, tune->engine.expected_shortfall);
    if (tune->engine.expected_shortfall > FAR_BEYOND * tune->engine.tolerance)
        fprintf(out,
                INDENT "It is expected to lose %g %% against the fastest, more than the tolerance.\n" INDENT
                       "A search with a larger %s may choose another setting.\n",
                lost_percent(tune, lost), limit_name(tune));
    else
        fputs(INDENT "More time will hardly settle it: what is lost against the fastest is about the "
                     "tolerance.\n" INDENT "A larger --tolerance or --prefer fastest does.\n",
              out);
}

static void print_way_to_settle(FILE *out, const struct tune *tune)
{
    double times = engine_times_to_settle(&tune->engine);
    bool far = !(SAFETY * times <= LARGEST_FACTOR);
    if (tune->settings->search.max_latency_p99_ns != 0) {
        fprintf(out, INDENT "A larger %s may settle it, and so may longer runs (--duration).\n",
                limit_name(tune));
        return;
    }
    if (far && tune->engine.expected_shortfall > ABOUT * tune->engine.tolerance) {
        print_way_to_another(out, tune);
        return;
    }
    fputs(far ? INDENT "More than " : INDENT "A ", out);
    double factor = far ? LARGEST_FACTOR : fmax(SAFETY * times, LEAST_FACTOR);
    print_limit(out, tune, factor);
    print_time(out, tune, factor);
    fputs(far ? " would be needed" : " may settle it", out);
    fputs(" (now ", out);
    print_limit(out, tune, 1);
    fputs(far ? "), or a larger --tolerance.\n" : "); a larger --tolerance settles it sooner.\n", out);
}

/* "Not conclusive: --tolerance 10 % asks for at least 90 %" */
static void print_verdict(FILE *out, const struct tune *tune)
{
    fprintf(out, INDENT "%s: --tolerance %g %% asks for ",
            tune->engine.conclusive ? "Conclusive" : "Not conclusive",
            100 * tune->settings->search.tolerance_share);
    print_share(out, tune, objective_share(tune->settings, tune->engine.tolerance));
    fputs(".\n", out);
}

/* More time changes nothing where the search ended because nothing was left to ask. */
static void print_what_time_brings(FILE *out, const struct tune *tune)
{
    double share = objective_share(tune->settings, engine_shortfall_after(&tune->engine, OFFERED_FACTOR));
    if (tune->engine.stop == ENGINE_STOP_SEPARATED) {
        fputs(INDENT "That settled it before the time was over; a smaller --tolerance would use more.\n",
              out);
        return;
    }
    if (tune->engine.stop != ENGINE_STOP_BUDGET && tune->engine.stop != ENGINE_STOP_WRITES)
        return;
    if (lost_percent(tune, share) >= lost_percent(tune, tune_shortfall_share(tune))) {
        fputs(INDENT "More time would hardly make it surer.\n", out);
        return;
    }
    fputs(INDENT "With ", out);
    print_limit(out, tune, OFFERED_FACTOR);
    print_time(out, tune, OFFERED_FACTOR);
    fputs(" it would be sure of about ", out);
    fprintf(out, "%g %%.\n",
            is_lower_better(tune) ? lost_percent(tune, share) : 100 - lost_percent(tune, share));
}

void report_certainty_text(FILE *out, const struct tune *tune)
{
    double share = tune_shortfall_share(tune);
    double tolerance = objective_share(tune->settings, tune->engine.tolerance);
    fputs("How sure     ", out);
    report_certainty_line(out, tune);
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
