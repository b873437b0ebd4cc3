/* models/nights: pooling over nights, and the decisions that rest on it. */
#include "models/nights.h"

#include <errno.h>
#include <math.h>

struct nights_estimate nights_difference(struct moments a, struct moments b)
{
    struct welch welch = welch_of(a, b);

    return (struct nights_estimate){.log_mean = welch.difference,
                                    .variance = welch.standard_error * welch.standard_error,
                                    .df = welch.df};
}

static bool is_usable(const struct nights_estimate *night)
{
    return isfinite(night->log_mean) && isfinite(night->variance) && night->variance >= 0 && night->df > 0;
}

/* Sums of the inverse-variance weights; nights without any variance weigh alike. */
struct sums {
    double weight, squared_weight, mean, q;
};

static double weight_of(const struct nights_estimate *night, double between)
{
    double variance = night->variance + between;

    return 1.0 / fmax(variance, 1e-18);
}

static struct sums sum_up(const struct nights_estimate *nights, size_t n, double between)
{
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        double weight = weight_of(&nights[i], between);

        sums.weight += weight;
        sums.squared_weight += weight * weight;
        sums.mean += weight * nights[i].log_mean;
    }
    sums.mean /= sums.weight;
    for (size_t i = 0; i < n; i++)
        sums.q += weight_of(&nights[i], between) * pow(nights[i].log_mean - sums.mean, 2);
    return sums;
}

double nights_between_variance(const struct nights_estimate *nights, size_t n)
{
    if (n < NIGHTS_LEAST_BETWEEN)
        return 0.0;
    struct sums sums = sum_up(nights, n, 0.0);
    double scale = sums.weight - sums.squared_weight / sums.weight;

    return fmax(0.0, (sums.q - (double)(n - 1)) / scale);
}

/* Satterthwaite: of a sum of variances, each with its share of the total. */
static double pooled_df(const struct nights_estimate *nights, size_t n, double between, double weights)
{
    double squares = 0.0, within = 0.0;

    for (size_t i = 0; i < n; i++) {
        double share = weight_of(&nights[i], between) / weights;
        double part = share * share * nights[i].variance;

        within += part;
        squares += part * part / nights[i].df;
    }
    return squares > 0.0 ? within * within / squares : 1e6;
}

int nights_pool(const struct nights_estimate *nights, size_t n, double floor, double confidence,
                struct nights_pooled *ret_pooled)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_usable(&nights[i]))
            return -ENODATA;
    }
    if (n == 0)
        return -ENODATA;
    double least = n > 1 ? NIGHTS_LEAST_STD * NIGHTS_LEAST_STD : 0.0;
    double between = fmax(fmax(floor, least), nights_between_variance(nights, n));
    struct sums sums = sum_up(nights, n, between);
    /* More scatter than the weights explain makes the interval wider, less never narrower. */
    double stretch = n >= NIGHTS_LEAST_BETWEEN ? fmax(1.0, sqrt(sums.q / (double)(n - 1))) : 1.0;
    struct nights_pooled pooled = {
        .n = n,
        .log_mean = sums.mean,
        .standard_error = stretch / sqrt(sums.weight),
        .df = pooled_df(nights, n, between, sums.weight),
        .between_variance = between,
    };
    double half = student_quantile((1.0 + confidence) / 2.0, pooled.df) * pooled.standard_error;

    pooled.interval = (struct interval){pooled.log_mean - half, pooled.log_mean + half};
    *ret_pooled = pooled;
    return 0;
}

size_t nights_row_above(const struct nights_estimate *nights, size_t n, double tolerance_share)
{
    size_t row = 0;

    while (row < n && nights[n - 1 - row].log_mean > log1p(tolerance_share))
        row++;
    return row;
}

enum nights_decision nights_decide(const struct nights_rule *rule, const struct nights_estimate *nights,
                                   size_t n, double floor, struct nights_pooled *ret_pooled)
{
    size_t row = nights_row_above(nights, n, rule->tolerance_share);
    size_t pooled = row > 0 ? row : n > 0 ? 1 : 0;
    double bound = rule->lenient ? 0.0 : log1p(rule->tolerance_share);

    *ret_pooled = (struct nights_pooled){.log_mean = NAN, .standard_error = NAN, .interval = {NAN, NAN}};
    if (nights_pool(nights + n - pooled, pooled, floor, rule->confidence_share, ret_pooled) < 0 || row == 0)
        return NIGHTS_NO;
    return row >= rule->nights_needed && ret_pooled->interval.low > bound ? NIGHTS_CHANGE : NIGHTS_PENDING;
}

int nights_expect(const struct nights_estimate *nights, size_t n, double tonight_variance, double confidence,
                  struct nights_expected *ret_expected)
{
    struct moments moments = {0};
    double within = tonight_variance;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(nights[i].log_mean) || !isfinite(nights[i].variance))
            return -ENODATA;
        moments_add(&moments, nights[i].log_mean);
        within = fmax(within, nights[i].variance);
    }
    if (n == 0)
        return -ENODATA;
    double count = (double)n, std = fmax(moments.std, sqrt(within));
    double half = n < NIGHTS_LEAST_EXPECTED ? NAN
                                            : student_quantile((1.0 + confidence) / 2.0, count - 1.0) * std *
                                                  sqrt(1.0 + 1.0 / count);

    *ret_expected = (struct nights_expected){
        .n = n, .log_mean = moments.mean, .std = std, .interval = {moments.mean - half, moments.mean + half}};
    return 0;
}

static double mean_of(const struct nights_estimate *nights, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += nights[i].log_mean;
    return sum / (double)n;
}

/* Of one night, from the differences of neighbours; at least what their own replays explain. */
static double successive_std(const struct nights_estimate *nights, size_t n)
{
    double squares = 0, within = nights[0].variance;
    for (size_t i = 1; i < n; i++) {
        squares += pow(nights[i].log_mean - nights[i - 1].log_mean, 2);
        within = fmax(within, nights[i].variance);
    }
    return sqrt(fmax(squares / (2.0 * (double)(n - 1)), within));
}

int nights_expect_held(const struct nights_estimate *nights, size_t n, double confidence,
                       struct nights_expected *ret_expected, double *ret_newest)
{
    double held = -INFINITY;
    if (n < NIGHTS_ANCHOR + NIGHTS_NEWEST)
        return -ENODATA;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(nights[i].log_mean) || !isfinite(nights[i].variance))
            return -ENODATA;
    }
    size_t n_past = n - NIGHTS_NEWEST, n_levels = n_past - NIGHTS_ANCHOR + 1;
    for (size_t i = 0; i < n_levels; i++)
        held = fmax(held, mean_of(nights + i, NIGHTS_ANCHOR));
    double std = successive_std(nights, n - 1), df = 2.0 * (double)(n - 2) / 3.0;
    double tail = (1.0 - confidence) / 2.0 / (double)n_levels;
    double half = student_quantile(1.0 - tail, df) * std * sqrt(1.0 / NIGHTS_ANCHOR + 1.0 / NIGHTS_NEWEST);
    *ret_expected = (struct nights_expected){
        .n = NIGHTS_ANCHOR, .log_mean = held, .std = std, .interval = {held - half, held + half}};
    *ret_newest = mean_of(nights + n_past, NIGHTS_NEWEST);
    return 0;
}

bool nights_is_down(const struct nights_expected *expected, double tonight_log_mean, double alarm_share)
{
    /* Without an interval (NaN) there is no alarm. */
    return tonight_log_mean < expected->interval.low &&
           tonight_log_mean < expected->log_mean + log1p(-alarm_share);
}

bool nights_is_behind(const struct nights_rule *rule, const struct nights_pooled *contender,
                      double alarm_share)
{
    return contender->log_mean > log1p(alarm_share) && contender->interval.low > log1p(rule->tolerance_share);
}
