/* models/nights: what several nights of measuring the same few settings say together.
 *
 * A night compares settings by interleaved replays, so the level of that night cancels in their ratio. Ratios
 * still differ from night to night by more than the replays of one night show (another load, another place on
 * the device): with the variance v_i of night i and a variance tau^2 between nights, the pooled log ratio is
 * the mean with weights 1 / (v_i + tau^2), its variance the inverse of their sum (DerSimonian and Laird
 * 1986). Two nights say next to nothing about tau^2: their one difference would make the interval useless as
 * often as right. For two, and at least, tau is NIGHTS_LEAST_STD or a floor taken from pairs of settings that
 * every night measures; from three nights on tau^2 is estimated by the moments of DerSimonian and Laird, and
 * the standard error stretched by the root of Q / (n - 1) where that is above 1 (Hartung and Knapp 2001, with
 * the bound of Knapp and Hartung 2003). The quantile is Student's, with Satterthwaite's degrees of freedom of
 * the variances within the nights. */
#ifndef FSTUNE_MODELS_NIGHTS_H
#define FSTUNE_MODELS_NIGHTS_H

#include "models/student.h"

#include <stdbool.h>
#include <stddef.h>

#define NIGHTS_LEAST_BETWEEN 3    /* nights from which tau^2 is estimated */
#define NIGHTS_LEAST_STD     0.01 /* of a log ratio from night to night */

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
    double df;
    double between_variance;  /* tau^2, the floor included */
    struct interval interval; /* two-sided, of log_mean */
};

/* a - b of one night; df 0 and NaN where one of them has fewer than 2 replays. */
struct nights_estimate nights_difference(struct moments a, struct moments b);

/* nights[i].variance > 0 is not needed: without any scatter the interval is the mean itself. floor: of tau^2,
 * >= 0. 0; -ENODATA for n = 0 or an estimate that is not finite. */
int nights_pool(const struct nights_estimate *nights, size_t n, double floor, double confidence,
                struct nights_pooled *ret_pooled);

/* Variance between nights by the moments of DerSimonian and Laird, >= 0; 0 for n < NIGHTS_LEAST_BETWEEN. */
double nights_between_variance(const struct nights_estimate *nights, size_t n);

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
 * settings in force. A change needs the newest nights_needed estimates, each above the tolerance, and a
 * pooled interval of the row that lies above the bound. pooled: of the row, also where the decision is
 * NIGHTS_NO. */
enum nights_decision nights_decide(const struct nights_rule *rule, const struct nights_estimate *nights,
                                   size_t n, double floor, struct nights_pooled *ret_pooled);

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

/* The settings in force have fallen behind a contender: the pooled estimate is above 1 + alarm_share, and its
 * interval above 1 + tolerance. */
bool nights_is_behind(const struct nights_rule *rule, const struct nights_pooled *contender,
                      double alarm_share);

#endif
