/* tuner/experiment/report_experiment_findings: the analysis of an experiment in words. */
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/experiment/report_experiment_analysis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 28
#define LIST_SIZE  2048

static void print_p(FILE *out, double p)
{
    if (p < 0.001)
        fputs("p < 0.001", out);
    else
        fprintf(out, "p = %.3f", p);
}

static void print_term(FILE *out, const struct report_analysis *analysis, const struct anova_term *term)
{
    char name[160];
    if (term->b == ANOVA_NONE)
        snprintf(name, sizeof name, "%s", report_experiment_analysis_name(analysis, term->a));
    else
        snprintf(name, sizeof name, "%s x %s", report_experiment_analysis_name(analysis, term->a),
                 report_experiment_analysis_name(analysis, term->b));
    fprintf(out, "  %-*s ", NAME_WIDTH, name);
    if (term->df == 0) {
        fputs("   cannot be told from the others in this design\n", out);
        return;
    }
    fprintf(out, "%5.1f %%", 100 * term->share);
    if (isfinite(term->p)) {
        fprintf(out, term->f < 1000 ? "   F(%zu, %zu) = %.3g, " : "   F(%zu, %zu) = %.0f, ", term->df,
                analysis->anova.error_df, term->f);
        print_p(out, term->p);
    } else {
        fputs("   not tested", out);
    }
    fputc('\n', out);
}

/* What no term explains. */
static void print_remainder(FILE *out, const struct anova *anova)
{
    double total = anova->total_squares;
    if (anova->rest_df > 0 && total > 0)
        fprintf(out, "  %-*s %5.1f %%\n", NAME_WIDTH,
                anova->has_interactions ? "three factors and more" : "interactions",
                100 * anova->rest_squares / total);
    if (anova->error_df == 0)
        return;
    fprintf(out, "  %-*s %5.1f %%   one run scatters by %.2g %%\n", NAME_WIDTH, "runs of one setting",
            total > 0 ? 100 * anova->error_squares / total : 0,
            100 * sqrt(expm1(anova->error_squares / (double)anova->error_df)));
}

static void print_anova(FILE *out, const struct report_analysis *analysis)
{
    const struct anova *anova = &analysis->anova;
    fputs("\nWhat the differences come from (analysis of variance of log throughput; ", out);
    fprintf(out, "%zu %s, %zu settings)\n", analysis->n_runs, analysis->data->n_runs > 0 ? "runs" : "means",
            anova->n_cells);
    for (size_t i = 0; i < anova->n_terms; i++) {
        if (anova->terms[i].b == ANOVA_NONE || anova->has_interactions)
            print_term(out, analysis, &anova->terms[i]);
    }
    print_remainder(out, anova);
}

/* ---- levels ---- */

static void append_to_list(char *list, const char *separator, const char *text)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_SIZE - used, "%s%s", used > 0 ? separator : "", text);
}

/* "16 and 64", "1, 4 and 16": the levels of a group; how many. */
static size_t list_group(const struct report_analysis *analysis, size_t factor,
                         const struct anova_levels *levels, size_t group, char list[LIST_SIZE])
{
    const char *const *texts = analysis->data->factors[analysis->factor[factor]].text;
    size_t n = 0, written = 0;
    for (size_t k = 0; k < levels->n; k++)
        n += levels->group[k] == group;
    list[0] = '\0';
    for (size_t k = 0; k < levels->n; k++) {
        if (levels->group[k] != group)
            continue;
        written++;
        append_to_list(list, written == n ? " and " : ", ", texts[analysis->level[factor][k]]);
    }
    return n;
}

static void print_groups(FILE *out, const struct report_analysis *analysis, size_t factor,
                         const struct anova_levels *levels)
{
    char list[LIST_SIZE];
    const char *separator = "";
    for (size_t group = 0; group < levels->n; group++) {
        if (list_group(analysis, factor, levels, group, list) < 2)
            continue;
        fprintf(out, "%s%s cannot be told apart", separator, list);
        separator = "; ";
    }
    fputs(separator[0] == '\0' ? "all differ\n" : "\n", out);
}

static void print_levels(FILE *out, const struct report_analysis *analysis)
{
    bool begun = false;
    for (size_t i = 0; i < analysis->n_factors; i++) {
        struct anova_levels levels;
        if (!report_experiment_analysis_levels(analysis, i, &levels))
            continue;
        if (!begun)
            fputs("\nLevels (rate relative to the factor's average, the other factors averaged)\n", out);
        begun = true;
        fprintf(out, "  %s:", report_experiment_analysis_name(analysis, i));
        for (size_t k = 0; k < levels.n; k++)
            fprintf(out, "%s %s (%.3g)", k > 0 ? "," : "",
                    analysis->data->factors[analysis->factor[i]].text[analysis->level[i][k]],
                    exp(levels.effect[k]));
        fprintf(out, "\n    %s: ", report_experiment_analysis_name(analysis, i));
        print_groups(out, analysis, i, &levels);
    }
}

/* ---- answers ---- */

static void print_finding_setting(FILE *out, const struct report_data *data, size_t point)
{
    char text[REPORT_EXPERIMENT_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    report_experiment_answer_format(data, point, false, text);
    fprintf(out, "%s%s%s", text, text[0] != '\0' ? ": " : "",
            text_short_rate(data->points[point].mean_bps, rate));
}

static void print_cheapest(FILE *out, const struct report_data *data, const struct report_answer *answer)
{
    char size[UNITS_TEXT_SIZE], best_size[UNITS_TEXT_SIZE];
    double bytes = report_experiment_answer_bytes(data, answer->cheapest);
    double best_bytes = report_experiment_answer_bytes(data, answer->best);
    if (answer->cheapest == answer->best) {
        fputs("    cheapest  no cheaper point is proved to be as good\n", out);
        return;
    }
    fputs("    cheapest  ", out);
    print_finding_setting(out, data, answer->cheapest);
    fprintf(out, ", as good within %.3g %%", 100 * data->tolerance_share);
    if (bytes < best_bytes && bytes >= 1 && best_bytes < 1e18)
        fprintf(out, ", with %s instead of %s in flight", units_format_size((uint64_t)bytes, size),
                units_format_size((uint64_t)best_bytes, best_size));
    fputc('\n', out);
}

static void print_answer(FILE *out, const struct report_data *data, const struct report_answer *answer)
{
    char text[REPORT_EXPERIMENT_TEXT_SIZE];
    report_experiment_answer_format(data, answer->best, true, text);
    if (text[0] != '\0')
        fprintf(out, "  %s\n", text);
    fputs("    best      ", out);
    print_finding_setting(out, data, answer->best);
    fputc('\n', out);
    if (answer->cheapest == REPORT_NO_POINT)
        return;
    print_cheapest(out, data, answer);
    if (answer->n_equivalent + answer->n_undecided > 0)
        fprintf(out, "    besides   %zu as good as the best, %zu undecided\n", answer->n_equivalent,
                answer->n_undecided);
}

void report_experiment_findings(FILE *out, const struct report_analysis *analysis)
{
    if (analysis->has_anova) {
        print_anova(out, analysis);
        print_levels(out, analysis);
    }
    if (analysis->n_answers > 0)
        fputs(analysis->n_answers > 1 ? "\nAnswers, for each kind of work\n" : "\nAnswer\n", out);
    for (size_t i = 0; i < analysis->n_answers; i++)
        print_answer(out, analysis->data, &analysis->answers[i]);
    text_notes(out, "What this does not say", &analysis->notes, false);
}
