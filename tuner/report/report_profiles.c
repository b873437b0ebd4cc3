/* Profiles and front as text and as JSON. */
#include "tuner/report/report_profiles.h"

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/options/settings.h"
#include "tuner/report/report_objective.h"
#include "tuner/search/objective.h"
#include "tuner/search/profiles.h"
#include "tuner/session/json_row.h"
#include "tuner/session/samples.h"

#include <math.h>
#include <stdlib.h>

/* One line for each of the bins and for each profile: twelve at most. */
#define BINS 9

static void print_spread(FILE *out, double mean, double high)
{
    if (isfinite(high))
        fprintf(out, " +- %.1f %%", 100 * (high - mean) / mean);
}

static void print_profile_figures(FILE *out, const struct row *row)
{
    char rate[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE];
    fprintf(out, "%s", text_short_rate(row->mean_bps, rate));
    print_spread(out, row->mean_bps, row->ci_high_bps);
    fprintf(out, ", latency %s", text_short_duration(row->latency_ns.mean, latency));
    print_spread(out, row->latency_ns.mean, row->latency_ns.ci_high);
    fprintf(out, " (%zu replays)", row->replays);
}

static void print_ratios(FILE *out, const struct profiles_verdict *verdict)
{
    if (!verdict->throughput.has || !verdict->latency.has)
        return;
    fprintf(
        out,
        "\n%18s%.2f x the throughput of max-throughput (%.2f to %.2f) at %.3g x its latency (%.3g to %.3g)",
        "", verdict->throughput.mean, verdict->throughput.ci.low, verdict->throughput.ci.high,
        verdict->latency.mean, verdict->latency.ci.low, verdict->latency.ci.high);
}

static void print_evidence(FILE *out, enum profile profile, const struct profiles_verdict *verdict)
{
    fprintf(out,
            "\n%18sno measured setting fits better by more than %s: %.0f %% sure; none is "
            "better in both: %.0f %% sure",
            "", profile == PROFILE_BALANCED ? "twice the tolerance" : "the tolerance",
            floor(100 * verdict->on_top), floor(100 * verdict->on_front));
    if (!verdict->explored)
        fprintf(
            out,
            "\n%18snot explored enough: measured %zu of its %zu neighbours, and %zu settings with figures "
            "like its own",
            "", verdict->n_neighbours_measured, verdict->n_neighbours, verdict->n_near);
}

static void print_profile(FILE *out, const struct tune *tune, enum profile profile)
{
    size_t point = tune->profiles.point[profile];
    const struct profiles_verdict *verdict = &tune->profiles.verdict[profile];
    char text[FACTORS_TEXT_SIZE];
    struct row row;
    if (point == ENGINE_NONE || tune_row(tune, point, verdict->confirming, &row) < 0)
        return;
    fprintf(out, "  %-15s %s%s\n%18s", profiles_names[profile], factors_format(&row.point, text),
            point == tune->engine.chosen ? "  (recommended)" : "", "");
    print_profile_figures(out, &row);
    if (point != tune->profiles.point[PROFILE_MAX_THROUGHPUT])
        print_ratios(out, verdict);
    print_evidence(out, profile, verdict);
    fputc('\n', out);
}

static void print_profiles(FILE *out, const struct tune *tune)
{
    bool acceptance = pattern_writes(&tune->settings->workload.pattern), buffered = false;
    fprintf(out, "\nProfiles (figures from the replays after the choice; the search was for %s)\n",
            tune->settings->search.objective == OBJECTIVE_THROUGHPUT
                ? profiles_names[tune->settings->search.profile]
                : settings_objective_names[tune->settings->search.objective]);
    for (size_t p = 0; p < PROFILE_N; p++) {
        size_t point = tune->profiles.point[p];
        print_profile(out, tune, (enum profile)p);
        buffered = buffered || (point != ENGINE_NONE && tune->records[point].point.direct == 0);
    }
    if (acceptance && buffered)
        fputs("  (latencies of buffered writes are those of acceptance into the page cache, not of "
              "durability)\n",
              out);
}

/* --- the table --- */

static bool is_profile(const struct tune *tune, size_t point)
{
    for (size_t p = 0; p < PROFILE_N; p++) {
        if (tune->profiles.point[p] == point)
            return true;
    }
    return false;
}

/* Of each of the equal bins of log latency the surest point. */
static void choose_lines(const struct tune *tune, bool *ret_printed)
{
    const struct profiles *profiles = &tune->profiles;
    size_t surest[BINS];
    double low = log(profiles->front[0].latency_ns),
           high = log(profiles->front[profiles->n_front - 1].latency_ns);
    for (size_t bin = 0; bin < BINS; bin++)
        surest[bin] = ENGINE_NONE;
    for (size_t i = 0; i < profiles->n_front; i++) {
        double share = high > low ? (log(profiles->front[i].latency_ns) - low) / (high - low) : 0;
        size_t bin = (size_t)fmin(share * BINS, BINS - 1);
        if (surest[bin] == ENGINE_NONE || profiles->front[i].on_front > profiles->front[surest[bin]].on_front)
            surest[bin] = i;
        ret_printed[i] = is_profile(tune, profiles->front[i].point);
    }
    for (size_t bin = 0; bin < BINS; bin++) {
        if (surest[bin] != ENGINE_NONE)
            ret_printed[surest[bin]] = true;
    }
}

static void print_profile_line(FILE *out, const struct tune *tune, const struct profiles_rank *rank)
{
    struct row row;
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE];
    if (tune_row(tune, rank->point, false, &row) < 0)
        return;
    fprintf(out, "  %-38s %10s %10s %8zu %6.0f %%", factors_format(&row.point, text),
            text_short_rate(row.mean_bps, rate), text_short_duration(row.latency_ns.mean, latency),
            row.replays, 100 * rank->on_front);
    const char *separator = "  ";
    for (size_t p = 0; p < PROFILE_N; p++) {
        if (tune->profiles.point[p] != rank->point)
            continue;
        fprintf(out, "%s%s", separator, profiles_names[p]);
        separator = ", ";
    }
    fputc('\n', out);
}

static void print_front(FILE *out, const struct tune *tune)
{
    const struct profiles *profiles = &tune->profiles;
    bool *printed = profiles->n_front > 0 ? calloc(profiles->n_front, sizeof *printed) : NULL;
    if (printed == NULL)
        return;
    choose_lines(tune, printed);
    fprintf(out,
            "\nThroughput against latency: %zu of %zu measured settings that none is proved to beat in both\n"
            "  %-38s %10s %10s %8s %8s\n",
            profiles->n_front, profiles->n_front + profiles->n_dominated, "(all replays)", "throughput",
            "latency", "replays", "sure");
    for (size_t i = 0; i < profiles->n_front; i++) {
        if (printed[i])
            print_profile_line(out, tune, &profiles->front[i]);
    }
    free(printed);
}

void report_profiles_text(FILE *out, const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    if (!tune->profiles.judged)
        return;
    if (settings->search.profiles || settings->search.profile_given)
        print_profiles(out, tune);
    print_front(out, tune);
}

/* --- JSON --- */

static json_t *json_profile(const struct tune *tune, enum profile profile)
{
    size_t point = tune->profiles.point[profile];
    const struct profiles_verdict *verdict = &tune->profiles.verdict[profile];
    struct row row;
    if (point == ENGINE_NONE || tune_row(tune, point, verdict->confirming, &row) < 0)
        return json_null();
    json_t *object = json_row(&row);
    if (object == NULL)
        return NULL;
    json_t *figures = json_pack(
        "{s:b, s:b, s:o, s:o, s:o, s:o, s:b, s:I, s:I, s:I}", "recommended", point == tune->engine.chosen,
        "after_the_choice", verdict->confirming, "probability_fits_best", json_number(verdict->on_top),
        "probability_on_front", json_number(verdict->on_front), "throughput_ratio",
        report_objective_json_ratio(verdict->throughput), "latency_ratio",
        report_objective_json_ratio(verdict->latency), "explored", verdict->explored, "points_near",
        (json_int_t)verdict->n_near, "neighbours", (json_int_t)verdict->n_neighbours, "neighbours_measured",
        (json_int_t)verdict->n_neighbours_measured);
    json_object_update(object, figures);
    json_decref(figures);
    return object;
}

static json_t *json_profiles(const struct tune *tune)
{
    json_t *object = json_object();
    for (size_t p = 0; p < PROFILE_N && object != NULL; p++)
        json_object_set_new(object, profiles_names[p], json_profile(tune, (enum profile)p));
    return object;
}

static json_t *json_names(const struct tune *tune, size_t point)
{
    json_t *list = json_array();
    for (size_t p = 0; p < PROFILE_N && list != NULL; p++) {
        if (tune->profiles.point[p] == point)
            json_array_append_new(list, json_string(profiles_names[p]));
    }
    return list;
}

static json_t *json_front(const struct tune *tune)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tune->profiles.n_front && list != NULL; i++) {
        const struct profiles_rank *rank = &tune->profiles.front[i];
        struct row row;
        if (tune_row(tune, rank->point, false, &row) < 0)
            continue;
        json_t *object = json_row(&row);
        json_object_set_new(object, "probability_on_front", json_number(rank->on_front));
        json_object_set_new(object, "profiles", json_names(tune, rank->point));
        json_array_append_new(list, object);
    }
    return list;
}

void report_profiles_json(json_t *object, const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    bool named = settings->search.objective == OBJECTIVE_THROUGHPUT;
    json_object_set_new(object, "profile",
                        named ? json_string(profiles_names[settings->search.profile]) : json_null());
    if (!profiles_wanted(settings))
        return;
    bool judged = tune->profiles.judged;
    json_object_set_new(object, "profiles", judged ? json_profiles(tune) : json_null());
    json_object_set_new(object, "pareto", judged ? json_front(tune) : json_array());
}
