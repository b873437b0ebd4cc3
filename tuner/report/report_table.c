/* The answer of `recommend` as tables. */
#include "tuner/report/report_table.h"

#include "bench/base/units.h"
#include "tuner/base/csv.h"
#include "tuner/base/style.h"
#include "tuner/base/text.h"
#include "tuner/report/report_certainty.h"
#include "tuner/report/report_change.h"
#include "tuner/report/report_text.h"

#include <errno.h>
#include <float.h>
#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS        10
#define OTHER_TIME       ", other time"
#define OTHER_TIME_WORDS "the disk went at another rate while this one was measured"
#define WORDS_SIZE       (REPORT_STANDING_SIZE + sizeof OTHER_TIME)
#define BLOCK            1e6 /* more than any two logarithms of rates or latencies differ by */

/* The table has blocks: what may be the answer, what has too few runs to tell, what is slower, and what is
 * over a limit or may be. */
static int block_of(const struct tune *tune, size_t i)
{
    if (!engine_keeps_limit(&tune->engine, i))
        return 3;
    if (i == tune->engine.chosen || i == tune->engine.best || tune->engine.best == ENGINE_NONE)
        return 0;
    if (i >= tune->space.n_points || tune->engine.verdicts[i] == VERDICT_WORSE)
        return 2;
    return tune->records[i].n < ENGINE_MIN_REPLAYS;
}

/* Ascending in the table. */
static double place_of(const struct tune *tune, size_t i)
{
    double worth = answer_worth(tune, i);
    if (tune->records[i].n == 0)
        return INFINITY;
    return isfinite(worth) ? BLOCK * block_of(tune, i) - worth : DBL_MAX;
}

int report_table_order(const struct tune *tune, size_t **ret_order, size_t *ret_n, struct err *err)
{
    double *value = calloc(tune->n_records + 1, sizeof *value);
    *ret_order = calloc(tune->n_records + 1, sizeof **ret_order);
    *ret_n = 0;
    for (size_t i = 0; i < tune->n_records && value != NULL; i++) {
        *ret_n += tune->records[i].n > 0;
        value[i] = place_of(tune, i);
    }
    if (value != NULL && *ret_order != NULL)
        gsl_sort_index(*ret_order, value, 1, tune->n_records);
    free(value);
    return value != NULL && *ret_order != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the table");
}

const char *report_table_more(const struct tune *tune, char text[REPORT_MORE_SIZE])
{
    const struct objective_row *row = &objective_table[tune->settings->search.objective];
    bool profile = tune->settings->search.profile != PROFILE_MAX_THROUGHPUT;
    double share = answer_share(tune, tune->engine.chosen);
    double more = 100 * (row->lower ? 1 - share : 1 / share - 1);
    const char *by =
        answer_is_fresh(tune, tune->engine.chosen) ? "in the replays" : "by the search's estimate";
    if (more < 100 * ANSWER_LEAST_MORE)
        snprintf(text, REPORT_MORE_SIZE, "no %s %s", tune_is_of_throughput(tune) ? "faster" : "better", by);
    else
        snprintf(text, REPORT_MORE_SIZE, "%.0f %% %s %s", more, profile ? "better" : row->more, by);
    return text;
}

/* The surrogate may know better than a setting's own replays, which the verdict is of: no row says both. */
static bool figures_agree(const struct tune *tune, size_t i)
{
    return !(answer_share(tune, i) < 1 - answer_tolerance_share(tune));
}

/* Why a point is none of those that are compared; NULL where it is. */
static const char *reason_against(const struct tune *tune, size_t i)
{
    if (tune->records[i].failed != 0)
        return "failed";
    if (tune_distrust(tune, i) != 0)
        return "not trusted";
    if (!engine_keeps_limit(&tune->engine, i))
        return engine_misses_limit(&tune->engine, i)            ? "over limit"
               : tune->settings->search.max_latency_p99_ns != 0 ? "may be over limit"
                                                                : "cost not known";
    if (i < tune->space.n_points && tune->engine.best != ENGINE_NONE && !engine_is_eligible(&tune->engine, i))
        return "not compared";
    return NULL;
}

/* What a point that is compared is, beside the best. */
static const char *verdict_word(const struct tune *tune, size_t i)
{
    bool agree = figures_agree(tune, i), rates = tune_is_of_throughput(tune);
    if (tune->engine.verdicts[i] == VERDICT_EQUIVALENT)
        return agree ? "as good" : "may be as good";
    if (tune->engine.verdicts[i] == VERDICT_UNDECIDED && tune->records[i].n < ENGINE_MIN_REPLAYS)
        return "few runs";
    if (tune->engine.verdicts[i] == VERDICT_UNDECIDED)
        return agree ? "may be as good" : rates ? "probably slower" : "probably worse";
    return rates ? "slower" : "worse";
}

/* "default", "current, slower", "cheapest, over limit" */
static void baseline_standing(const struct tune *tune, size_t i, char text[REPORT_STANDING_SIZE])
{
    const char *name = tune->baseline_is_default              ? "default"
                       : tune->settings->search.current_given ? "current"
                                                              : "cheapest";
    const char *word = reason_against(tune, i);
    bool compared = i < tune->space.n_points && tune->engine.best != ENGINE_NONE;
    if (word == NULL && compared && tune->engine.verdicts[i] == VERDICT_WORSE)
        word = verdict_word(tune, i);
    snprintf(text, REPORT_STANDING_SIZE, "%s%s%s", name, word != NULL ? ", " : "", word != NULL ? word : "");
}

const char *report_table_standing(const struct tune *tune, size_t i, char text[REPORT_STANDING_SIZE])
{
    const char *best = answer_best_is_slower(tune)   ? "expected fastest"
                       : tune_is_of_throughput(tune) ? "fastest"
                                                     : "best";
    const char *word = i == tune->engine.chosen     ? "recommended"
                       : i == tune->engine.best     ? best
                       : i != tune->engine.baseline ? reason_against(tune, i)
                                                    : NULL;
    if (i == tune->engine.chosen && i < tune->space.n_points && !figures_agree(tune, i) &&
        tune->engine.verdicts[i] != VERDICT_EQUIVALENT && tune->records[i].n >= ENGINE_MIN_REPLAYS)
        snprintf(text, REPORT_STANDING_SIZE, "recommended, %s", verdict_word(tune, i));
    else if (word == NULL && i == tune->engine.baseline)
        baseline_standing(tune, i, text);
    else if (word == NULL && (i >= tune->space.n_points || tune->engine.best == ENGINE_NONE))
        snprintf(text, REPORT_STANDING_SIZE, "%s", i == tune->engine.default_setting ? "default" : "");
    else
        snprintf(text, REPORT_STANDING_SIZE, "%s", word != NULL ? word : verdict_word(tune, i));
    return text;
}

/* Only of what is compared: one run may have been lucky, and what is over a limit is no rival. */
static void print_of_best(FILE *out, const struct tune *tune, size_t i, const char *standing)
{
    double percent = answer_percent(tune, i);
    if (isfinite(percent) && strcmp(standing, "few runs") != 0 && engine_keeps_limit(&tune->engine, i))
        fprintf(out, " %11.0f %%", percent);
    else
        fprintf(out, " %13s", "-");
}

/* Whether the p99 decides between settings. */
static bool shows_p99(const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    return settings->search.max_latency_p99_ns != 0 || settings->search.objective == OBJECTIVE_P99;
}

/* Of too few requests for a p99, enough may have taken too long to show that it is over the limit. */
static const char *p99_text(const struct tune *tune, size_t i, double p99_ns, char text[UNITS_TEXT_SIZE])
{
    char limit[UNITS_TEXT_SIZE];
    if (isfinite(p99_ns) || !engine_misses_limit(&tune->engine, i))
        return text_short_duration(p99_ns, text);
    snprintf(text, UNITS_TEXT_SIZE, "> %s",
             text_short_duration((double)tune->settings->search.max_latency_p99_ns, limit));
    return text;
}

/* The standing, and what makes the rate beside it one of its own. */
static const char *words_of(const struct answer *answer, size_t i, const struct row *row,
                            char text[WORDS_SIZE])
{
    char standing[REPORT_STANDING_SIZE];
    snprintf(text, WORDS_SIZE, "%s%s", report_table_standing(answer->tune, i, standing),
             answer_is_of_another_time(answer, i, row) ? OTHER_TIME : "");
    return text;
}

/* Returns whether it was measured at another time. */
static bool print_point_line(FILE *out, const struct answer *answer, size_t i)
{
    const struct tune *tune = answer->tune;
    struct row row;
    char text[FACTORS_TEXT_SIZE], mean[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE],
        spread[UNITS_TEXT_SIZE] = "-", standing[REPORT_STANDING_SIZE], words[WORDS_SIZE];
    if (answer_row(answer, i, &row) < 0)
        return false;
    report_table_standing(tune, i, standing);
    double half = 100 * (row.ci_high_bps - row.mean_bps) / row.mean_bps;
    if (half <= 100)
        snprintf(spread, sizeof spread, "+- %.1f %%", half);
    else if (isfinite(half))
        snprintf(spread, sizeof spread, "over 100 %%");
    bool is_out = tune_distrust(tune, i) != 0 || engine_misses_limit(&tune->engine, i);
    fprintf(out, "%s  %-38s %10s %11s %10s", is_out ? style_text(out, STYLE_DIM) : "",
            factors_format(&row.point, text), text_short_rate(row.mean_bps, mean), spread,
            text_short_duration(row.latency_ns.mean, latency));
    if (shows_p99(tune))
        fprintf(out, " %10s", p99_text(tune, i, row.latency_ns.p99, p99));
    print_of_best(out, tune, i, standing);
    fprintf(out, " %8zu  %s%s\n", row.replays, words_of(answer, i, &row, words),
            is_out ? style_text(out, STYLE_PLAIN) : "");
    return answer_is_of_another_time(answer, i, &row);
}

static bool shows_pool(const struct tune *tune, const size_t *shown, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (tune->records[shown[k]].point.api == API_POOL)
            return true;
    }
    return false;
}

static bool shows_unflushed_writes(const struct tune *tune, const size_t *shown, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (text_latency_scope(&tune->records[shown[k]].point, &tune->settings->workload.pattern)[0] != '\0')
            return true;
    }
    return false;
}

static bool has_standing(const struct tune *tune, const size_t *shown, size_t n, const char *standing)
{
    char text[REPORT_STANDING_SIZE];
    for (size_t k = 0; k < n; k++) {
        const char *last = strrchr(report_table_standing(tune, shown[k], text), ',');
        if (strcmp(last != NULL ? last + 2 : text, standing) == 0) /* "default, slower" */
            return true;
    }
    return false;
}

/* What the words of the shown rows mean, of those that are not plain. */
static void print_words(FILE *out, const struct tune *tune, const size_t *shown, size_t n)
{
    const struct settings_search *search = &tune->settings->search;
    bool rates = tune_is_of_throughput(tune);
    const char *best = rates ? "fastest" : "best", *not_yet = ", which its own runs do not show yet";
    char tolerance[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    snprintf(tolerance, sizeof tolerance, "%.3g %% against the %s", 100 * answer_tolerance_share(tune), best);
    text_short_duration((double)search->max_latency_p99_ns, limit);
    const struct {
        const char *word, *before, *figure, *after;
    } words[] = {
        {"as good", "shown to lose at most ", tolerance, ""},
        {"may be as good", "it looks as if it lost at most ", tolerance, not_yet},
        {rates ? "probably slower" : "probably worse", "it looks as if it lost more than ", tolerance,
         not_yet},
        {rates ? "slower" : "worse", "shown to lose more than ", tolerance,
         "; where it is far behind, one run shows that"},
        {"few runs", "fewer than 3, which may have been lucky", "", ""},
        {"expected fastest", "by the search's estimate, and not in the replays after the choice", "", ""},
        {"over limit", "more than a hundredth of the requests take longer than ", limit,
         " (--max-latency-p99)"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (has_standing(tune, shown, n, words[i].word))
            fprintf(out, "   %s: %s%s%s.\n", words[i].word, words[i].before, words[i].figure, words[i].after);
    }
}

_Static_assert(ENGINE_MIN_REPLAYS == 3, "as the words say");

static void print_of_best_words(FILE *out, const struct tune *tune)
{
    const struct settings_search *search = &tune->settings->search;
    bool lower = objective_table[search->objective].lower;
    fprintf(out, "   est. of best: %s, %sestimated from %s, so that the %s beside it may have another ratio",
            search->profile != PROFILE_MAX_THROUGHPUT ? "the profile's score as a share of the best's"
            : lower                                   ? "the best's as a share of this one's"
            : search->objective == OBJECTIVE_IOPS     ? "the requests a second as a share of the fastest's"
                                                      : "the rate as a share of the fastest's",
            answer_is_fresh(tune, tune->engine.chosen) ? "by those replays; else " : "",
            tune->engine.belief.chosen != NULL ? "the runs of all settings" : "all its runs",
            lower ? "latencies" : "rates");
}

static void print_legend(FILE *out, const struct tune *tune, const size_t *shown, size_t n, bool other_time)
{
    bool fresh = record_count(&tune->records[tune->engine.chosen], true) >= ENGINE_MIN_REPLAYS;
    fputs(fresh ? "  (Settings that are named above stand here with only the replays after the choice.\n"
          : tune->engine.surpassed != ENGINE_NONE
              ? "  (All replays count: those after the choice were of a setting that was given up.\n"
              : "  (All replays count: too few could be made after the choice.\n",
          out);
    print_words(out, tune, shown, n);
    if (other_time)
        fputs("   other time: " OTHER_TIME_WORDS "; est. of best allows for it.\n", out);
    if (shows_unflushed_writes(tune, shown, n))
        fputs("   latency of writes: without the flush at the end; of buffered ones into the page cache.\n",
              out);
    if (shows_p99(tune))
        fputs("   p99: - where the requests are too few to tell, or the runs differ too much.\n", out);
    print_of_best_words(out, tune);
    fputs(shows_pool(tune, shown, n)
              ? ".\n   pool: psync from as many helper threads as the queue is deep.)\n"
              : ".)\n",
          out);
}

int report_table_text(FILE *out, const struct answer *answer, struct err *err)
{
    const struct tune *tune = answer->tune;
    size_t *order, n, n_shown = 0;
    bool other_time = false;
    int result = report_table_order(tune, &order, &n, err);
    if (result == 0)
        fprintf(out,
                "\nMeasured: size x depth                     throughput    interval    latency%s  "
                "est. of best  replays\n",
                shows_p99(tune) ? "        p99" : "");
    for (size_t k = 0; k < n && result == 0; k++) {
        bool named = order[k] == tune->engine.chosen || order[k] == tune->engine.best ||
                     order[k] == tune->engine.baseline;
        if (k >= MOST_ROWS && !named)
            continue;
        other_time |= print_point_line(out, answer, order[k]);
        order[n_shown++] = order[k];
    }
    if (result == 0 && tune->engine.best != ENGINE_NONE)
        print_legend(out, tune, order, n_shown, other_time);
    free(order);
    return result;
}

static const char *role_of(const struct tune *tune, size_t i)
{
    if (i == tune->engine.chosen)
        return i == tune->engine.best ? "recommended best" : "recommended";
    return i == tune->engine.best ? "best" : i == tune->engine.baseline ? "baseline" : "";
}

static void put_csv_row(FILE *out, const struct row *row, const char *role)
{
    const struct point *point = &row->point;
    const struct latency_row *latency = &row->latency_ns;
    const double figures[] = {row->mean_bps,        row->ci_low_bps, row->ci_high_bps,    row->std_bps,
                              (double)row->replays, row->iops,       row->achieved_depth, latency->mean,
                              latency->p50,         latency->p99,    latency->p999,       latency->max};
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%s",
            point->request_size_bytes, factors_write_size_bytes(point), point->queue_depth, point->direct,
            api_names[point->api], point->threads, sync_names[point->sync]);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        fputc(',', out);
        csv_number(out, figures[i]);
    }
    fprintf(out, ",%s,", role);
    text_codes(out, row->warning_set);
    fputc(',', out);
    text_codes(out, row->disqualifying);
    fputs(CSV_END, out);
}

int report_table_csv(FILE *out, const struct answer *answer, struct err *err)
{
    const struct tune *tune = answer->tune;
    size_t *order, n;
    int result = report_table_order(tune, &order, &n, err);
    fputs(
        "request_size,write_request_size,queue_depth,direct,api,threads,sync,mean_bps,ci_low_bps,ci_high_bps,"
        "std_bps,replays,iops,achieved_depth,latency_mean_ns,latency_p50_ns,latency_p99_ns,latency_p999_ns,"
        "latency_max_ns,role,warnings,disqualified_by" CSV_END,
        out);
    for (size_t k = 0; k < n && result == 0; k++) {
        struct row row;
        result = tune_row(tune, order[k], false, &row);
        if (result == 0)
            put_csv_row(out, &row, role_of(tune, order[k]));
        else
            err_set(err, result, "no memory for the table");
    }
    free(order);
    return result < 0 ? result : text_finish(out, err);
}

static void put_use(FILE *out, const struct point *point, bool writing, const char *label)
{
    char size[UNITS_TEXT_SIZE];
    fprintf(out, "- **%s**: `--request-size %s", label, units_format_size(point->request_size_bytes, size));
    if (factors_is_split(point))
        fprintf(out, " --write-request-size %s", units_format_size(point->write_size_bytes, size));
    fprintf(out, " --queue-depth %" PRIu32 " --direct %" PRIu32 " --api %s --threads %" PRIu32,
            point->queue_depth, point->direct, api_names[point->api], point->threads);
    if (writing)
        fprintf(out, " --sync %s", sync_names[point->sync]);
    fputs("`\n", out);
}

static void put_sureness(FILE *out, const struct tune *tune)
{
    fputs("- **How sure**: ", out);
    report_certainty_line(out, tune);
    fputs(tune->engine.conclusive ? "\n" : "; not conclusive\n", out);
}

static void put_fastest(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], more[REPORT_MORE_SIZE];
    if (tune->engine.best == tune->engine.chosen)
        return;
    fprintf(out, "- **%s**: %s, %s, %s\n", tune_is_of_throughput(tune) ? "Fastest" : "Best",
            factors_format(&answer->best.point, text), text_short_rate(answer->best.mean_bps, rate),
            report_table_more(tune, more));
}

static void put_headline(FILE *out, const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    const double confidence = tune->settings->runs.confidence_share;
    const struct pattern *pattern = &tune->settings->workload.pattern;
    char text[FACTORS_TEXT_SIZE], words[REPORT_CHANGE_SIZE];
    bool keeps = report_change_keep(answer, words)[0] != '\0';
    if (keeps)
        fprintf(out, "- **Keep**: %s\n", words);
    put_use(out, &answer->chosen.point, pattern_writes(pattern),
            keeps                                          ? "Or use"
            : tune->engine.chosen == tune->engine.baseline ? "Keep"
                                                           : "Use");
    put_fastest(out, answer);
    fputs("- **Throughput**: ", out);
    text_rate(out, &answer->chosen, confidence);
    fprintf(out, "\n- **Latency**: %s", text_latency_scope(&answer->chosen.point, pattern));
    text_latency(out, &answer->chosen.latency_ns);
    fputc('\n', out);
    if (answer->speedup.has)
        fprintf(out, "- **Gain**: %.2f x the baseline, %s  (%g %% interval %.2f to %.2f)\n",
                answer->speedup.mean, factors_format(&answer->baseline.point, text), 100 * confidence,
                answer->speedup.ci.low, answer->speedup.ci.high);
    if (report_change_promises(answer, words)[0] != '\0')
        fprintf(out, "- **Not alike**: %s\n", words);
    put_sureness(out, tune);
}

static void put_markdown_row(FILE *out, const struct row *row, const char *standing)
{
    char setting[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE],
        mean[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE];
    bool has_interval = isfinite(row->ci_low_bps);
    fprintf(out, "| %s | %s | %s%s%s | %s | %s | %zu | %s |\n", factors_format(&row->point, setting),
            text_short_rate(row->mean_bps, rate), text_short_rate(row->ci_low_bps, low),
            has_interval ? " to " : "", has_interval ? text_short_rate(row->ci_high_bps, high) : "",
            text_short_duration(row->latency_ns.mean, mean), text_short_duration(row->latency_ns.p99, p99),
            row->replays, standing);
}

static int put_markdown_table(FILE *out, const struct answer *answer, struct err *err)
{
    const struct tune *tune = answer->tune;
    size_t *order, n, n_others = MOST_ROWS;
    char words[WORDS_SIZE];
    bool other_time = false;
    int result = report_table_order(tune, &order, &n, err);
    for (size_t k = 0; k < n && result == 0; k++)
        n_others -= role_of(tune, order[k])[0] != '\0';
    if (n > 0)
        fputs("\n| setting | throughput | interval | latency | p99 | replays | standing |\n"
              "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
              out);
    for (size_t k = 0; k < n && result == 0; k++) {
        const char *role = role_of(tune, order[k]);
        struct row row;
        if (role[0] == '\0' && n_others == 0)
            continue;
        n_others -= role[0] == '\0';
        result = answer_row(answer, order[k], &row);
        if (result < 0) {
            err_set(err, result, "no memory for the table");
            break;
        }
        put_markdown_row(out, &row, words_of(answer, order[k], &row, words));
        other_time |= answer_is_of_another_time(answer, order[k], &row);
    }
    if (other_time)
        fputs("\nOther time: " OTHER_TIME_WORDS ".\n", out);
    free(order);
    return result;
}

int report_table_markdown(FILE *out, const struct answer *answer, struct err *err)
{
    const struct tune *tune = answer->tune;
    fprintf(out, "## fstune: %s\n\n- **Where**: `", tune->settings->workload.pattern.name);
    text_place(out, tune->session);
    fprintf(out, "`%s\n", answer->interrupted ? " (interrupted)" : "");
    if (answer->has_rows)
        put_headline(out, answer);
    else
        fprintf(out, "- **No recommendation**: %s\n", answer->reason != NULL ? answer->reason : "no figures");
    int result = put_markdown_table(out, answer, err);
    return result < 0 ? result : text_finish(out, err);
}
