/* The objective's own figure in text and JSON. */
#include "tuner/report/report_objective.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/options/settings.h"
#include "tuner/session/samples.h"

#include <math.h>

static bool is_confirming(const struct tune *tune, size_t point)
{
    return record_count(&tune->records[point], true) >= ENGINE_MIN_REPLAYS;
}

/* False without an answer, and where the search compared something that is no figure of a run. */
static bool objective_figure_of(const struct tune *tune, struct objective_figure *ret_figure,
                                struct objective_ratio *ret_ratio)
{
    const struct settings *settings = tune->settings;
    if (tune->engine.chosen == ENGINE_NONE || settings->search.profile != PROFILE_MAX_THROUGHPUT)
        return false;
    const struct record *chosen = &tune->records[tune->engine.chosen];
    bool confirming = is_confirming(tune, tune->engine.chosen);
    if (objective_figure(settings->search.objective, chosen, confirming, settings->runs.confidence_share,
                         ret_figure) < 0)
        return false;
    *ret_ratio = (struct objective_ratio){0};
    if (tune->engine.baseline != ENGINE_NONE)
        *ret_ratio = objective_ratio(chosen, &tune->records[tune->engine.baseline],
                                     confirming && is_confirming(tune, tune->engine.baseline),
                                     settings->runs.confidence_share,
                                     objective_table[settings->search.objective].value);
    return true;
}

struct objective_ratio report_objective_gain(const struct tune *tune)
{
    struct objective_figure figure;
    struct objective_ratio ratio = {0};
    if (!objective_figure_of(tune, &figure, &ratio) || !ratio.has)
        return (struct objective_ratio){0};
    if (objective_table[tune->settings->search.objective].lower)
        return (struct objective_ratio){true, 1 / ratio.mean, {1 / ratio.ci.high, 1 / ratio.ci.low}};
    return ratio;
}

static const char *format(enum objective objective, double value, char text[UNITS_TEXT_SIZE])
{
    if (objective_table[objective].lower)
        return text_short_duration(value, text);
    snprintf(text, UNITS_TEXT_SIZE, "%.*f", value < 1000 ? 1 : 0, value);
    return text;
}

const char *report_objective_baseline(const struct tune *tune)
{
    return tune->baseline_is_default              ? "the default"
           : tune->settings->search.current_given ? "the current setting"
                                                  : "the cheapest setting of the table";
}

void report_objective_text(FILE *out, const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    enum objective objective = settings->search.objective;
    const struct objective_row *row = &objective_table[objective];
    struct objective_figure figure;
    struct objective_ratio ratio;
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (objective == OBJECTIVE_THROUGHPUT || !objective_figure_of(tune, &figure, &ratio))
        return;
    fprintf(out, "\nObjective    %s %s%s%s", row->title, format(objective, figure.mean, mean),
            row->lower ? "" : " ", row->lower ? "" : row->unit);
    if (isfinite(figure.ci.low))
        fprintf(out, "  (%g %% interval %s to %s, %zu replays)", 100 * tune->settings->runs.confidence_share,
                format(objective, figure.ci.low, low), format(objective, figure.ci.high, high), figure.n);
    if (settings->workload.rates.n > 0)
        fprintf(
            out, "\n             while %s were offered, whatever came back (--rate)",
            text_short_rate(objective_offered_bps(settings, &tune->records[tune->engine.chosen].point), low));
    if (ratio.has)
        fprintf(out, "\n             %.2f x that of %s (%.2f to %.2f)%s", ratio.mean,
                report_objective_baseline(tune), ratio.ci.low, ratio.ci.high,
                row->lower ? "; less is better" : "");
}

json_t *report_objective_json_ratio(struct objective_ratio ratio)
{
    return ratio.has ? json_interval(ratio.mean, ratio.ci.low, ratio.ci.high) : json_null();
}

json_t *report_objective_json(const struct tune *tune)
{
    const struct objective_row *row = &objective_table[tune->settings->search.objective];
    struct objective_figure figure;
    struct objective_ratio ratio;
    if (!objective_figure_of(tune, &figure, &ratio))
        return json_null();
    double offered_bps = objective_offered_bps(tune->settings, &tune->records[tune->engine.chosen].point);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:o, s:o*, s:s*}", "name",
                     settings_objective_names[tune->settings->search.objective], "unit", row->unit, "better",
                     row->lower ? "lower" : "higher", "mean", json_number(figure.mean), "ci_low",
                     json_number(figure.ci.low), "ci_high", json_number(figure.ci.high), "replays",
                     (json_int_t)figure.n, "ratio_to_baseline", report_objective_json_ratio(ratio),
                     "offered_bps", offered_bps > 0 ? json_number(offered_bps) : NULL, "process",
                     offered_bps <= 0                             ? NULL
                     : tune->settings->workload.rate_process != 0 ? "poisson"
                                                                  : "linear");
}

void report_objective_note(struct tune *tune)
{
    if (tune->n_unsupported > 0)
        notes_add(
            &tune->session->dropped, "too few requests for a p99",
            "runs of %zu settings are too short for a 99th percentile, so that these settings cannot be "
            "compared; a longer --duration or --budget helps",
            tune->n_unsupported);
}
