/* tests/statistics/coverage: how often intervals hold a truth that is known because the noise is made here.
 *
 * Shared by the study (coverage.c) and its short version among the tests. Seeds are fixed. */
#pragma once

#include "models/statistics/batch_means.h"
#include "models/statistics/percentile.h"
#include "models/statistics/skew.h"
#include "tuner/session/samples.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define COVERAGE_CONFIDENCE 0.95
#define COVERAGE_MAX_VALUES 5000
#define COVERAGE_MAX_RUNS   30
#define COVERAGE_WINDOWS    100 /* of a run that is one of several replays */

/* Noise of mean 1 inside a run. */
struct coverage_noise {
    const char *name;
    double cv, rho; /* spread and lag-1 correlation (of logarithms where lognormal) */
    bool lognormal;
    double white_share;    /* of the variance is not correlated */
    double warmup_factor;  /* 0: none; at the start the rate is multiplied by this, and 1 + (factor - 1) */
    double warmup_share;   /*   exp(-3 t / warmup) later; of the length of the series */
    double outlier_factor; /* 0: none; divides 1 % of the values */
};

struct coverage_tally {
    size_t n, claimed, held, plain_held;
};

static inline double coverage_truth(double outlier_factor)
{
    return outlier_factor > 0 ? 1 - 0.01 * (1 - 1 / outlier_factor) : 1;
}

static inline double coverage_lognormal(double z, double cv)
{
    double variance = log1p(cv * cv);
    return exp(z * sqrt(variance) - variance / 2);
}

static inline void coverage_series(const struct coverage_noise *noise, gsl_rng *rng, double *values, size_t n)
{
    double z = gsl_ran_gaussian_ziggurat(rng, 1), fresh = sqrt(1 - noise->rho * noise->rho);
    for (size_t i = 0; i < n; i++) {
        double seen = z;
        if (noise->white_share > 0)
            seen = sqrt(1 - noise->white_share) * z +
                   sqrt(noise->white_share) * gsl_ran_gaussian_ziggurat(rng, 1);
        values[i] = noise->lognormal ? coverage_lognormal(seen, noise->cv) : 1 + noise->cv * seen;
        if (noise->warmup_factor > 0)
            values[i] *=
                1 + (noise->warmup_factor - 1) * exp(-3 * (double)i / (noise->warmup_share * (double)n));
        if (noise->outlier_factor > 0 && gsl_rng_uniform(rng) < 0.01)
            values[i] /= noise->outlier_factor;
        z = noise->rho * z + fresh * gsl_ran_gaussian_ziggurat(rng, 1);
    }
}

static inline bool coverage_holds(struct interval interval, double truth)
{
    return interval.low <= truth && truth <= interval.high;
}

static inline void coverage_count(struct coverage_tally *tally, struct interval interval,
                                  struct interval plain, double truth)
{
    tally->n++;
    tally->claimed += isfinite(interval.low);
    tally->held += coverage_holds(interval, truth);
    tally->plain_held += coverage_holds(plain, truth);
}

static inline gsl_rng *coverage_rng(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, seed);
    return rng;
}

/* Batch means of a single series of n values (at most COVERAGE_MAX_VALUES). */
static inline struct coverage_tally coverage_of_series(const struct coverage_noise *noise, size_t n,
                                                       size_t n_series, unsigned long seed)
{
    static double values[COVERAGE_MAX_VALUES];
    struct coverage_tally tally = {0};
    gsl_rng *rng = coverage_rng(seed);
    for (size_t i = 0; i < n_series; i++) {
        struct batch_means means = {.interval = {.low = NAN, .high = NAN}};
        coverage_series(noise, rng, values, n);
        batch_means_of(values, n, COVERAGE_CONFIDENCE, &means);
        coverage_count(&tally, means.interval, student_interval(moments_of(values, n), COVERAGE_CONFIDENCE),
                       coverage_truth(noise->outlier_factor));
    }
    gsl_rng_free(rng);
    return tally;
}

/* Noise between runs: a lognormal factor of mean 1, and 1 % of runs slower by outlier_factor (0: none). */
struct coverage_between {
    double cv, outlier_factor;
};

static inline double coverage_run(const struct coverage_noise *noise, struct coverage_between between,
                                  gsl_rng *rng, double *ret_uncut)
{
    double values[COVERAGE_WINDOWS];
    struct batch_means inside = {.mean = NAN};
    coverage_series(noise, rng, values, COVERAGE_WINDOWS);
    batch_means_of(values, COVERAGE_WINDOWS, COVERAGE_CONFIDENCE, &inside);
    double factor = coverage_lognormal(gsl_ran_gaussian_ziggurat(rng, 1), between.cv);
    if (between.outlier_factor > 0 && gsl_rng_uniform(rng) < 0.01)
        factor /= between.outlier_factor;
    *ret_uncut = factor * moments_of(values, COVERAGE_WINDOWS).mean;
    return factor * inside.mean;
}

/* Intervals over n replays, each a run of COVERAGE_WINDOWS windows whose warm-up is left out as
 * tuner/session/initial_transient does. Plain: Student's over whole runs. */
static inline struct coverage_tally coverage_of_replays(const struct coverage_noise *noise,
                                                        struct coverage_between between, size_t n,
                                                        size_t n_samples, unsigned long seed)
{
    double values[COVERAGE_MAX_RUNS], uncut[COVERAGE_MAX_RUNS];
    struct coverage_tally tally = {0};
    gsl_rng *rng = coverage_rng(seed);
    double truth = coverage_truth(noise->outlier_factor) * coverage_truth(between.outlier_factor);
    for (size_t i = 0; i < n_samples; i++) {
        for (size_t run = 0; run < n; run++)
            values[run] = coverage_run(noise, between, rng, &uncut[run]);
        coverage_count(&tally, skew_interval(values, n, COVERAGE_CONFIDENCE, NULL),
                       student_interval(moments_of(uncut, n), COVERAGE_CONFIDENCE), truth);
    }
    gsl_rng_free(rng);
    return tally;
}

/* Latencies: lognormal around 100 us with a standard deviation of 0.5 in logarithms. */
struct coverage_latency {
    const char *name;
    double run_cv, rho; /* a factor per run; lag-1 correlation of log latencies inside a run */
};

#define COVERAGE_LATENCY_NS  100000.0
#define COVERAGE_LATENCY_STD 0.5

enum { COVERAGE_P50, COVERAGE_P99, COVERAGE_P999, COVERAGE_N_SHARES };
static const double coverage_shares[COVERAGE_N_SHARES] = {0.5, 0.99, 0.999};

static inline void coverage_fill_latency(const struct coverage_latency *kind, size_t n_requests, gsl_rng *rng,
                                         struct histogram *latency)
{
    double factor = coverage_lognormal(gsl_ran_gaussian_ziggurat(rng, 1), kind->run_cv);
    double z = gsl_ran_gaussian_ziggurat(rng, 1), fresh = sqrt(1 - kind->rho * kind->rho);
    histogram_init(latency);
    for (size_t i = 0; i < n_requests; i++) {
        histogram_add(latency, (uint64_t)(COVERAGE_LATENCY_NS * factor * exp(COVERAGE_LATENCY_STD * z)), 1);
        z = kind->rho * z + fresh * gsl_ran_gaussian_ziggurat(rng, 1);
    }
}

/* Of all requests over all runs: the product of two lognormals is one. */
static inline double coverage_latency_truth(const struct coverage_latency *kind, double share)
{
    double variance = log1p(kind->run_cv * kind->run_cv);
    double std = sqrt(COVERAGE_LATENCY_STD * COVERAGE_LATENCY_STD + variance);
    return COVERAGE_LATENCY_NS * exp(std * gsl_cdf_ugaussian_Pinv(share) - variance / 2);
}

static inline struct interval coverage_as_independent(const struct histogram *pooled, double share)
{
    struct percentile_bounds bounds = percentile_bounds_of(share, (double)pooled->n, 1, COVERAGE_CONFIDENCE);
    uint64_t low = 0, high = 0;
    if (histogram_quantile_ns(pooled, bounds.low_share, &low) < 0 ||
        histogram_quantile_ns(pooled, bounds.high_share, &high) < 0)
        return (struct interval){.low = NAN, .high = NAN};
    return (struct interval){.low = (double)low, .high = (double)high};
}

/* Percentiles over n_runs runs of n_requests each, through the same histograms and sketches as the program's.
 * plain_held counts what ranks without a design effect would hold. */
static inline void coverage_of_percentiles(const struct coverage_latency *kind, size_t n_runs,
                                           size_t n_requests, size_t n_samples, unsigned long seed,
                                           struct coverage_tally ret_tallies[COVERAGE_N_SHARES])
{
    static struct histogram latency, pooled;
    static struct sample samples[COVERAGE_MAX_RUNS];
    struct record record = {.samples = samples, .n = n_runs};
    gsl_rng *rng = coverage_rng(seed);
    for (int share = 0; share < COVERAGE_N_SHARES; share++)
        ret_tallies[share] = (struct coverage_tally){0};
    for (size_t i = 0; i < n_samples; i++) {
        struct latency_row row = {0};
        histogram_init(&pooled);
        for (size_t run = 0; run < n_runs; run++) {
            coverage_fill_latency(kind, n_requests, rng, &latency);
            histogram_merge(&pooled, &latency);
            samples[run].latency_quantiles = latency_quantiles_of(&latency);
        }
        percentiles_fill(&record, false, COVERAGE_CONFIDENCE, &pooled, &row);
        const struct interval intervals[] = {row.p50_ci, row.p99_ci, row.p999_ci};
        for (int share = 0; share < COVERAGE_N_SHARES; share++)
            coverage_count(&ret_tallies[share], intervals[share],
                           coverage_as_independent(&pooled, coverage_shares[share]),
                           coverage_latency_truth(kind, coverage_shares[share]));
    }
    gsl_rng_free(rng);
}

static inline double coverage_share(size_t part, size_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}
