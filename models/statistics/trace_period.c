/* models/statistics/trace_period: a repeating shape, by the line that it makes in the spectrum together with
 * its overtones. */
#include "models/statistics/trace_internal.h"

#include <errno.h>
#include <gsl/gsl_fft_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PERIODS   5
#define LEAST_WINDOWS   3.0 /* of a period */
#define N_OVERTONES     3   /* of the fundamental on: a saw-tooth has 83 % of its variance in three */
#define MAX_PHASES      24
#define LEAST_SHARE     0.30 /* of the variance, for long series */
#define SHARE_PER_N     8.0  /* short series of noise reach higher shares by chance */
#define SHARE_PER_CYCLE 1.0  /* and so do few ups and downs of any kind */
#define LEAST_SIZE      0.02 /* standard deviation of the shape, relative to the typical rate */
#define REFINEMENT      8
#define PADDING         4 /* the spectrum is seen this much finer than the series' own resolution */

struct spectrum {
    double *values; /* GSL's half-complex order */
    size_t n;
    double scale; /* power to share of the variance */
    double variance;
};

static size_t power_of_two(size_t least)
{
    size_t n = 1;

    while (n < least)
        n *= 2;
    return n;
}

/* Without its straight line, because a trend's spectrum would cover long periods. */
static void detrended(const double *values, size_t n, double *ret_rest, double *ret_squares)
{
    double centre = (double)(n - 1) / 2, mean = 0, xx = 0, xy = 0;

    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i - centre;
        xx += x * x;
        xy += x * (values[i] - mean);
    }
    *ret_squares = 0;
    for (size_t i = 0; i < n; i++) {
        ret_rest[i] = values[i] - mean - xy / xx * ((double)i - centre);
        *ret_squares += ret_rest[i] * ret_rest[i];
    }
}

static int spectrum_init(struct spectrum *spectrum, const double *values, size_t n)
{
    double squares;

    spectrum->n = power_of_two(PADDING * n);
    spectrum->values = calloc(spectrum->n, sizeof(*spectrum->values));
    if (spectrum->values == NULL)
        return -ENOMEM;
    detrended(values, n, spectrum->values, &squares);
    spectrum->variance = squares / (double)n;
    spectrum->scale = squares > 0 ? 2 / ((double)n * squares) : 0;
    gsl_fft_real_radix2_transform(spectrum->values, 1, spectrum->n);
    return 0;
}

static double share_at(const struct spectrum *spectrum, double line)
{
    size_t k = (size_t)lround(line);
    double re, im;

    if (k == 0 || 2 * k >= spectrum->n)
        return 0;
    re = spectrum->values[k];
    im = spectrum->values[spectrum->n - k];
    return spectrum->scale * (re * re + im * im);
}

static double share_with_overtones(const struct spectrum *spectrum, size_t line)
{
    double share = 0;

    for (size_t h = 1; h <= N_OVERTONES; h++)
        share += share_at(spectrum, (double)(h * line));
    return share;
}

/* The strongest line; 0 where none is allowed. A fundamental is stronger than its overtones, so the choice
 * goes by it alone. */
static size_t strongest(const struct spectrum *spectrum, size_t n)
{
    double step = (double)spectrum->n / (double)n;
    size_t from = (size_t)ceil((LEAST_PERIODS - 0.25) * step);
    size_t to = (size_t)floor((double)spectrum->n / LEAST_WINDOWS), best = 0;

    for (size_t k = from; k <= to; k++) {
        if (best == 0 || share_at(spectrum, (double)k) > share_at(spectrum, (double)best))
            best = k;
    }
    return best;
}

struct profile {
    double mean[MAX_PHASES];
    size_t n_phases;
    double period;
};

static size_t phase_of(const struct profile *profile, size_t i)
{
    double phase = fmod((double)i, profile->period) / profile->period;

    return (size_t)(phase * (double)profile->n_phases) % profile->n_phases;
}

/* Mean of every phase, relative to the mean of all. */
static void fold(const double *values, size_t n, double period, struct profile *profile)
{
    size_t counts[MAX_PHASES] = {0};
    double mean = 0;

    *profile = (struct profile){.period = period, .n_phases = (size_t)fmin(MAX_PHASES, floor(period))};
    for (size_t i = 0; i < n; i++) {
        size_t p = phase_of(profile, i);
        profile->mean[p] += values[i];
        counts[p]++;
        mean += values[i] / (double)n;
    }
    for (size_t p = 0; p < profile->n_phases; p++)
        profile->mean[p] = counts[p] > 0 ? profile->mean[p] / (double)counts[p] - mean : 0;
}

static double explained(const struct profile *profile)
{
    double squares = 0;

    for (size_t p = 0; p < profile->n_phases; p++)
        squares += profile->mean[p] * profile->mean[p];
    return squares / (double)profile->n_phases;
}

/* A line of the spectrum is too coarse: over all periods the phase would slip. Takes the best fold around it.
 */
static void fold_best(const double *values, size_t n, const struct spectrum *spectrum, size_t line,
                      struct profile *ret_profile)
{
    struct profile profile;

    for (int i = -REFINEMENT; i <= REFINEMENT; i++) {
        double exact = (double)line + (double)i / REFINEMENT;
        fold(values, n, (double)spectrum->n / exact, &profile);
        if (i == -REFINEMENT || explained(&profile) > explained(ret_profile))
            *ret_profile = profile;
    }
}

static void halves(const double *values, size_t n, const struct profile *profile, struct trace_period *period)
{
    double sums[2] = {0};
    size_t counts[2] = {0};

    for (size_t i = 0; i < n; i++) {
        bool upper = profile->mean[phase_of(profile, i)] > 0;
        sums[upper] += values[i];
        counts[upper]++;
    }
    period->low = counts[0] > 0 ? sums[0] / (double)counts[0] : NAN;
    period->high = counts[1] > 0 ? sums[1] / (double)counts[1] : NAN;
}

/* One point a period, weighted over two of them (Hann), so that neither the shape nor its jumps between
 * windows are left over. */
static size_t average_periods(const double *values, size_t n, double period, double *ret_points)
{
    size_t n_points = 0;

    for (double centre = period; centre + period <= (double)n; centre += period) {
        double sum = 0, weights = 0;
        for (size_t i = (size_t)(centre - period); i < n && (double)i < centre + period; i++) {
            double distance = ((double)i + 0.5 - centre) / period;
            double weight = fabs(distance) < 1 ? 0.5 + 0.5 * cos(M_PI * distance) : 0;
            sum += weight * values[i];
            weights += weight;
        }
        ret_points[n_points++] = sum / weights;
    }
    return n_points;
}

int trace_period_find(const double *values, size_t n, struct trace_period *ret_period, double *ret_points,
                      size_t *ret_n_points)
{
    struct spectrum spectrum;
    struct profile profile;
    double share, needed;
    size_t line;
    int r = spectrum_init(&spectrum, values, n);

    if (r < 0)
        return r;
    *ret_period = (struct trace_period){.windows = NAN, .low = NAN, .high = NAN};
    memcpy(ret_points, values, n * sizeof(*values));
    *ret_n_points = n;
    line = strongest(&spectrum, n);
    share = share_with_overtones(&spectrum, line);
    needed = LEAST_SHARE + SHARE_PER_N / (double)n +
             SHARE_PER_CYCLE * (double)spectrum.n / ((double)line * (double)n);
    if (line > 0 && share >= needed && sqrt(share * spectrum.variance) >= LEAST_SIZE) {
        ret_period->found = true;
        fold_best(values, n, &spectrum, line, &profile);
        ret_period->windows = profile.period;
        halves(values, n, &profile, ret_period);
        *ret_n_points = average_periods(values, n, profile.period, ret_points);
    }
    free(spectrum.values);
    return 0;
}
