/* models/statistics/nights: what several nights of measuring the same few settings say together.
 *
 * A night compares settings by interleaved replays, so the level of that night cancels in their ratio. Ratios
 * still differ from night to night by more than the replays of one night show (another load, another place on
 * the device): night i finds y_i ~ N(mu, v_i + tau^2), with v_i from its replays. Few nights of one pair say
 * little about tau, so it is learnt from all pairs of settings that were measured before. On a grid of tau,
 *
 *   p(tau | y) ~ p(tau) prod (v_i + tau^2)^-1/2 (sum w_i)^-1/2 exp(-1/2 sum w_i (y_i - m)^2)
 *   p(mu | y)  = sum over tau of p(tau | y) times Student's t around m, scale (sum w_i)^-1/2
 *
 * with w_i = 1 / (v_i + tau^2) and m the mean by these weights: the random effects of Roever (2020, J. Stat.
 * Softw. 93(6), section 2), with Satterthwaite's degrees of freedom for the v_i. Without any other night
 * p(tau) is a scaled inverse chi-square with NIGHTS_PRIOR_DF degrees of freedom around NIGHTS_PRIOR_STD.
 * Differences between two nights of other pairs multiply it by their likelihood, the same formula for n = 2,
 * raised to a power that lets them count as NIGHTS_MOST_LEARNT at most, because pairs do not all scatter
 * alike (the power prior of Ibrahim and Chen 2000). With one v the interval is nearly the moderated t of
 * Smyth (2004, Stat. Appl. Genet. Mol. Biol. 3(1), section 3), whose degrees of freedom are those learnt and
 * n - 1 more. */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>

#define NIGHTS_PRIOR_STD   0.035 /* of a log ratio from night to night */
#define NIGHTS_PRIOR_DF    3
#define NIGHTS_MOST_LEARNT 20
#define NIGHTS_N_TAUS      16 /* from 0.25 % to 32 % */

/* Chance, by the same belief, that a change is to a setting that is no better: divided by 1 + the differences
 * learnt from, up to NIGHTS_MOST_CHANCE. Every night judges several contenders, which are chosen because they
 * look good, so there is no end to the looks; those of the first nights are few and know least. */
#define NIGHTS_CHANCE      0.004
#define NIGHTS_MOST_CHANCE 30

/* A mean of logs that one night found: of a ratio, or of a rate. */
struct nights_estimate {
    double log_mean;
    double variance; /* of log_mean, from the replays of that night alone; >= 0 */
    double df;       /* of variance; > 0 */
};

struct nights_pooled {
    size_t n; /* nights */
    double log_mean;
    double standard_error;
    double between_std;       /* tau, the root of the mean of its square */
    struct interval interval; /* two-sided, of log_mean */
};

/* a - b of one night; df 0 and NaN where one of them has fewer than 2 replays. */
struct nights_estimate nights_difference(struct moments a, struct moments b);

/* What earlier nights say about tau. A zeroed one has learnt nothing. */
struct nights_scatter {
    double log_likelihood[NIGHTS_N_TAUS];
    double n; /* differences between two nights of a pair */
};

/* From the figures of one pair of settings in two nights, of which the next difference shares one: each
 * counts for two thirds (von Neumann 1941). What is not finite is left out. */
void nights_learn(struct nights_scatter *scatter, struct nights_estimate before,
                  struct nights_estimate after);

/* Lets what was learnt count as `most` differences at most. */
void nights_temper(struct nights_scatter *scatter, double most);

/* nights[i].variance may be 0. scatter: of other nights than these. 0; -ENODATA for n = 0 or an estimate that
 * is not finite. */
int nights_pool(const struct nights_estimate *nights, size_t n, const struct nights_scatter *scatter,
                double confidence, struct nights_pooled *ret_pooled);

/* Whether to change to a contender. */
struct nights_rule {
    double tolerance_share;  /* a gain up to this is none; > 0 */
    size_t nights_needed;    /* >= 1 */
    double confidence_share; /* of the pooled interval, two-sided */
    bool lenient;            /* the pooled interval must lie above 1 only, not above 1 + tolerance */
};

enum nights_decision {
    NIGHTS_NO,      /* tonight's gain is not above the tolerance */
    NIGHTS_PENDING, /* it is, and another night must say so too */
    NIGHTS_CHANGE
};

/* nights: log ratios contender / in force of an unbroken row of nights, the newest last, all against the same
 * current setting. A change needs the newest nights_needed estimates, each above the tolerance, or more
 * where tau is large, a pooled interval of the row that lies above the bound, and no more than the chance
 * above that there is no gain at all. pooled: of the row, also where the decision is NIGHTS_NO. What this
 * finds, and how often it errs, is in docs/statistics.md: both constants were chosen by it. */
enum nights_decision nights_decide(const struct nights_rule *rule, const struct nights_estimate *nights,
                                   size_t n, const struct nights_scatter *scatter,
                                   struct nights_pooled *ret_pooled);

/* Estimates at the end of a row, the newest included, that are above log(1 + tolerance): no night before the
 * first of them is part of the row. */
size_t nights_row_above(const struct nights_estimate *nights, size_t n, double tolerance_share);

#define NIGHTS_LEAST_EXPECTED 3 /* nights before there is an expectation */

/* What a further night should find, from earlier nights of the same settings. */
struct nights_expected {
    size_t n;
    double log_mean;
    double std;               /* of one night's figure, over nights */
    struct interval interval; /* in which tonight's log mean lies at the confidence: Student's for one value
                                 more, n - 1 degrees of freedom; NaN for n < NIGHTS_LEAST_EXPECTED */
};

/* std: over the nights, at least what their own replays explain. 0; -ENODATA as nights_pool. */
int nights_expect(const struct nights_estimate *nights, size_t n, double tonight_variance, double confidence,
                  struct nights_expected *ret_expected);

#define NIGHTS_ANCHOR 5 /* in a row: their mean is a level that was held */
#define NIGHTS_NEWEST 3 /* what is compared with it is the mean of so many, the newest last */

/* A slow drift takes the expectation above with it. This one does not move: the best level that NIGHTS_ANCHOR
 * nights in a row held, all of them before the newest NIGHTS_NEWEST. nights: tonight last. The scatter comes
 * from successive differences (von Neumann 1941), which a drift hardly widens, with two thirds of their
 * number as degrees of freedom; the quantile allows for the number of levels of which the best was taken
 * (Bonferroni). ret_newest: the mean to judge with nights_is_down. 0; -ENODATA for fewer nights than both
 * need, or one that is not finite. */
int nights_expect_held(const struct nights_estimate *nights, size_t n, double confidence,
                       struct nights_expected *ret_expected, double *ret_newest);

/* Tonight lies below the expectation's interval, and by more than the share below its mean. */
bool nights_is_down(const struct nights_expected *expected, double tonight_log_mean, double alarm_share);

/* The current setting has fallen behind a contender: the pooled estimate is above 1 + alarm_share, and its
 * interval above 1 + tolerance. */
bool nights_is_behind(const struct nights_rule *rule, const struct nights_pooled *contender,
                      double alarm_share);
