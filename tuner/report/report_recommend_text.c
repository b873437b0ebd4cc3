/* The answer of `recommend` as text that a person can act on. */
#include "bench/base/units.h"
#include "tuner/base/style.h"
#include "tuner/base/text.h"
#include "tuner/base/warnings_table.h"
#include "tuner/report/answer.h"
#include "tuner/report/report_certainty.h"
#include "tuner/report/report_change.h"
#include "tuner/report/report_fio_job.h"
#include "tuner/report/report_importance.h"
#include "tuner/report/report_objective.h"
#include "tuner/report/report_profiles.h"
#include "tuner/report/report_sustained.h"
#include "tuner/report/report_table.h"
#include "tuner/report/report_text.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"

#include <math.h>
#include <string.h>

#define LONGER       1.5  /* times the usual length, from which on a run is called longer */
#define SAME_LOG     0.05 /* of a ratio, at most, for two figures to be called the same */
#define DEAR_LATENCY 2    /* times that of what is changed, from which on it is told */
#define WORDS_SIZE   100
#define WIDEST_TOLD  100 /* times its lower end: what an interval of a ratio may span to be printed */

static const char *const durabilities[SYNC_N] = {
    [SYNC_NONE] = "not made durable",
    [SYNC_END] = "durable at the end of a run",
    [SYNC_EACH] = "each write durable",
};

static void print_point_setting(FILE *out, const struct point *point, bool writing, const char *label)
{
    char size[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE];
    units_format_size(point->request_size_bytes, size);
    units_format_size(factors_write_size_bytes(point), writes);
    fprintf(out, "%-13s%srequest size %s", label, style_text(out, STYLE_BOLD), size);
    if (factors_is_split(point))
        fprintf(out, " of reads and %s of writes", writes);
    fprintf(out, ", queue depth %u, %s, %s", point->queue_depth,
            point->direct ? "direct I/O" : "buffered I/O", api_names[point->api]);
    if (point->threads > 1)
        fprintf(out, ", %u threads", point->threads);
    if (point->clients > 0)
        fprintf(out, ", %u client%s", point->clients, point->clients == 1 ? "" : "s");
    if (writing)
        fprintf(out, ", %s", durabilities[point->sync]);
    fprintf(out, "%s\n             (--request-size %s", style_text(out, STYLE_PLAIN), size);
    if (factors_is_split(point))
        fprintf(out, " --write-request-size %s", writes);
    fprintf(out, " --queue-depth %u --direct %u --api %s --threads %u", point->queue_depth, point->direct,
            api_names[point->api], point->threads);
    if (writing)
        fprintf(out, " --sync %s", sync_names[point->sync]);
    fputs(")\n", out);
}

/* Whether what is in use may be as fast. */
static bool is_in_doubt(const struct objective_ratio *gain)
{
    return gain->has && gain->ci.low <= 1 && gain->ci.high >= 1;
}

/* Whether to change at all stands first, before what to. */
static void print_use(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    char keep[REPORT_CHANGE_SIZE], setting[FACTORS_TEXT_SIZE];
    bool is_kept = tune->engine.chosen == tune->engine.baseline;
    bool is_behind = !tune->engine.conclusive && tune->engine.expected_shortfall > tune->engine.tolerance;
    const char *label = is_kept ? is_behind ? "Keep for now" : "Keep" : is_behind ? "Use for now" : "Use";
    if (report_change_keep(answer, keep)[0] != '\0') {
        fprintf(out, "Keep         %s%s%s\n", style_text(out, STYLE_BOLD), keep,
                style_text(out, STYLE_PLAIN));
        label = "Or use";
    }
    print_point_setting(out, &answer->chosen.point, pattern_writes(&tune->settings->workload.pattern), label);
    if (answer->has_default_setting && tune_is_of_throughput(tune) && is_in_doubt(&answer->default_speedup))
        fprintf(out, "             or the default, %s: the setting above is not shown to be faster\n",
                factors_format(&answer->default_setting.point, setting));
}

/* What a gain costs: a deep queue of large requests makes each of them wait. A buffered write only waits for
 * memory, so that its latency is no measure of a direct one's. */
static void print_price(FILE *out, const struct tune *tune, const char *what, const struct row *row,
                        const struct row *chosen)
{
    char own[UNITS_TEXT_SIZE], other[UNITS_TEXT_SIZE];
    double ratio = chosen->latency_ns.mean / row->latency_ns.mean;
    bool unlike = chosen->point.direct != row->point.direct && chosen->point.sync != SYNC_EACH &&
                  pattern_writes(&tune->settings->workload.pattern);
    if (ratio >= DEAR_LATENCY && !unlike)
        fprintf(out, "             at %.*f x the latency of %s: %s instead of %s\n", ratio < 10, ratio, what,
                text_short_duration(chosen->latency_ns.mean, own),
                text_short_duration(row->latency_ns.mean, other));
}

/* Where rates scatter, means of them and of their logarithms have other ratios: the rates that a gain is of.
 */
static const char *geometric_words(const struct answer *answer, const struct row *row, double gain,
                                   char text[WORDS_SIZE])
{
    const struct tune *tune = answer->tune;
    size_t chosen = tune->engine.chosen, other = tune_find_point(tune, &row->point);
    char of_chosen[UNITS_TEXT_SIZE], of_other[UNITS_TEXT_SIZE];
    text[0] = '\0';
    if (fabs(log(gain * row->mean_bps / answer->chosen.mean_bps)) <= SAME_LOG || other == ENGINE_NONE)
        return text;
    bool fresh = answer_takes_fresh(tune, other);
    double log_chosen = record_log_moments(&tune->records[chosen], fresh).mean;
    double log_other = record_log_moments(&tune->records[other], fresh).mean;
    snprintf(text, WORDS_SIZE, ", of geometric means: %s and %s", text_short_rate(exp(log_chosen), of_chosen),
             text_short_rate(exp(log_other), of_other));
    return text;
}

/* Of throughput, which is a gain only where that is looked for. */
static void print_gain(FILE *out, const char *what, const struct row *row, struct objective_ratio gain,
                       const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    double confidence = tune->settings->runs.confidence_share;
    const char *label = tune_is_of_throughput(tune) ? "Gain" : "Rate";
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], words[WORDS_SIZE];
    int digits = gain.mean < 10 ? 2 : gain.mean < 100 ? 1 : 0;
    fprintf(out, "%-13s%.*f x %s, %s at %s  (%g %% interval ", label, digits, gain.mean, what,
            factors_format(&row->point, text), text_short_rate(row->mean_bps, rate), confidence * 100);
    if (gain.ci.high > WIDEST_TOLD * gain.ci.low)
        fprintf(out, "wider than %d x: too few runs)\n", WIDEST_TOLD);
    else
        fprintf(out, "%.*f to %.*f%s)\n", digits, gain.ci.low, digits, gain.ci.high,
                geometric_words(answer, row, gain.mean, words));
    if (is_in_doubt(&gain) && tune_is_of_throughput(tune) && row == &answer->unsplit)
        fputs("             It is not shown to be faster than that.\n", out);
    print_price(out, tune, what, row, &answer->chosen);
}

/* Whether so many requests, none of which is over a limit, show that its share is at most a hundredth. */
static bool shows_p99(uint64_t n, double confidence)
{
    return pow(0.99, (double)n) <= 1 - confidence;
}

/* What is known of the p99 beside its limit. */
static void print_kept(FILE *out, const struct tune *tune, const struct latency_row *latency)
{
    double limit_ns = (double)tune->settings->search.max_latency_p99_ns, high_ns = latency->p99_ci.high;
    bool likely = engine_feasible(&tune->engine, tune->engine.chosen) > 0.5;
    const char *doubt = !likely                   ? "not shown to be kept"
                        : latency->p99 > limit_ns ? "not in these replays, by all runs probably kept"
                                                  : "probably kept";
    const unsigned long long n = latency->n;
    char high[UNITS_TEXT_SIZE], slowest[UNITS_TEXT_SIZE];
    text_short_duration(high_ns, high);
    text_short_duration(latency->max, slowest);
    if (latency->max <= limit_ns)
        fprintf(out, "%s: even the slowest of the replays' %llu requests took %s",
                shows_p99(n, tune->settings->runs.confidence_share) ? "kept" : doubt, n, slowest);
    else if (!isfinite(high_ns))
        fprintf(out, "%s; the requests are too few to be sure", doubt);
    else if (high_ns >= latency->max)
        fprintf(out, "%s; at most %s, the slowest of the replays' %llu requests", doubt, slowest, n);
    else if (high_ns <= limit_ns)
        fprintf(out, "kept, it is at most %s", high);
    else
        fprintf(out, "%s, it may be up to %s", doubt, high);
}

/* What --max-latency-p99 asked for, beside what it was. The flush at the end is not limited. */
static void print_limit(FILE *out, const struct answer *answer)
{
    const struct settings *settings = answer->tune->settings;
    uint64_t limit_ns = settings->search.max_latency_p99_ns;
    char limit[UNITS_TEXT_SIZE];
    if (limit_ns == 0)
        return;
    fprintf(out, "Limit        p99 at most %s (--max-latency-p99): ",
            text_short_duration((double)limit_ns, limit));
    print_kept(out, answer->tune, &answer->chosen.latency_ns);
    bool flushes = answer->chosen.point.sync == SYNC_END && pattern_writes(&settings->workload.pattern);
    fputs(flushes ? ", without the flush\n" : "\n", out);
}

static void print_gains(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    const char *name = report_objective_baseline(tune);
    char promises[REPORT_CHANGE_SIZE];
    if (tune->engine.chosen == tune->engine.baseline)
        fprintf(out, "Gain         none: this is %s\n", name);
    else if (answer->speedup.has)
        print_gain(out, name, &answer->baseline, answer->speedup, answer);
    else
        fprintf(out, "Gain         unknown: %s could not be measured often enough\n", name);
    if (answer->default_speedup.has)
        print_gain(out, "the default", &answer->default_setting, answer->default_speedup, answer);
    if (answer->has_unsplit && tune->split_gain.has && tune->engine.chosen == tune->split)
        print_gain(out, "one size for reads and writes", &answer->unsplit, tune->split_gain, answer);
    if (report_change_promises(answer, promises)[0] != '\0')
        fprintf(out, "             Not alike: %s.\n", promises);
}

/* "3.6 x the latency", "224 x", or "the same latency". */
static void print_multiple(FILE *out, double ratio, const char *what)
{
    if (fabs(log(ratio)) < SAME_LOG)
        fprintf(out, "the same %s", what);
    else
        fprintf(out, ratio < 10 ? "%.2g x the %s" : "%.0f x the %s", ratio, what);
}

/* The replays after the choice may show a greater loss than the choice was made for. */
static const char *loss_words(const struct answer *answer)
{
    if (answer->tune->engine.is_proved)
        return "are shown to lose";
    double kept = answer_share(answer->tune, answer->tune->engine.chosen);
    return kept < 1 - answer->tune->settings->search.tolerance_share ? "were expected, at the choice, to lose"
                                                                     : "are expected to lose";
}

/* By the figures in the table; of writes, only latencies of what both wait for can be compared. */
static void print_costs(FILE *out, const struct tune *tune, const struct row *best, const struct row *chosen)
{
    double bytes =
        (double)factors_bytes_in_flight(&best->point) / (double)factors_bytes_in_flight(&chosen->point);
    bool alike =
        best->point.direct == chosen->point.direct || !pattern_writes(&tune->settings->workload.pattern);
    if (alike && !objective_table[tune->settings->search.objective].lower) {
        print_multiple(out, best->latency_ns.mean / chosen->latency_ns.mean, "latency");
        fputs(" and ", out);
    }
    print_multiple(out, bytes, "bytes in flight");
    if (best->replays < ENGINE_MIN_REPLAYS)
        fprintf(out, "; seen in %zu run%s", best->replays, best->replays == 1 ? "" : "s");
    fputc('\n', out);
}

/* False: the recommended setting took no other's place. */
static bool print_surpassed(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    char text[FACTORS_TEXT_SIZE];
    if (tune->engine.surpassed == ENGINE_NONE)
        return false;
    const struct point *before = &tune->records[tune->engine.surpassed].point;
    bool is_cheaper = factors_bytes_in_flight(&answer->chosen.point) < factors_bytes_in_flight(before);
    fprintf(out, "             The recommended setting took the place of %s at the end: it %s.\n",
            factors_format(before, text),
            is_cheaper ? "has less in flight and looked no worse" : "looked better");
    return true;
}

/* The fastest setting and what it costs, where the recommended one is slower. */
static void print_fastest(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    char text[FACTORS_TEXT_SIZE], more[REPORT_MORE_SIZE];
    bool rates = tune_is_of_throughput(tune);
    if (tune->engine.best == tune->engine.chosen) {
        if (rates)
            report_certainty_fastest(out, answer);
        print_surpassed(out, answer);
        return;
    }
    fprintf(out, "%-13s", rates ? "Fastest" : "Best");
    factors_format(&answer->best.point, text);
    if (strncmp(report_table_more(tune, more), "no ", 3) == 0)
        fprintf(out, "%s; the search's estimate is best for %s, at ",
                answer_best_is_slower(tune) ? "the recommended one in the replays after the choice"
                : rates                     ? "none is shown to be faster"
                                            : "none is shown to be better",
                text);
    else
        fprintf(out, "%s: %s, at ", text, more);
    print_costs(out, tune, &answer->best, &answer->chosen);
    if (print_surpassed(out, answer))
        return;
    if (answer->best.replays < ENGINE_MIN_REPLAYS &&
        factors_bytes_in_flight(&answer->best.point) <= factors_bytes_in_flight(&answer->chosen.point)) {
        fputs("             It has too few runs to be recommended; a larger --budget makes more.\n", out);
        return;
    }
    if (tune->engine.chosen_at_ceiling)
        fputs("             Of the settings that seem to reach the limit on the rate", out);
    else
        fprintf(out, "             Of the settings that %s at most %.3g %% against it (--tolerance)",
                loss_words(answer), 100 * answer_tolerance_share(tune));
    fputs(", the one with the least in flight, then the simplest, is recommended.\n", out);
    if (!tune->engine.is_proved && !tune->engine.chosen_at_ceiling)
        fputs("             Few or scattered runs make the expected loss of a setting larger.\n", out);
}

static void print_method(FILE *out, const struct tune *tune)
{
    const struct belief *belief = &tune->engine.belief;
    bool own = tune->engine.search == &search_random || tune->engine.search == &search_grid ||
               belief->chosen == NULL;
    const char *words = belief->surrogate == &surrogate_gp ? "Gaussian process" : "stiff Gaussian process";
    fputs(own ? tune->engine.search->name : words, out);
}

/* "50 ms", or "20 ms to 1.2 s": slow settings need longer runs, and a run of buffered writes may end earlier,
 * with its bytes. */
static void print_lengths(FILE *out, const struct tune *tune)
{
    char text[UNITS_TEXT_SIZE];
    double planned = (double)tune->duration_ns, shortest = planned, longest = planned;
    for (size_t i = 0; i < tune->n_records; i++) {
        const struct engine_point *point = &tune->engine.points[i];
        longest = fmax(longest, point->last_seconds * 1e9);
        if (point->last_seconds > 0 && !point->is_cut)
            shortest = fmin(shortest, point->last_seconds * 1e9);
    }
    if (LONGER * shortest > planned)
        shortest = planned;
    fputs(text_short_duration(shortest, text), out);
    if (longest > LONGER * shortest)
        fprintf(out, " to %s", text_short_duration(longest, text));
}

static size_t count_measured(const struct tune *tune, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin; i < end; i++)
        n += tune->records[i].n > 0;
    return n;
}

static void print_search(FILE *out, const struct tune *tune)
{
    const struct session *session = tune->session;
    size_t measured = count_measured(tune, 0, tune->space.n_points);
    size_t outside = count_measured(tune, tune->space.n_points, tune->n_records), n_compared = 0;
    fprintf(out, "\nSearch       %zu of %zu settings", measured, tune->space.n_points);
    if (outside > 0)
        fprintf(out, " and %zu beside them", outside);
    fprintf(out, " in %llu runs of ", (unsigned long long)session->n_runs);
    print_lengths(out, tune);
    for (size_t i = tune->space.n_points; i < tune->n_records; i++)
        n_compared += tune->records[i].n;
    n_compared += tune->engine.belief.n_told;
    if (n_compared < session->n_runs)
        fprintf(out, ", %zu of them compared", n_compared);
    fprintf(out, ", %.1f s; stopped because %s\n", session_seconds(session),
            tune_stop_text[tune->engine.stop]);
    if (tune->settings->verbose) {
        fputs("             ", out);
        print_method(out, tune);
        fprintf(out, "\n             run-to-run scatter %.1f %%; seed %llu\n",
                100 * sqrt(tune->engine.belief.noise.variance), (unsigned long long)session->seed);
    }
    fputs("Traffic      ", out);
    text_traffic(out, session);
    fputc('\n', out);
    prior_text(out, tune);
    resume_text(out, session, tune->engine.stop == ENGINE_STOP_INTERRUPTED);
}

static bool is_disturbance(const char *code)
{
    enum warning warning = warnings_find(code);
    return (warning < WARNING_N && warnings_table[warning].passes) || strcmp(code, "rate_changed") == 0 ||
           strcmp(code, "rate_pulses") == 0;
}

/* What may make the figures above unlike those of another day; its text stands further down. */
static void print_disturbed(FILE *out, const struct tune *tune)
{
    const struct notes *warnings = &tune->session->warnings;
    const char *separator = "Disturbed    ";
    for (size_t i = 0; i < warnings->n; i++) {
        if (!is_disturbance(warnings->note[i].code))
            continue;
        fprintf(out, "%s%s", separator, warnings->note[i].code);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs(": see Worth knowing\n", out);
}

static void print_answer(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    print_use(out, answer);
    print_fastest(out, answer);
    report_objective_text(out, tune);
    fputs("\nThroughput   ", out);
    text_rate(out, &answer->chosen, tune->settings->runs.confidence_share);
    fputc('\n', out);
    if (answer->has_sustained)
        report_sustained_levels(out, &answer->sustained.levels, answer->chosen.mean_bps);
    report_certainty_limit(out, tune);
    fprintf(out, "Latency      %s",
            text_latency_scope(&answer->chosen.point, &tune->settings->workload.pattern));
    text_latency(out, &answer->chosen.latency_ns);
    fputc('\n', out);
    print_limit(out, answer);
    if (answer->has_sustained)
        report_sustained_text(out, tune->session, &answer->sustained, &answer->chosen.point);
    print_gains(out, answer);
    report_change_print(out, answer);
    report_certainty_text(out, tune);
    print_disturbed(out, tune);
    report_importance_text(out, tune);
    text_asked(out, tune->settings);
}

/* Made from the document, as `fstune emit` would make it from a file. */
static void print_snippet(FILE *out, const struct answer *answer)
{
    json_t *document = report_recommendation_document(answer);
    const json_t *snippet = json_object_get(document, "snippet");
    const char *text = json_string_value(json_object_get(snippet, "text"));
    const char *why = json_string_value(json_object_get(snippet, "why"));
    const json_t *remarks = json_object_get(snippet, "remarks");
    if (text != NULL)
        fprintf(out, "\nFor %s:\n\n%s", answer->tune->settings->snippet.format, text);
    else if (why != NULL)
        fprintf(out, "\nNothing for %s: %s\n", answer->tune->settings->snippet.format, why);
    for (size_t i = 0; i < json_array_size(remarks); i++)
        fprintf(out, "  %s\n", json_string_value(json_array_get(remarks, i)));
    json_decref(document);
}

/* What was left out while it was measured, such as a setting whose run failed, is always told; the rest stood
 * there before the first run. */
static void print_left_out(FILE *out, const struct tune *tune)
{
    const struct notes *dropped = &tune->session->dropped;
    struct notes during = {0};
    size_t standing = tune->n_standing < dropped->n ? tune->n_standing : dropped->n;
    for (size_t i = standing; i < dropped->n; i++)
        during.note[during.n++] = dropped->note[i];
    if (tune->settings->verbose)
        text_notes(out, "Not in the space", dropped, true);
    else
        text_notes(out, "Left out during the search", &during, true);
    if (!tune->settings->verbose && standing > 0)
        fprintf(out, "\nOther settings cannot run here, for %zu reason%s; --verbose lists %s.\n", standing,
                standing == 1 ? "" : "s", standing == 1 ? "it" : "them");
}

/* Whether the recommended setting is compared with one that cannot be trusted for this. */
static bool is_of_compared(const struct answer *answer, const char *code)
{
    uint64_t of_compared = (answer->has_baseline ? answer->baseline.disqualifying : 0) |
                           (answer->has_default_setting ? answer->default_setting.disqualifying : 0);
    enum warning warning = warnings_find(code);
    return warning == WARNING_N || (of_compared & WARNINGS_BIT(warning)) != 0;
}

/* What cannot be trusted is not recommended: of settings that stand in the table alone it says nothing
 * against what is. */
static void print_notes(FILE *out, const struct answer *answer)
{
    struct notes notes = answer->tune->session->warnings;
    for (size_t i = 0; i < notes.n; i++)
        notes.note[i].disqualifying =
            notes.note[i].disqualifying && (!answer->has_rows || is_of_compared(answer, notes.note[i].code));
    text_notes(out, "Worth knowing", &notes, true);
}

int report_recommendation_text(FILE *out, const struct answer *answer, struct err *err)
{
    const struct tune *tune = answer->tune;
    fprintf(out, "%s on ", tune->settings->workload.pattern.name);
    text_place(out, tune->session);
    text_subject(out, tune->session);
    fputs(answer->interrupted ? "  (interrupted)\n\n" : "\n\n", out);
    if (answer->has_rows)
        print_answer(out, answer);
    else
        fprintf(out, "No recommendation: %s\n", answer->reason != NULL ? answer->reason : "no figures");
    if (isfinite(tune_lowest_p99_ns(tune)) && !answer->has_rows) {
        char text[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
        fprintf(out, "             The lowest p99 of a measured setting was %s; asked for is at most %s.\n",
                text_short_duration(tune_lowest_p99_ns(tune), text),
                text_short_duration((double)tune->settings->search.max_latency_p99_ns, limit));
    }
    report_profiles_text(out, tune);
    for (size_t i = 0; i < answer->n_parts; i++)
        answer->parts[i].print(out, answer->parts[i].context);
    int result = tune->n_records > 0 ? report_table_text(out, answer, err) : 0;
    if (result < 0)
        return result;
    if (tune->n_records > 0)
        print_search(out, tune);
    print_notes(out, answer);
    print_left_out(out, tune);
    if (tune->settings->runs.fio_job && answer->has_rows)
        report_fio_job_text(out, tune->session, &answer->chosen, (double)tune->duration_ns / 1e9);
    if (tune->settings->snippet.format[0] != '\0' && answer->has_rows)
        print_snippet(out, answer);
    return text_finish(out, err);
}
