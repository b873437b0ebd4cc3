/* tuner/experiment/report_experiment_analysis: analysis of variance of an experiment. */
#include "tuner/experiment/report_experiment_analysis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An interaction is worth a word from here on. */
#define SIGNIFICANT 0.05
#define WORTH_SHARE 0.01

/* What anova_fit takes, while it is collected. */
struct response {
    size_t n;
    size_t *point; /* of each response; n of them; owned */
    double *log;   /* owned */
    uint32_t *levels;
};

static void response_done(struct response *response)
{
    free(response->point);
    free(response->log);
    free(response->levels);
}

/* Runs; of a document without any, means. */
static int collect_response(struct response *response, const struct report_data *data)
{
    size_t room = data->n_runs + data->n_points + 1;
    response->point = calloc(room, sizeof *response->point);
    response->log = calloc(room, sizeof *response->log);
    response->levels = calloc(room * REPORT_MAX_FACTORS, sizeof *response->levels);
    if (response->point == NULL || response->log == NULL || response->levels == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < data->n_runs; i++) {
        if (!data->points[data->runs[i].point].counts || !(data->runs[i].figures[REPORT_BPS] > 0))
            continue;
        response->point[response->n] = data->runs[i].point;
        response->log[response->n++] = log(data->runs[i].figures[REPORT_BPS]);
    }
    for (size_t i = 0; i < data->n_points && data->n_runs == 0; i++) {
        if (!data->points[i].counts)
            continue;
        response->point[response->n] = i;
        response->log[response->n++] = log(data->points[i].mean_bps);
    }
    return 0;
}

/* Numbers the levels that occur; returns how many. */
static size_t number_levels(struct report_analysis *analysis, const struct response *response, size_t factor,
                            size_t place)
{
    const struct report_data *data = analysis->data;
    size_t number[REPORT_MAX_LEVELS] = {0}, n = 0;
    bool occurs[REPORT_MAX_LEVELS] = {false};
    for (size_t i = 0; i < response->n; i++)
        occurs[data->points[response->point[i]].level[factor]] = true;
    for (size_t k = 0; k < data->factors[factor].n_levels; k++) {
        number[k] = n;
        if (occurs[k])
            analysis->level[place][n++] = k;
    }
    for (size_t i = 0; i < response->n; i++)
        response->levels[i * REPORT_MAX_FACTORS + place] =
            (uint32_t)number[data->points[response->point[i]].level[factor]];
    return n;
}

/* false: none is left, or one has too many levels. */
static bool choose_factors(struct report_analysis *analysis, const struct response *response,
                           struct anova_data *input)
{
    const struct report_data *data = analysis->data;
    bool many = false;
    for (size_t i = 0; i < data->n_factors; i++) {
        const char *name = data->factors[i].name;
        if (analysis->follows[i] != REPORT_NO_FACTOR)
            continue;
        size_t n = number_levels(analysis, response, i, analysis->n_factors);
        many |= n > ANOVA_MAX_LEVELS;
        if (n < 2) {
            notes_add(&analysis->notes, name, "%s: only one level has figures; its effect is not known",
                      name);
            continue;
        }
        input->n_levels[analysis->n_factors] = n;
        analysis->factor[analysis->n_factors++] = i;
    }
    for (size_t i = 0; i < data->n_factors; i++) {
        size_t from = analysis->follows[i];
        /* A factor of one level follows from every other one, which need not be told. */
        if (from != REPORT_NO_FACTOR && data->factors[i].n_levels > 1)
            notes_add(
                &analysis->notes, data->factors[i].name,
                "%s: its level is decided by that of %s at every setting; what it does is counted as the "
                "effect of %s",
                data->factors[i].name, data->factors[from].name, data->factors[from].name);
    }
    input->n_factors = analysis->n_factors;
    input->n_runs = response->n;
    if (many)
        notes_add(&analysis->notes, "levels", "more than %d levels of a factor: no analysis of variance",
                  ANOVA_MAX_LEVELS);
    return analysis->n_factors > 0 && !many;
}

/* The rows of levels side by side, as wide as there are factors. */
static void pack_levels(struct response *response, size_t n_factors)
{
    for (size_t i = 0; i < response->n; i++)
        memmove(&response->levels[i * n_factors], &response->levels[i * REPORT_MAX_FACTORS],
                n_factors * sizeof *response->levels);
}

static void note_doubtful(struct report_analysis *analysis)
{
    const struct anova *anova = &analysis->anova;
    if (anova->error_df == 0)
        notes_add(&analysis->notes, "replays",
                  "no setting has two runs: shares are told, but nothing can be tested, and an interaction "
                  "cannot be told from scatter");
    if (!anova->has_interactions && analysis->n_factors > 1)
        notes_add(&analysis->notes, "interactions", "too many levels to look at interactions");
    for (size_t i = 0; i < anova->n_terms; i++) {
        const struct anova_term *term = &anova->terms[i];
        const char *a = report_experiment_analysis_name(analysis, term->a);
        if (term->df == 0 && term->b == ANOVA_NONE)
            notes_add(&analysis->notes, a, "%s: the design cannot tell it from the other factors", a);
    }
}

/* A level's average over the others says little where what it does depends on them. All terms share the
 * error. */
static void note_interactions(struct report_analysis *analysis)
{
    const struct anova *anova = &analysis->anova;
    double level = SIGNIFICANT / (double)anova->n_terms;
    for (size_t i = 0; i < analysis->n_factors && anova->has_interactions; i++) {
        const struct anova_term *most = NULL, *main = &anova->terms[i];
        for (size_t k = analysis->n_factors; k < anova->n_terms; k++) {
            const struct anova_term *term = &anova->terms[k];
            if ((term->a == i || term->b == i) && term->df > 0 && term->p <= level &&
                term->share > fmax(WORTH_SHARE, most != NULL ? most->share : main->share))
                most = term;
        }
        if (most == NULL || main->df == 0)
            continue;
        const char *name = report_experiment_analysis_name(analysis, i);
        const char *other = report_experiment_analysis_name(analysis, most->a == i ? most->b : most->a);
        notes_add(&analysis->notes, name,
                  "%s: what it does depends on %s (%.1f %% of the differences, against %.1f %% by itself): "
                  "its average says little, look at the table",
                  name, other, 100 * most->share, 100 * main->share);
    }
}

static void note_left_out(struct report_analysis *analysis)
{
    const struct report_data *data = analysis->data;
    size_t failed = 0, doubtful = 0;
    for (size_t i = 0; i < data->n_points; i++) {
        failed += !data->points[i].measured;
        doubtful += data->points[i].measured && !data->points[i].trusted;
    }
    if (failed > 0)
        notes_add(&analysis->notes, "no figures", "%zu of %zu settings have no figures", failed,
                  data->n_points);
    if (doubtful > 0)
        notes_add(&analysis->notes, "not trustworthy", "%zu of %zu settings are not trustworthy and left out",
                  doubtful, data->n_points);
}

static int fit(struct report_analysis *analysis, struct response *response)
{
    struct anova_data input = {0};
    if (response->n == 0)
        return 0;
    /* A factor that another one decides, as psync and pvec follow from the depth, would take that one's
     * share: only the finer one stays. */
    for (size_t i = 0; i < analysis->data->n_factors; i++)
        analysis->follows[i] = report_experiment_data_leader(analysis->data, i);
    if (!choose_factors(analysis, response, &input))
        return 0;
    pack_levels(response, analysis->n_factors);
    input.levels = response->levels;
    input.response = response->log;
    int result = anova_fit(&analysis->anova, &input);
    analysis->has_anova = result == 0;
    analysis->n_runs = response->n;
    if (result == 0) {
        note_doubtful(analysis);
        note_interactions(analysis);
    }
    return result == -ENOMEM ? result : 0;
}

int report_experiment_analysis_make(struct report_analysis *analysis, const struct report_data *data)
{
    struct response response = {0};
    *analysis = (struct report_analysis){.data = data};
    for (size_t i = 0; i < REPORT_MAX_FACTORS; i++)
        analysis->follows[i] = REPORT_NO_FACTOR;
    note_left_out(analysis);
    int result = collect_response(&response, data);
    if (result == 0)
        result = fit(analysis, &response);
    if (result == 0)
        result = report_experiment_answer(analysis);
    response_done(&response);
    if (result < 0)
        report_experiment_analysis_done(analysis);
    return result;
}

void report_experiment_analysis_done(struct report_analysis *analysis)
{
    anova_done(&analysis->anova);
    free(analysis->verdicts);
    free(analysis->answers);
    *analysis = (struct report_analysis){0};
}

const char *report_experiment_analysis_name(const struct report_analysis *analysis, size_t factor)
{
    return analysis->data->factors[analysis->factor[factor]].name;
}

bool report_experiment_analysis_levels(const struct report_analysis *analysis, size_t factor,
                                       struct anova_levels *ret)
{
    const struct anova *anova = &analysis->anova;
    /* With fewer degrees of freedom some levels' differences are not estimated, which anova_levels cannot
     * show. */
    if (!analysis->has_anova || anova->error_df == 0 || anova->terms[factor].df + 1 < anova->n_levels[factor])
        return false;
    anova_levels(anova, factor, 1 - analysis->data->confidence_share, ret);
    return true;
}
