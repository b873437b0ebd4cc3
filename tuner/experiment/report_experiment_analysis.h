/* tuner/experiment/report_experiment_analysis: what the points of an experiment say: which factors matter,
 * which levels differ, which point is the best and which is the cheapest that is as good. */
#pragma once

#include "models/statistics/anova.h"
#include "models/statistics/compare.h"
#include "tuner/base/notes.h"
#include "tuner/experiment/report_experiment_data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPORT_NO_POINT SIZE_MAX

/* What is as good as what is asked among points that do the same work: those with equal levels of the factors
 * that describe the work or what is promised of it (pattern, sync, cache, file_size, files). */
struct report_answer {
    size_t best;     /* the highest mean */
    size_t cheapest; /* of those as good as the best within the tolerance (interfaces, section 6);
                      * REPORT_NO_POINT where the best has too few replays */
    size_t n_equivalent, n_undecided; /* besides the best */
};

struct report_analysis {
    const struct report_data *data; /* borrowed */
    bool has_anova;
    struct anova anova;
    size_t n_runs; /* that went into it */
    /* Of the analysis of variance: its factors and levels as factors and levels of the data. */
    size_t n_factors, factor[REPORT_MAX_FACTORS], level[REPORT_MAX_FACTORS][REPORT_MAX_LEVELS];
    /* Of each factor of the data: another one whose level decides this one's, or REPORT_NO_FACTOR. */
    size_t follows[REPORT_MAX_FACTORS];
    enum verdict *verdicts; /* of each point; owned */
    size_t n_answers;
    struct report_answer *answers; /* owned */
    struct notes notes;            /* what cannot be said, and why */
};

/* 0 or -ENOMEM; after a failure the analysis is empty. */
int report_experiment_analysis_make(struct report_analysis *analysis, const struct report_data *data);
void report_experiment_analysis_done(struct report_analysis *analysis);

/* The answers and verdicts of it. 0 or -ENOMEM. */
int report_experiment_answer(struct report_analysis *analysis);

/* Whether this varied factor describes the work, and so is no choice. */
bool report_experiment_answer_condition(const struct report_factor *factor);

/* The name of a factor of the analysis of variance. */
const char *report_experiment_analysis_name(const struct report_analysis *analysis, size_t factor);

/* Levels of a factor of the analysis of variance at the data's confidence. false: they cannot be compared. */
bool report_experiment_analysis_levels(const struct report_analysis *analysis, size_t factor,
                                       struct anova_levels *ret);

/* Whether two points do the same work: their conditions are equal. */
bool report_experiment_answer_comparable(const struct report_data *data, size_t a, size_t b);

/* request_size x queue_depth x threads; NaN where one is not known. */
double report_experiment_answer_bytes(const struct report_data *data, size_t point);

/* The analysis in words, each part begun with an empty line. */
void report_experiment_findings(FILE *out, const struct report_analysis *analysis);

/* "request_size 64k, queue_depth 8": levels of the varied factors that are conditions, or of the others; ""
 * where there is none. Returns buffer. */
#define REPORT_EXPERIMENT_TEXT_SIZE 512
const char *report_experiment_answer_format(const struct report_data *data, size_t point, bool conditions,
                                            char buffer[REPORT_EXPERIMENT_TEXT_SIZE]);
