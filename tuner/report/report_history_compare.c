/* tuner/report/report_history: two nights side by side. */
#include "tuner/report/report_history.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>
#include <string.h>

#define SHOWN_POINTS 20
/* Runs of lengths that differ by more are not alike: a short one sees more of the caches. */
#define UNLIKE_LENGTHS 1.5

static bool same_storage(const struct history_info infos[2])
{
    return strcmp(infos[0].fingerprint, infos[1].fingerprint) == 0;
}

static bool unlike_lengths(const struct history_comparison *comparison)
{
    return fabs(log(comparison->seconds[1] / comparison->seconds[0])) > log(UNLIKE_LENGTHS);
}

static void print_ratio(FILE *out, const struct history_ratio *ratio)
{
    char rates[2][UNITS_TEXT_SIZE];
    fprintf(out, "%11s -> %-11s %+6.1f %%", text_short_rate(ratio->mean_bps[0], rates[0]),
            text_short_rate(ratio->mean_bps[1], rates[1]), 100 * (ratio->ratio - 1));
    if (isnan(ratio->bounds.low))
        fputs("  (no interval: too few replays)", out);
    else
        fprintf(out, "  (%+.1f %% to %+.1f %%)%s", 100 * (ratio->bounds.low - 1),
                100 * (ratio->bounds.high - 1), ratio->changed ? "  changed" : "");
    fputc('\n', out);
}

static void print_warnings(FILE *out, const struct history_info infos[2],
                           const struct history_comparison *comparison)
{
    if (!same_storage(infos))
        fputs("Not the same storage: the fingerprints differ, so a difference may be that of the disks.\n",
              out);
    if (strcmp(infos[0].host, infos[1].host) != 0)
        fputs("Not the same host.\n", out);
    if (unlike_lengths(comparison))
        fprintf(out, "Runs of unlike length (%.2f s and %.2f s on average): ratios may come from that.\n",
                comparison->seconds[0], comparison->seconds[1]);
}

void report_history_compare(FILE *out, const struct history_info infos[2],
                            const struct history_comparison *comparison)
{
    char at[2][REPORT_HISTORY_TIME_SIZE], setting[FACTORS_TEXT_SIZE], conditions[HISTORY_CONDITIONS_SIZE];
    fprintf(out, "Run %lld (%s) -> run %lld (%s)\n", (long long)infos[0].id,
            report_history_time(infos[0].started_s, at[0]), (long long)infos[1].id,
            report_history_time(infos[1].started_s, at[1]));
    print_warnings(out, infos, comparison);
    if (comparison->has_answers) {
        fprintf(out, "\nAnswer       %s", factors_format(&infos[0].point, setting));
        if (!factors_equal(&infos[0].point, &infos[1].point))
            fprintf(out, " -> %s", factors_format(&infos[1].point, setting));
        fputs("\n             ", out);
        print_ratio(out, &comparison->answer);
    }
    fprintf(
        out,
        "\n%zu settings in both, %zu and %zu in one alone; %zu of %zu tested changed (%g %% for all "
        "together)\nRates are geometric means of all replays of a run, those of its search included; list "
        "and show have arithmetic ones.\n",
        comparison->n, comparison->n_only[0], comparison->n_only[1], comparison->n_changed,
        comparison->n_tested, 100 * HISTORY_COMPARE_CONFIDENCE);
    for (size_t i = 0; i < comparison->n && i < SHOWN_POINTS; i++) {
        fprintf(out, "%-34s ", factors_format(&comparison->points[i].point, setting));
        if (comparison->points[i].conditions[0] != '\0')
            fprintf(out, "%s ",
                    text_printable(comparison->points[i].conditions, conditions, sizeof conditions));
        print_ratio(out, &comparison->points[i]);
    }
    if (comparison->n > SHOWN_POINTS)
        fprintf(out, "... and %zu more; --json has all\n", comparison->n - SHOWN_POINTS);
}

static json_t *json_ratio(const struct history_ratio *ratio)
{
    return json_pack("{s:[I, I], s:s, s:[o, o], s:o, s:o, s:o, s:b}", "replays", (json_int_t)ratio->n[0],
                     (json_int_t)ratio->n[1], "kind_of_mean", "geometric", "mean",
                     json_number(ratio->mean_bps[0]), json_number(ratio->mean_bps[1]), "ratio",
                     json_number(ratio->ratio), "ci_low", json_number(ratio->bounds.low), "ci_high",
                     json_number(ratio->bounds.high), "changed", ratio->changed);
}

json_t *report_history_compare_json(const struct history_info infos[2],
                                    const struct history_comparison *comparison)
{
    json_t *points = json_array();
    for (size_t i = 0; i < comparison->n; i++) {
        json_t *object = json_ratio(&comparison->points[i]);
        json_object_set_new(object, "point", json_point(&comparison->points[i].point));
        json_object_set_new(object, "conditions", json_text(comparison->points[i].conditions));
        json_array_append_new(points, object);
    }
    return json_pack(
        "{s:s, s:[o, o], s:b, s:b, s:f, s:I, s:I, s:[I, I], s:o, s:o}", "schema", "fstune/comparison/1",
        "runs", report_history_run_json(&infos[0]), report_history_run_json(&infos[1]), "same_fingerprint",
        same_storage(infos), "unlike_lengths", unlike_lengths(comparison), "confidence",
        HISTORY_COMPARE_CONFIDENCE, "points_tested", (json_int_t)comparison->n_tested, "points_changed",
        (json_int_t)comparison->n_changed, "points_of_one_run", (json_int_t)comparison->n_only[0],
        (json_int_t)comparison->n_only[1], "answer",
        comparison->has_answers ? json_ratio(&comparison->answer) : json_null(), "points", points);
}
