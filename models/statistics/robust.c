/* models/statistics/robust: locations of points whose runs may be outliers, averaged over what may have
 * happened. */
#include "models/statistics/robust.h"

#include <errno.h>
#include <float.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts between sorted runs that are considered: with more runs, those at the widest gaps. */
#define MAX_CUTS 13

/* Prior probability that a point has two levels. */
#define TWO_LEVELS_SHARE 0.1

/* Prior probability that outliers of one point have one cause, and so one rate. */
#define ONE_CAUSE_SHARE 0.5

#define LEAST_IN_A_LEVEL 2

/* The shares begin as if so many runs had been seen, with so many outliers among them. */
#define RUNS_BEFORE 50.0
#define LOW_BEFORE  1.0
#define HIGH_BEFORE 0.25

#define START_DF   4.0
#define N_ROUNDS   5
#define LEAST_STEP log(1.25)

/* Median of the absolute value of a standard normal number. */
#define NORMAL_MEDIAN 0.6745

/* What may have happened to a point, and what would follow. */
struct hypothesis {
    double log_weight, location, location_variance, df;
    double std;
    size_t std_df, n_low, n_high;
    bool two_levels;
};

struct stories {
    struct hypothesis list[MAX_CUTS * MAX_CUTS];
    size_t n;
};

/* Neighbours among the sorted runs, and the squares of their distances from their mean. */
struct part {
    size_t n;
    double mean, squares;
};

/* The sorted runs between one cut and the next. */
struct pieces {
    size_t cuts[MAX_CUTS + 1]; /* positions of their first runs, ascending from 0, and the end of the last */
    struct part list[MAX_CUTS];
    size_t n;
};

double robust_least_distance(const struct robust_prior *prior)
{
    return fmax(LEAST_STEP, 2.5 * sqrt(prior->noise.variance));
}

static struct part part_of(const double *values, size_t n)
{
    struct part part = {.n = n};

    for (size_t i = 0; i < n; i++)
        part.mean += values[i];
    part.mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        part.squares += (values[i] - part.mean) * (values[i] - part.mean);
    return part;
}

/* Of two parts the whole, by the update of Chan, Golub and LeVeque (1983). */
static struct part join(struct part a, struct part b)
{
    double n = (double)(a.n + b.n), apart = b.mean - a.mean, share = (double)b.n / n;

    return (struct part){.n = a.n + b.n,
                         .mean = a.mean + apart * share,
                         .squares = a.squares + b.squares + apart * apart * share * (double)a.n};
}

/* Density of an outlier's distance: it falls only with the square, so that runs ten times slower still
 * occur. */
static double log_outlier(const struct robust_prior *prior, double distance)
{
    double least = robust_least_distance(prior);

    return distance < least ? -INFINITY : log(least) - 2.0 * log(distance);
}

/* Density of n ordinary runs with their squares around n_means estimated locations, variance integrated over
 * the prior; without the 1/sqrt(n) that each location brings. */
static double log_ordinary(const struct robust_prior *prior, double squares, size_t n, size_t n_means)
{
    double df = prior->noise.df, own_df = (double)(n - n_means), scale = df * prior->noise.variance;

    return gsl_sf_lngamma((df + own_df) / 2.0) - gsl_sf_lngamma(df / 2.0) - own_df / 2.0 * log(M_PI * scale) -
           (df + own_df) / 2.0 * log1p(squares / scale);
}

/* The runs of `part`, of which the first is the `first` of all, are ordinary ones. */
static struct hypothesis one_level(const struct robust_prior *prior, struct robust_sample sample,
                                   size_t first, struct part part)
{
    size_t end = first + part.n;
    double own_df = (double)(part.n - 1), ordinary_share = 1.0 - prior->low_share - prior->high_share;
    double least = robust_least_distance(prior);
    struct hypothesis hypothesis = {
        .location = part.mean, .n_low = first, .n_high = sample.n - end, .log_weight = -INFINITY};

    /* The nearest of them must be far enough off for all to be outliers; most hypotheses end here. */
    if ((first > 0 && part.mean - sample.values[first - 1] < least) ||
        (end < sample.n && sample.values[end] - part.mean < least))
        return hypothesis;
    hypothesis.std_df = part.n - 1;
    hypothesis.std = part.n > 1 ? sqrt(part.squares / own_df) : 0.0;
    hypothesis.location_variance =
        noise_variance(&prior->noise, hypothesis.std, part.n, &hypothesis.df) / (double)part.n;
    hypothesis.log_weight = log1p(-TWO_LEVELS_SHARE) + (double)part.n * log(ordinary_share) +
                            log_ordinary(prior, part.squares, part.n, 1) - 0.5 * log((double)part.n);
    for (size_t i = 0; i < first; i++)
        hypothesis.log_weight += log(prior->low_share) + log_outlier(prior, part.mean - sample.values[i]);
    for (size_t i = end; i < sample.n; i++)
        hypothesis.log_weight += log(prior->high_share) + log_outlier(prior, sample.values[i] - part.mean);
    if (first >= LEAST_IN_A_LEVEL && end == sample.n)
        hypothesis.log_weight += log1p(-ONE_CAUSE_SHARE);
    return hypothesis;
}

/* Log density of runs in two groups, each around a mean of its own. */
static double log_grouped(const struct robust_prior *prior, struct part low, struct part high)
{
    return log_outlier(prior, high.mean - low.mean) +
           log_ordinary(prior, low.squares + high.squares, low.n + high.n, 2) - 0.5 * log((double)low.n) -
           0.5 * log((double)high.n);
}

/* Outliers that share a cause are as near to each other as the runs of a level: only how many there are tells
 * the two apart. */
static struct hypothesis one_cause(const struct robust_prior *prior, struct robust_sample sample,
                                   struct part low, struct part high)
{
    struct hypothesis hypothesis = one_level(prior, sample, low.n, high);

    if (isinf(hypothesis.log_weight))
        return hypothesis;
    hypothesis.log_weight =
        log1p(-TWO_LEVELS_SHARE) + log(ONE_CAUSE_SHARE) + (double)low.n * log(prior->low_share) +
        (double)high.n * log(1.0 - prior->low_share - prior->high_share) + log_grouped(prior, low, high);
    return hypothesis;
}

/* The share of the lower level may be anything. */
static struct hypothesis two_levels(const struct robust_prior *prior, struct part low, struct part high)
{
    struct part all = join(low, high);
    double count = (double)all.n;

    if (high.mean - low.mean < robust_least_distance(prior))
        return (struct hypothesis){.log_weight = -INFINITY};
    return (struct hypothesis){
        .two_levels = true,
        .location = all.mean,
        .location_variance = all.squares / (count - 1.0) / count,
        .df = count - 1.0,
        .std = sqrt((low.squares + high.squares) / (count - 2.0)),
        .std_df = all.n - 2,
        .log_weight = log(TWO_LEVELS_SHARE) + gsl_sf_lnbeta((double)low.n + 1.0, (double)high.n + 1.0) +
                      log_grouped(prior, low, high),
    };
}

/* Positions before which the sorted runs may be cut, ascending; 0 (no cut) is the first. */
static size_t find_cuts(struct robust_sample sample, size_t *ret_cuts)
{
    const double *values = sample.values;
    size_t n = 1;

    ret_cuts[0] = 0;
    for (size_t i = 1; i < sample.n; i++) {
        size_t narrowest = 1;

        if (n == MAX_CUTS) {
            for (size_t k = 2; k < n; k++) {
                size_t a = ret_cuts[k], b = ret_cuts[narrowest];

                narrowest = values[a] - values[a - 1] < values[b] - values[b - 1] ? k : narrowest;
            }
            size_t out = ret_cuts[narrowest];
            if (values[i] - values[i - 1] <= values[out] - values[out - 1])
                continue;
            n--;
            memmove(ret_cuts + narrowest, ret_cuts + narrowest + 1, (n - narrowest) * sizeof(*ret_cuts));
        }
        ret_cuts[n++] = i;
    }
    return n;
}

static void add(struct stories *stories, struct hypothesis hypothesis)
{
    if (hypothesis.log_weight > -INFINITY)
        stories->list[stories->n++] = hypothesis;
}

static struct pieces cut_up(struct robust_sample sample)
{
    struct pieces pieces;

    pieces.n = find_cuts(sample, pieces.cuts);
    pieces.cuts[pieces.n] = sample.n;
    for (size_t i = 0; i < pieces.n; i++)
        pieces.list[i] = part_of(sample.values + pieces.cuts[i], pieces.cuts[i + 1] - pieces.cuts[i]);
    return pieces;
}

static void tell_all(const struct robust_prior *prior, struct robust_sample sample, struct stories *ret)
{
    struct pieces pieces = cut_up(sample);
    struct part low = {0};

    ret->n = 0;
    for (size_t i = 0; i < pieces.n; i++) {
        struct part part = {0};

        for (size_t j = i; j < pieces.n; j++) {
            part = join(part, pieces.list[j]);
            if (2 * part.n >= sample.n)
                add(ret, one_level(prior, sample, pieces.cuts[i], part));
        }
        if (low.n >= LEAST_IN_A_LEVEL && part.n >= LEAST_IN_A_LEVEL) {
            add(ret, two_levels(prior, low, part));
            if (2 * low.n <= sample.n)
                add(ret, one_cause(prior, sample, low, part));
        }
        low = join(low, pieces.list[i]);
    }
}

/* Weights become probabilities; returns the most likely hypothesis. */
static const struct hypothesis *normalise(struct stories *stories)
{
    const struct hypothesis *likeliest = &stories->list[0];
    double sum = 0.0, highest;

    for (size_t i = 1; i < stories->n; i++)
        if (stories->list[i].log_weight > likeliest->log_weight)
            likeliest = &stories->list[i];
    highest = likeliest->log_weight;
    for (size_t i = 0; i < stories->n; i++)
        sum += exp(stories->list[i].log_weight - highest);
    for (size_t i = 0; i < stories->n; i++)
        stories->list[i].log_weight -= highest + log(sum);
    return likeliest;
}

void robust_point_of(const struct robust_prior *prior, struct robust_sample sample,
                     struct robust_point *ret_point)
{
    struct stories stories;
    const struct hypothesis *likeliest;
    double two = 0.0;

    *ret_point = (struct robust_point){.location_variance = prior->noise.variance, .df = prior->noise.df};
    if (sample.n == 0)
        return;
    tell_all(prior, sample, &stories);
    likeliest = normalise(&stories);
    ret_point->df = likeliest->df;
    ret_point->std = likeliest->std;
    ret_point->std_df = likeliest->std_df;
    ret_point->n_outliers = likeliest->n_low + likeliest->n_high;
    ret_point->location_variance = 0.0;
    for (size_t i = 0; i < stories.n; i++) {
        const struct hypothesis *hypothesis = &stories.list[i];
        double probability = exp(hypothesis->log_weight);

        ret_point->location += probability * hypothesis->location;
        ret_point->n_low += probability * (double)hypothesis->n_low;
        ret_point->n_high += probability * (double)hypothesis->n_high;
        two += hypothesis->two_levels ? probability : 0.0;
    }
    for (size_t i = 0; i < stories.n; i++) {
        const struct hypothesis *hypothesis = &stories.list[i];
        double apart = hypothesis->location - ret_point->location;

        ret_point->location_variance +=
            exp(hypothesis->log_weight) * (hypothesis->location_variance + apart * apart);
    }
    ret_point->two_levels = two > 0.5;
}

struct robust_prior robust_prior_default(double fallback_std)
{
    return (struct robust_prior){.noise = noise_fit(NULL, NULL, 0, fallback_std),
                                 .low_share = LOW_BEFORE / RUNS_BEFORE,
                                 .high_share = HIGH_BEFORE / RUNS_BEFORE};
}

/* Pooled deviation of runs from their points' medians, by its own median. */
static double start_std(const struct robust_sample *samples, size_t n_samples, double *deviations)
{
    size_t count = 0;

    for (size_t i = 0; i < n_samples; i++) {
        const struct robust_sample *sample = &samples[i];
        double n = (double)sample->n, median;

        if (sample->n < 2)
            continue;
        median = gsl_stats_median_from_sorted_data(sample->values, 1, sample->n);
        for (size_t k = 0; k < sample->n; k++)
            deviations[count++] = fabs(sample->values[k] - median) * sqrt(n / (n - 1.0));
    }
    gsl_sort(deviations, 1, count);
    return count > 0 ? gsl_stats_median_from_sorted_data(deviations, 1, count) / NORMAL_MEDIAN : 0.0;
}

/* One round: what points look like by the prior, and the prior that follows. */
static void fit_again(const struct robust_sample *samples, size_t n_samples, double fallback_std, double *std,
                      size_t *n, struct robust_prior *prior)
{
    double n_runs = RUNS_BEFORE, n_low = LOW_BEFORE, n_high = HIGH_BEFORE;
    size_t count = 0;

    for (size_t i = 0; i < n_samples; i++) {
        struct robust_point point;

        if (samples[i].n < 2)
            continue;
        robust_point_of(prior, samples[i], &point);
        std[count] = point.std;
        n[count++] = point.std_df + 1;
        n_runs += (double)samples[i].n;
        n_low += point.n_low;
        n_high += point.n_high;
    }
    prior->noise = noise_fit(std, n, count, fallback_std);
    prior->low_share = n_low / n_runs;
    prior->high_share = n_high / n_runs;
}

int robust_fit(const struct robust_sample *samples, size_t n_samples, double fallback_std,
               struct robust_prior *ret_prior)
{
    struct robust_prior prior = robust_prior_default(fallback_std);
    size_t n_runs = 0, *n = malloc((n_samples + 1) * sizeof(*n));
    double *std = malloc((n_samples + 1) * sizeof(*std)), *deviations;

    for (size_t i = 0; i < n_samples; i++)
        n_runs += samples[i].n;
    deviations = malloc((n_runs + 1) * sizeof(*deviations));
    if (n && std && deviations) {
        double start = start_std(samples, n_samples, deviations);

        if (start > 0.0)
            prior.noise = (struct noise_prior){.variance = start * start, .df = START_DF};
        for (int round = 0; round < N_ROUNDS; round++)
            fit_again(samples, n_samples, fallback_std, std, n, &prior);
        *ret_prior = prior;
    }
    int result = n && std && deviations ? 0 : -ENOMEM;
    free(n);
    free(std);
    free(deviations);
    return result;
}

double robust_single_weight(const struct robust_prior *prior, double value, double mean, double variance)
{
    double total = variance + prior->noise.variance, distance = mean - value;
    double share = distance > 0.0 ? prior->low_share : prior->high_share;
    double ordinary = (1.0 - prior->low_share - prior->high_share) * exp(-0.5 * distance * distance / total) /
                      sqrt(2.0 * M_PI * total);

    return ordinary / (ordinary + share * exp(log_outlier(prior, fabs(distance))) + DBL_MIN);
}
