/* The costs of the recommended and of the fastest setting to their neighbours. */
#include "tuner/impact/neighbour_report.h"

#include "bench/base/units.h"
#include "bench/observe/reference.h"
#include "tuner/base/json.h"
#include "tuner/session/json_row.h"
#include "tuner/session/neighbour_costs.h"

#include <math.h>

/* Those after the choice do not flatter what was chosen, but only if there are enough of them. */
static struct moments figures_of(const struct tune *tune, size_t point)
{
    struct moments after = record_neighbour_costs(&tune->records[point], true);
    return after.n >= ENGINE_CONFIRMING_LEAST ? after : record_neighbour_costs(&tune->records[point], false);
}

/* Of their mean; no cost lies beyond what an interval can be delayed or gain. */
static struct interval interval_of(const struct tune *tune, struct moments costs)
{
    const double most = NEIGHBOUR_POINTS - 1;
    const struct interval interval = student_interval(costs, tune->settings->runs.confidence_share);
    return isfinite(interval.low) ? (struct interval){fmax(interval.low, -most), fmin(interval.high, most)}
                                  : interval;
}

/* What comes closest to the limit of all that ran; ENGINE_NONE: its cost is known of none. */
static size_t closest(const struct tune *tune)
{
    size_t best = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (record_neighbour_costs(&tune->records[i], false).n > 0 &&
            (best == ENGINE_NONE || engine_feasible(&tune->engine, i) > engine_feasible(&tune->engine, best)))
            best = i;
    }
    return best;
}

/* The fastest of all that ran, whatever it costs. */
static size_t fastest_of_all(const struct tune *tune)
{
    const struct belief *belief = &tune->engine.belief;
    size_t fastest = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (belief->moments[i].n > 0 && !belief->excluded[i] && tune_distrust(tune, i) == 0 &&
            (fastest == ENGINE_NONE || belief->moments[i].mean > belief->moments[fastest].mean))
            fastest = i;
    }
    return fastest;
}

static const char *limit_is(const struct tune *tune, size_t point)
{
    return engine_keeps_limit(&tune->engine, point)    ? "kept"
           : engine_misses_limit(&tune->engine, point) ? "not kept"
                                                       : "not settled";
}

static json_t *json_cost(const struct tune *tune, size_t point)
{
    struct row row;
    if (point == ENGINE_NONE || tune_row(tune, point, false, &row) < 0)
        return json_null();
    const struct moments costs = figures_of(tune, point);
    const struct interval interval = interval_of(tune, costs);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "setting", json_point(&row.point),
                     "throughput_bps", json_number(row.mean_bps), "pcost",
                     json_number(costs.n > 0 ? costs.mean : NAN), "ci_low", json_number(interval.low),
                     "ci_high", json_number(interval.high), "runs", (json_int_t)costs.n, "limit_is",
                     limit_is(tune, point));
}

/* What the search itself cost. */
static json_t *json_total(const struct tune *tune)
{
    const struct neighbour_total total = neighbour_costs_total(tune->session);
    const struct interval interval = student_interval(total.runs, tune->settings->runs.confidence_share);
    json_t *waiting = json_object();
    for (int kind = 0; kind < PRESSURE_N; kind++)
        json_object_set_new(waiting, pressure_names[kind], json_number(total.some_shares.some_s[kind]));
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:f, s:f, s:f, s:o}", "pcost", json_number(total.cost_share),
                     "runs_pcost", json_number(total.runs.n > 0 ? total.runs.mean : NAN), "runs_ci_low",
                     json_number(interval.low), "runs_ci_high", json_number(interval.high), "runs",
                     (json_int_t)total.runs.n, "seconds", total.seconds, "busy_seconds", total.busy_seconds,
                     "waited_seconds", total.waited_seconds, "pressure", waiting);
}

static json_t *share_or_null(double share)
{
    return share > 0 ? json_number(share) : json_null();
}

static void add_document(json_t *object, const void *context)
{
    const struct answer *answer = context;
    const struct tune *tune = answer->tune;
    json_t *document = json_pack(
        "{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "reference", reference_names[REFERENCE_FILES], "points",
        NEIGHBOUR_POINTS, "limit", share_or_null(tune->settings->search.neighbour_limit_share), "max_cost",
        share_or_null(tune->settings->limits.max_cost_share), "recommended",
        json_cost(tune, tune->engine.chosen), "best", json_cost(tune, tune->engine.best), "fastest",
        json_cost(tune, fastest_of_all(tune)), "search", json_total(tune));
    json_object_set_new(object, "neighbour", document);
}

static void print_cost(FILE *out, const struct tune *tune, size_t point)
{
    const struct moments costs = figures_of(tune, point);
    const struct interval interval = interval_of(tune, costs);
    if (costs.n == 0)
        fputs("not known", out);
    else
        fprintf(out, "%.0f %%", 100 * costs.mean);
    if (isfinite(interval.low))
        fprintf(out, " (%.0f to %.0f)", 100 * interval.low, 100 * interval.high);
    if (tune->settings->search.neighbour_limit_share > 0)
        fprintf(out, ", limit %s", limit_is(tune, point));
}

/* A line of a setting other than the recommended one. */
static void print_other(FILE *out, const struct tune *tune, size_t point, const char *name)
{
    struct row row;
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    if (point == ENGINE_NONE || tune_row(tune, point, false, &row) < 0)
        return;
    fprintf(out, "%-12s %s: %s, %s, costs ", "", name, factors_format(&row.point, text),
            units_format_rate(row.mean_bps, rate));
    print_cost(out, tune, point);
    fputc('\n', out);
}

/* A cost in the words of the neighbour: each of its intervals takes so many times as long. */
static double times_as_long(double cost_share)
{
    const double most = NEIGHBOUR_POINTS - 1;
    return (most + cost_share) / (most - cost_share);
}

static void print_lines(FILE *out, const void *context)
{
    const struct answer *answer = context;
    const struct tune *tune = answer->tune;
    const size_t chosen = tune->engine.chosen, best = tune->engine.best, fastest = fastest_of_all(tune);
    const double limit = tune->settings->search.neighbour_limit_share;
    char total[NEIGHBOUR_REPORT_SIZE];
    if (chosen == ENGINE_NONE && fastest == ENGINE_NONE)
        return;
    fprintf(out, "%-12s ", "Neighbours");
    if (limit > 0)
        fprintf(out, "limit %.0f %%, where a neighbour takes %.2f times as long; ", 100 * limit,
                times_as_long(limit));
    if (chosen != ENGINE_NONE) {
        fputs("this setting costs ", out);
        print_cost(out, tune, chosen);
    } else {
        fputs("no setting was shown to keep it", out);
    }
    fputc('\n', out);
    if (chosen == ENGINE_NONE)
        print_other(out, tune, closest(tune), "closest to the limit");
    if (best != chosen)
        print_other(out, tune, best, "the fastest within the limit");
    if (fastest != best)
        print_other(out, tune, fastest, "the fastest of all");
    if (neighbour_report_total(tune, total)[0] != '\0')
        fprintf(out, "%-12s %s\n", "", total);
}

const char *neighbour_report_total(const struct tune *tune, char text[NEIGHBOUR_REPORT_SIZE])
{
    const struct neighbour_total total = neighbour_costs_total(tune->session);
    const double most = tune->settings->limits.max_cost_share;
    int used = 0;
    text[0] = '\0';
    if (!isfinite(total.cost_share))
        return text;
    used = snprintf(text, NEIGHBOUR_REPORT_SIZE,
                    "the search itself cost %.0f %% on average, %.0f %% in its runs", 100 * total.cost_share,
                    100 * total.runs.mean);
    if (most > 0)
        snprintf(text + used, NEIGHBOUR_REPORT_SIZE - (size_t)used,
                 " (--max-cost %.0f %%: it paused for %.0f of %.0f s)", 100 * most, total.waited_seconds,
                 total.seconds);
    return text;
}

struct answer_part neighbour_report_part(const struct answer *answer)
{
    return (struct answer_part){.add = add_document, .print = print_lines, .context = answer};
}
