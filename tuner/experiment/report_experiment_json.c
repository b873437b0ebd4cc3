/* tuner/experiment/report_experiment_json: the analysis of an experiment as the member "analysis" of its
 * document. */
#include "tuner/base/json.h"
#include "tuner/experiment/report_experiment.h"
#include "tuner/experiment/report_experiment_analysis.h"

#include <math.h>
#include <stdlib.h>

static json_t *terms_json(const struct report_analysis *analysis)
{
    json_t *terms = json_array();
    for (size_t i = 0; i < analysis->anova.n_terms; i++) {
        const struct anova_term *term = &analysis->anova.terms[i];
        json_t *factors = json_array();
        if (term->b != ANOVA_NONE && !analysis->anova.has_interactions) {
            json_decref(factors);
            continue;
        }
        json_array_append_new(factors, json_string(report_experiment_analysis_name(analysis, term->a)));
        if (term->b != ANOVA_NONE)
            json_array_append_new(factors, json_string(report_experiment_analysis_name(analysis, term->b)));
        bool tested = term->df > 0;
        json_array_append_new(terms, json_pack("{s:o, s:I, s:o, s:o, s:o, s:o}", "factors", factors, "df",
                                               (json_int_t)term->df, "squares", json_number(term->squares),
                                               "share", json_number(tested ? term->share : NAN), "f",
                                               json_number(tested ? term->f : NAN), "p",
                                               json_number(tested ? term->p : NAN)));
    }
    return terms;
}

static json_t *follows_json(const struct report_analysis *analysis)
{
    const struct report_data *data = analysis->data;
    json_t *follows = json_array();
    for (size_t i = 0; i < data->n_factors; i++) {
        if (analysis->follows[i] != REPORT_NO_FACTOR)
            json_array_append_new(follows, json_pack("{s:s, s:s}", "factor", data->factors[i].name, "from",
                                                     data->factors[analysis->follows[i]].name));
    }
    return follows;
}

static json_t *squares_json(double squares, size_t df, double total)
{
    return json_pack("{s:I, s:o, s:o}", "df", (json_int_t)df, "squares", json_number(squares), "share",
                     json_number(df > 0 && total > 0 ? squares / total : NAN));
}

static json_t *anova_json(const struct report_analysis *analysis)
{
    const struct anova *anova = &analysis->anova;
    if (!analysis->has_anova)
        return json_null();
    double total = anova->total_squares, df = (double)anova->error_df;
    json_t *error = squares_json(anova->error_squares, anova->error_df, total);
    json_object_set_new(error, "cv", json_number(df > 0 ? sqrt(expm1(anova->error_squares / df)) : NAN));
    return json_pack("{s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "response", "log throughput", "runs",
                     (json_int_t)analysis->n_runs, "cells", (json_int_t)anova->n_cells, "interactions",
                     anova->has_interactions, "total_squares", json_number(total), "error", error, "rest",
                     squares_json(anova->rest_squares, anova->rest_df, total), "terms", terms_json(analysis),
                     "follows", follows_json(analysis));
}

static json_t *levels_json(const struct report_analysis *analysis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < analysis->n_factors && analysis->has_anova; i++) {
        const struct report_factor *factor = &analysis->data->factors[analysis->factor[i]];
        struct anova_levels levels;
        json_t *rows = json_array();
        if (!report_experiment_analysis_levels(analysis, i, &levels)) {
            json_decref(rows);
            continue;
        }
        for (size_t k = 0; k < levels.n; k++)
            json_array_append_new(
                rows, json_pack("{s:s, s:o, s:I}", "text", factor->text[analysis->level[i][k]], "ratio",
                                json_number(exp(levels.effect[k])), "group", (json_int_t)levels.group[k]));
        json_array_append_new(list, json_pack("{s:s, s:o}", "factor", factor->name, "levels", rows));
    }
    return list;
}

static json_t *conditions_json(const struct report_data *data, size_t point)
{
    json_t *conditions = json_object();
    for (size_t i = 0; i < data->n_factors; i++) {
        const struct report_factor *factor = &data->factors[i];
        if (report_experiment_answer_condition(factor))
            json_object_set_new(conditions, factor->name,
                                json_deep_copy(factor->level[data->points[point].level[i]]));
    }
    return conditions;
}

/* Points of the answer's conditions with this verdict, the best apart. */
static json_t *points_json(const struct report_analysis *analysis, const struct report_answer *answer,
                           enum verdict verdict)
{
    json_t *points = json_array();
    for (size_t i = 0; i < analysis->data->n_points && answer->cheapest != REPORT_NO_POINT; i++) {
        if (i != answer->best && analysis->verdicts[i] == verdict &&
            report_experiment_answer_comparable(analysis->data, answer->best, i))
            json_array_append_new(points, json_integer((json_int_t)i));
    }
    return points;
}

static json_t *answers_json(const struct report_analysis *analysis)
{
    json_t *answers = json_array();
    for (size_t i = 0; i < analysis->n_answers; i++) {
        const struct report_answer *answer = &analysis->answers[i];
        bool known = answer->cheapest != REPORT_NO_POINT;
        json_array_append_new(answers,
                              json_pack("{s:o, s:I, s:o, s:o, s:o}", "conditions",
                                        conditions_json(analysis->data, answer->best), "best",
                                        (json_int_t)answer->best, "cheapest",
                                        known ? json_integer((json_int_t)answer->cheapest) : json_null(),
                                        "equivalent", points_json(analysis, answer, VERDICT_EQUIVALENT),
                                        "undecided", points_json(analysis, answer, VERDICT_UNDECIDED)));
    }
    return answers;
}

json_t *report_experiment_analysis_json(const json_t *document)
{
    struct report_data data;
    struct report_analysis *analysis = calloc(1, sizeof *analysis);
    json_t *object = NULL;
    if (analysis == NULL || report_experiment_data_read(&data, document, NULL) < 0) {
        free(analysis);
        return NULL;
    }
    if (report_experiment_analysis_make(analysis, &data) == 0) {
        json_t *notes = json_array();
        for (size_t i = 0; i < analysis->notes.n; i++)
            json_array_append_new(notes, json_text(analysis->notes.note[i].text));
        object = json_pack("{s:f, s:f, s:o, s:o, s:o, s:o}", "confidence", data.confidence_share, "tolerance",
                           data.tolerance_share, "anova", anova_json(analysis), "levels",
                           levels_json(analysis), "answers", answers_json(analysis), "notes", notes);
    }
    report_experiment_analysis_done(analysis);
    free(analysis);
    report_experiment_data_done(&data);
    return object;
}
