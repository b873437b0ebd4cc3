/* models/statistics/wander: an Ornstein-Uhlenbeck process seen through the runs of many settings. */
#include "models/statistics/wander.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Fewer runs whose groups have others show nothing. */
#define LEAST_RUNS 20
/* Log density of left-out runs that what is common must gain: its two figures are searched for, and a search
 * looks many times. Of 48 simulated searches with nothing in common 6 gained 5 or more; on a shared disk the
 * first 20 s of four searches gained 8 to 28. */
#define LEAST_GAIN 8.0
/* A smaller scatter of the runs does not matter. */
#define LEAST_STD 0.002
/* A residual further off, in robust standard deviations, counts as one so far off. */
#define FURTHEST   2.5
#define MEDIAN_STD 1.4826 /* of a normal distribution, by its median deviation */
#define N_TURNS    6      /* of backfitting */

static const double shares[] = {0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9}; /* of the variance of a run */
static const double taus_seconds[] = {0.1, 0.3, 1, 3, 10, 30, 100};

#define N_SHARES (sizeof shares / sizeof shares[0])
#define N_TAUS   (sizeof taus_seconds / sizeof taus_seconds[0])

/* What is common at a time. */
struct state {
    double mean, variance;
};

struct series {
    const struct wander_run *runs;
    size_t n, n_groups, n_known; /* known: its time, and others of its group */
    /* By run. */
    double *residuals; /* without the group's location; NaN: not known */
    double *common, *scratch;
    struct state *before;       /* by the runs before it */
    double *locations, *counts; /* by group */
    double left;                /* mean variance of what is common at a run's time */
};

static void series_done(struct series *series)
{
    free(series->residuals);
    free(series->before);
    free(series->locations);
}

static int series_init(struct series *series, const struct wander_run *runs, size_t n, size_t n_groups)
{
    *series = (struct series){.runs = runs, .n = n, .n_groups = n_groups};
    series->residuals = calloc(3 * (n + 1), sizeof *series->residuals);
    series->before = calloc(n + 1, sizeof *series->before);
    series->locations = calloc(2 * (n_groups + 1), sizeof *series->locations);
    if (series->residuals == NULL || series->before == NULL || series->locations == NULL) {
        series_done(series);
        return -ENOMEM;
    }
    series->common = series->residuals + n;
    series->scratch = series->common + n;
    series->counts = series->locations + n_groups;
    for (size_t i = 0; i < n; i++)
        series->counts[runs[i].group] += runs[i].seconds > 0;
    for (size_t i = 0; i < n; i++)
        series->n_known += runs[i].seconds > 0 && series->counts[runs[i].group] > 1;
    return 0;
}

/* What is left of each run without its group's location, which is that of the runs without what is common. */
static void find_residuals(struct series *series)
{
    memset(series->locations, 0, series->n_groups * sizeof *series->locations);
    for (size_t i = 0; i < series->n; i++) {
        const struct wander_run *run = &series->runs[i];
        if (run->seconds > 0)
            series->locations[run->group] += (run->value - series->common[i]) / series->counts[run->group];
    }
    for (size_t i = 0; i < series->n; i++) {
        const struct wander_run *run = &series->runs[i];
        bool known = run->seconds > 0 && series->counts[run->group] > 1;
        series->residuals[i] = known ? run->value - series->locations[run->group] : NAN;
    }
}

/* A mean takes a part of the residuals' variance with it: gives it back. */
static void unshrink(struct series *series)
{
    for (size_t i = 0; i < series->n; i++) {
        double n = series->counts[series->runs[i].group];
        if (isfinite(series->residuals[i]))
            series->residuals[i] *= sqrt(n / (n - 1));
    }
}

/* Brings in what is far off. */
static void limit_residuals(struct series *series)
{
    size_t n_known = 0;
    for (size_t i = 0; i < series->n; i++) {
        if (isfinite(series->residuals[i]))
            series->scratch[n_known++] = fabs(series->residuals[i]);
    }
    double most = FURTHEST * MEDIAN_STD * median_of(series->scratch, n_known);
    for (size_t i = 0; i < series->n; i++) {
        if (isfinite(series->residuals[i]))
            series->residuals[i] = fmax(fmin(series->residuals[i], most), -most);
    }
}

static double variance_of(const struct series *series)
{
    double squares = 0;
    for (size_t i = 0; i < series->n; i++)
        squares += isfinite(series->residuals[i]) ? series->residuals[i] * series->residuals[i] : 0;
    return squares / (double)series->n_known;
}

static void pass_time(struct state *state, const struct wander *wander, double seconds)
{
    double kept = exp(-seconds / wander->tau_seconds);
    state->mean *= kept;
    state->variance = wander->variance + kept * kept * (state->variance - wander->variance);
}

static void see(struct state *state, double residual, double noise_variance)
{
    if (!isfinite(residual))
        return;
    double weight = state->variance / (state->variance + noise_variance);
    state->mean += weight * (residual - state->mean);
    state->variance *= 1 - weight;
}

/* What is common at each run's time by the runs before and after it. Returns the log density of the residuals
 * so left out. */
static double smooth(struct series *series, const struct wander *wander)
{
    double density = 0, noise_variance = wander->noise_variance;
    struct state state = {0, wander->variance};
    for (size_t i = 0; i < series->n; i++) {
        if (i > 0)
            pass_time(&state, wander, series->runs[i].seconds - series->runs[i - 1].seconds);
        series->before[i] = state;
        see(&state, series->residuals[i], noise_variance);
    }
    state = (struct state){0, wander->variance};
    series->left = 0;
    for (size_t i = series->n; i-- > 0;) {
        const struct state *before = &series->before[i];
        double variance = 1 / (1 / before->variance + 1 / state.variance - 1 / wander->variance);
        double mean = variance * (before->mean / before->variance + state.mean / state.variance);
        double both = variance + noise_variance, residual = series->residuals[i];
        series->left += variance / (double)series->n;
        series->common[i] = series->runs[i].seconds > 0 ? mean : 0;
        if (isfinite(residual))
            density -= 0.5 * (log(both) + (residual - mean) * (residual - mean) / both);
        see(&state, residual, noise_variance);
        if (i > 0)
            pass_time(&state, wander, series->runs[i].seconds - series->runs[i - 1].seconds);
    }
    return density;
}

/* Residuals must be known. Nothing common: each run has all the variance for itself. */
static void choose(struct series *series, double variance, struct wander *ret_wander)
{
    double best = -0.5 * (double)series->n_known * (log(variance) + 1) + LEAST_GAIN;
    for (size_t i = 0; i < N_SHARES; i++) {
        for (size_t k = 0; k < N_TAUS; k++) {
            struct wander wander = {shares[i] * variance, taus_seconds[k], (1 - shares[i]) * variance};
            double density = smooth(series, &wander);
            if (density > best) {
                best = density;
                *ret_wander = wander;
            }
        }
    }
}

int wander_fit(const struct wander_run *runs, size_t n, size_t n_groups, struct wander *ret_wander)
{
    struct series series;
    *ret_wander = (struct wander){0};
    int result = series_init(&series, runs, n, n_groups);
    if (result < 0)
        return result;
    if (series.n_known >= LEAST_RUNS) {
        find_residuals(&series);
        unshrink(&series);
        limit_residuals(&series);
        double variance = variance_of(&series);
        if (variance > LEAST_STD * LEAST_STD)
            choose(&series, variance, ret_wander);
    }
    series_done(&series);
    return 0;
}

int wander_common(const struct wander *wander, const struct wander_run *runs, size_t n, size_t n_groups,
                  double *ret_common, double *ret_variance)
{
    struct series series;
    *ret_variance = 0;
    memset(ret_common, 0, n * sizeof *ret_common);
    if (!(wander->variance > 0))
        return 0;
    int result = series_init(&series, runs, n, n_groups);
    if (result < 0)
        return result;
    for (size_t turn = 0; turn < N_TURNS; turn++) {
        find_residuals(&series);
        limit_residuals(&series);
        (void)smooth(&series, wander);
    }
    memcpy(ret_common, series.common, n * sizeof *ret_common);
    *ret_variance = series.left;
    series_done(&series);
    return 0;
}

double wander_mean_variance(const struct wander *wander, const double *seconds, size_t n)
{
    double sum = 0;
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        n_known += seconds[i] > 0;
        for (size_t k = 0; k < n && seconds[i] > 0; k++)
            sum += seconds[k] > 0 ? exp(-fabs(seconds[i] - seconds[k]) / wander->tau_seconds) : 0;
    }
    return wander->variance > 0 && n_known > 0 ? wander->variance * sum / (double)(n_known * n_known) : 0;
}
