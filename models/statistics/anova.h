/* models/statistics/anova: analysis of variance of replayed runs over any number of factors: how much of the
 * differences each factor and each pair of factors explains, and which levels cannot be told apart.
 *
 * The model is linear in dummies of levels: mean + main effects + two-factor interactions. Sums of squares
 * are of type II (Yates 1934): a main effect is what the factor adds to the other main effects, an
 * interaction what it adds to everything else, so that cells may be missing or have unequal numbers of runs;
 * in a balanced design they are the textbook's. The error is pure: the scatter of runs of one cell. What
 * cells differ by beyond the model (interactions of three and more factors) is `rest`.
 * Hand it logarithms of throughput: errors there are multiplicative. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ANOVA_MAX_FACTORS 12
#define ANOVA_MAX_LEVELS  128
#define ANOVA_MAX_TERMS   (ANOVA_MAX_FACTORS + ANOVA_MAX_FACTORS * (ANOVA_MAX_FACTORS - 1) / 2)
/* Columns of the largest model that is fitted; with more, interactions are left out. */
#define ANOVA_MAX_COLUMNS 1200
#define ANOVA_NONE        SIZE_MAX

struct anova_data {
    size_t n_factors, n_runs;
    size_t n_levels[ANOVA_MAX_FACTORS];
    const uint32_t
        *levels; /* n_runs x n_factors, each below n_levels of its factor, and each level occurs; borrowed */
    const double *response; /* n_runs; borrowed */
};

struct anova_term {
    size_t a, b;    /* factors; b is ANOVA_NONE for a main effect */
    size_t df;      /* 0: the design cannot tell this term from others */
    double squares; /* sum of squares */
    double share;   /* of the total, 0..1; shares of an unbalanced design need not sum to 1 */
    double f, p;    /* against the pure error; NaN where no cell has two runs */
};

struct anova {
    size_t n_terms; /* main effects in the order of the factors, then pairs (0,1), (0,2), ... */
    struct anova_term terms[ANOVA_MAX_TERMS];
    double total_squares, error_squares, rest_squares;
    size_t error_df, rest_df, n_cells;
    double mean;          /* of all runs */
    int has_interactions; /* 0: too many columns */
    /* Of the model of main effects, for anova_levels: */
    size_t n_factors, n_columns;
    size_t n_levels[ANOVA_MAX_FACTORS], first_column[ANOVA_MAX_FACTORS];
    double *coefficients; /* n_columns; owned */
    double *covariance;   /* n_columns^2, to be multiplied by the error's variance; owned */
};

/* 0; -EINVAL: no run, no or too many factors or levels, a level that is out of range or never occurs, a
 * response that is not finite; -ENOMEM. After a failure anova is empty. */
int anova_fit(struct anova *anova, const struct anova_data *data);
void anova_done(struct anova *anova); /* accepts a zeroed one */

/* Levels of one factor, the other factors at their average. */
struct anova_levels {
    size_t n;
    double effect[ANOVA_MAX_LEVELS]; /* difference to the mean over this factor's levels */
    /* same[i] is a group number: levels that share it could not be told apart, by a chain of neighbours in
     * order of their effect. */
    size_t group[ANOVA_MAX_LEVELS];
};

/* Two neighbours in order of their effect are told apart where |difference| exceeds its t quantile at
 * 1 - alpha / (2 * comparisons) (Bonferroni over the neighbours). Without an error estimate all are one
 * group. factor < n_factors. */
void anova_levels(const struct anova *anova, size_t factor, double alpha, struct anova_levels *ret);
