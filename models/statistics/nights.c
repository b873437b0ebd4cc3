/* models/statistics/nights: pooling over nights, and the decisions that rest on it. */
#include "models/statistics/nights.h"

#include <errno.h>
#include <math.h>

#define NEIGHBOUR (2.0 / 3.0) /* weight of a difference between neighbouring nights */

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

/* What follows from one tau: log mean and standard error of the nights, the latter's degrees of freedom, and
 * how likely such nights are. */
struct fit {
    double mean, standard_error, df, log_likelihood;
};

static double tau_at(size_t i)
{
    return 0.0025 * exp2(7.0 * (double)i / (NIGHTS_N_TAUS - 1));
}

static struct fit fit_at(double tau, const struct nights_estimate *nights, size_t n)
{
    double weights = 0.0, mean = 0.0, log_weights = 0.0, q = 0.0, squares = 0.0;

    for (size_t i = 0; i < n; i++) {
        double weight = 1.0 / (nights[i].variance + tau * tau);

        weights += weight;
        log_weights += log(weight);
        mean += weight * nights[i].log_mean;
        squares += pow(weight * weight * nights[i].variance, 2) / nights[i].df;
    }
    mean /= weights;
    for (size_t i = 0; i < n; i++)
        q += pow(nights[i].log_mean - mean, 2) / (nights[i].variance + tau * tau);
    return (struct fit){.mean = mean,
                        .standard_error = 1.0 / sqrt(weights),
                        .df = fmin(weights * weights / fmax(squares, 1e-300), 1e6),
                        .log_likelihood = (log_weights - q - log(fmax(weights, 1e-300))) / 2.0};
}

void nights_learn(struct nights_scatter *scatter, struct nights_estimate before, struct nights_estimate after)
{
    const struct nights_estimate both[] = {before, after};

    if (!is_usable(&before) || !is_usable(&after))
        return;
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++)
        scatter->log_likelihood[i] += NEIGHBOUR * fit_at(tau_at(i), both, 2).log_likelihood;
    scatter->n += NEIGHBOUR;
}

void nights_temper(struct nights_scatter *scatter, double most)
{
    if (scatter->n <= most)
        return;
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++)
        scatter->log_likelihood[i] *= most / scatter->n;
    scatter->n = most;
}

/* The scaled inverse chi-square of tau^2, as a density of log tau: the grid is even there. */
static double log_prior(double tau)
{
    double ratio = NIGHTS_PRIOR_STD / tau;

    return NIGHTS_PRIOR_DF * (log(ratio) - ratio * ratio / 2.0);
}

struct mixture {
    struct fit fits[NIGHTS_N_TAUS];
    double shares[NIGHTS_N_TAUS];
};

static double mixture_cdf(const struct mixture *mixture, double x)
{
    double sum = 0.0;

    for (size_t i = 0; i < NIGHTS_N_TAUS; i++) {
        const struct fit *fit = &mixture->fits[i];

        if (mixture->shares[i] > 1e-9)
            sum += mixture->shares[i] * student_cdf((x - fit->mean) / fit->standard_error, fit->df);
    }
    return sum;
}

/* Finds the quantile by bisection between the least and the greatest one of its parts. */
static double mixture_quantile(const struct mixture *mixture, double p)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < NIGHTS_N_TAUS; i++) {
        const struct fit *fit = &mixture->fits[i];
        double part = fit->mean + student_quantile(p, fit->df) * fit->standard_error;

        low = fmin(low, part);
        high = fmax(high, part);
    }
    while (high - low > 1e-7) {
        double middle = (low + high) / 2.0;

        if (mixture_cdf(mixture, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2.0;
}

static struct mixture mix(const struct nights_estimate *nights, size_t n, struct nights_scatter learnt)
{
    struct mixture mixture;
    double most = -INFINITY, sum = 0.0;

    nights_temper(&learnt, NIGHTS_MOST_LEARNT);
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++) {
        mixture.fits[i] = fit_at(tau_at(i), nights, n);
        mixture.shares[i] = log_prior(tau_at(i)) + learnt.log_likelihood[i] + mixture.fits[i].log_likelihood;
        most = fmax(most, mixture.shares[i]);
    }
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++)
        sum += mixture.shares[i] = exp(mixture.shares[i] - most);
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++)
        mixture.shares[i] /= sum;
    return mixture;
}

int nights_pool(const struct nights_estimate *nights, size_t n, const struct nights_scatter *scatter,
                double confidence, struct nights_pooled *ret_pooled)
{
    struct nights_pooled pooled = {.n = n};
    double square = 0.0, between = 0.0;

    for (size_t i = 0; i < n; i++) {
        if (!is_usable(&nights[i]))
            return -ENODATA;
    }
    if (n == 0)
        return -ENODATA;
    const struct mixture mixture = mix(nights, n, *scatter);
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++) {
        pooled.log_mean += mixture.shares[i] * mixture.fits[i].mean;
        between += mixture.shares[i] * pow(tau_at(i), 2);
    }
    for (size_t i = 0; i < NIGHTS_N_TAUS; i++) {
        const struct fit *fit = &mixture.fits[i];

        square += mixture.shares[i] * (pow(fit->standard_error, 2) + pow(fit->mean - pooled.log_mean, 2));
    }
    pooled.standard_error = sqrt(square);
    pooled.between_std = sqrt(between);
    pooled.interval = (struct interval){mixture_quantile(&mixture, (1.0 - confidence) / 2.0),
                                        mixture_quantile(&mixture, (1.0 + confidence) / 2.0)};
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
                                   size_t n, const struct nights_scatter *scatter,
                                   struct nights_pooled *ret_pooled)
{
    size_t row = nights_row_above(nights, n, rule->tolerance_share);
    size_t pooled = row > 0 ? row : n > 0 ? 1 : 0;
    double bound = rule->lenient ? 0.0 : log1p(rule->tolerance_share);
    struct nights_pooled sure;

    *ret_pooled = (struct nights_pooled){.log_mean = NAN, .standard_error = NAN, .interval = {NAN, NAN}};
    if (nights_pool(nights + n - pooled, pooled, scatter, rule->confidence_share, ret_pooled) < 0 || row == 0)
        return NIGHTS_NO;
    double chance = NIGHTS_CHANCE / (1.0 + fmin(scatter->n, NIGHTS_MOST_CHANCE));
    if (row < rule->nights_needed || !(ret_pooled->interval.low > bound))
        return NIGHTS_PENDING;
    nights_pool(nights + n - pooled, pooled, scatter, 1.0 - 2.0 * chance, &sure);
    return sure.interval.low > 0.0 ? NIGHTS_CHANGE : NIGHTS_PENDING;
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

/* Scatter of one night, from the differences of neighbours; at least what their own replays explain. */
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
    double std = successive_std(nights, n - 1), df = NEIGHBOUR * (double)(n - 2);
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
