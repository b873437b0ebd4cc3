/* Labelled traces for the tests of models/statistics/trace and for tests/statistics/shapes: what the true
 * rate does over time, and what may be said of it.
 *
 * Effects are drawn at random, but never below what the noise lets anyone see: a lasting change is at least
 * SHAPES_SIGNAL standard errors of such a change under that noise (see shapes_error). Where that would need
 * an effect beyond what the shape stands for, the shape is not defined under that noise (make returns false).
 */
#pragma once

#include "models/statistics/trace.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#define SHAPES_MAX_WINDOWS 1000
#define SHAPES_SIGNAL      5.0

struct shapes_noise {
    const char *name;
    double cv, rho;
};

static const struct shapes_noise shapes_noises[] = {
    {"iid 1 %", 0.01, 0},      {"iid 5 %", 0.05, 0},     {"iid 10 %", 0.10, 0},     {"iid 20 %", 0.20, 0},
    {"AR .5 10 %", 0.10, 0.5}, {"AR .8 5 %", 0.05, 0.8}, {"AR .8 10 %", 0.10, 0.8},
};

struct shapes_trace {
    size_t n;
    double level[SHAPES_MAX_WINDOWS]; /* the true rate */
    double cv[SHAPES_MAX_WINDOWS];
    double factor[SHAPES_MAX_WINDOWS]; /* outliers */
    double sustained;                  /* the rate in the long run; NaN: there is none */
    size_t oracle;                     /* first window of the sustained part */
};

struct shapes_row {
    const char *name;
    bool steady;          /* what the verdict should be */
    bool or_within_5;     /* either verdict is right, if a mean that is called steady is within 5 % */
    unsigned names;       /* bits of the shapes that are right */
    size_t least_windows; /* shorter traces cannot show it */
    bool (*make)(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace);
};

static inline double shapes_between(const gsl_rng *rng, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(rng);
}

/* Standard error of the difference between the two halves of a trace. */
static inline double shapes_error(const struct shapes_noise *noise, size_t n)
{
    return 2 * noise->cv * sqrt((1 + noise->rho) / (1 - noise->rho) / (double)n);
}

/* A lasting change between the size that noise asks for and `most`; false where there is no room. */
static inline bool shapes_effect(const gsl_rng *rng, const struct shapes_noise *noise, size_t n, double least,
                                 double most, double *ret_effect)
{
    double needed = fmax(least, SHAPES_SIGNAL * shapes_error(noise, n));

    if (needed > most)
        return false;
    *ret_effect = shapes_between(rng, needed, most);
    return true;
}

static inline void shapes_start(struct shapes_trace *trace, const struct shapes_noise *noise)
{
    for (size_t i = 0; i < trace->n; i++) {
        trace->level[i] = 1;
        trace->cv[i] = noise->cv;
        trace->factor[i] = 1;
    }
    trace->sustained = 1;
    trace->oracle = 0;
}

static inline size_t shapes_at(const gsl_rng *rng, const struct shapes_trace *trace, double low, double high)
{
    return (size_t)(shapes_between(rng, low, high) * (double)trace->n);
}

static bool shapes_flat(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    (void)rng;
    (void)noise;
    (void)trace;
    return true;
}

static inline void shapes_outliers(const gsl_rng *rng, struct shapes_trace *trace, double share,
                                   double factor)
{
    size_t n_outliers = (size_t)ceil(share * (double)trace->n);

    for (size_t i = 0; i < n_outliers; i++)
        trace->factor[3 + gsl_rng_uniform_int(rng, trace->n - 6)] = factor;
    trace->sustained = 1 - share * (1 - factor);
}

static bool shapes_stalls(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    shapes_outliers(rng, trace, 0.01, shapes_between(rng, 0.02, 0.2));
    return noise->cv <= 0.1;
}

static bool shapes_spikes(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    shapes_outliers(rng, trace, 0.03, shapes_between(rng, 2, 4));
    return noise->cv <= 0.1;
}

static bool shapes_ramp(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    size_t end = shapes_at(rng, trace, 0.15, 0.35);
    double low;

    if (!shapes_effect(rng, noise, trace->n, 0.5, 0.9, &low))
        return false;
    for (size_t i = 0; i < end; i++)
        trace->level[i] = 1 - low * (1 - (double)i / (double)end);
    trace->oracle = end;
    return true;
}

static bool shapes_slow_start(const gsl_rng *rng, const struct shapes_noise *noise,
                              struct shapes_trace *trace)
{
    size_t end = shapes_at(rng, trace, 0.10, 0.30);
    double low;

    if (!shapes_effect(rng, noise, trace->n, 0.3, 0.9, &low))
        return false;
    for (size_t i = 0; i < end; i++)
        trace->level[i] = 1 - low;
    trace->oracle = end;
    return true;
}

static inline void shapes_fall(struct shapes_trace *trace, size_t at, double level)
{
    for (size_t i = at; i < trace->n; i++)
        trace->level[i] = level;
    trace->oracle = at;
    trace->sustained = level;
}

static bool shapes_cliff(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    double fall;

    if (!shapes_effect(rng, noise, trace->n, 0.4, 0.7, &fall))
        return false;
    shapes_fall(trace, shapes_at(rng, trace, 0.15, 0.65), 1 - fall);
    return true;
}

static bool shapes_late_cliff(const gsl_rng *rng, const struct shapes_noise *noise,
                              struct shapes_trace *trace)
{
    double fall;

    /* A sixth of the windows knows its level three times worse than halves do. */
    if (!shapes_effect(rng, noise, trace->n / 2, 0.4, 0.7, &fall))
        return false;
    shapes_fall(trace, shapes_at(rng, trace, 0.80, 0.90), 1 - fall);
    return true;
}

static bool shapes_pinned(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    size_t at = shapes_at(rng, trace, 0.30, 0.65);

    shapes_fall(trace, at, shapes_between(rng, 0.3, 0.6));
    for (size_t i = at; i < trace->n; i++)
        trace->cv[i] = 0.002;
    return noise->cv >= 0.05 && noise->rho == 0;
}

static bool shapes_linear_decline(const gsl_rng *rng, const struct shapes_noise *noise,
                                  struct shapes_trace *trace)
{
    double fall;

    /* The halves of a line differ by half of its change. */
    if (!shapes_effect(rng, noise, trace->n / 4, 0.10, 0.6, &fall))
        return false;
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 - fall * (double)i / (double)trace->n;
    trace->sustained = NAN;
    return true;
}

static bool shapes_upward_drift(const gsl_rng *rng, const struct shapes_noise *noise,
                                struct shapes_trace *trace)
{
    double rise;

    /* The halves of a line differ by half of its change. */
    if (!shapes_effect(rng, noise, trace->n / 4, 0.10, 0.6, &rise))
        return false;
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 - rise * (1 - (double)i / (double)trace->n);
    trace->sustained = NAN;
    return true;
}

static bool shapes_endless_decay(const gsl_rng *rng, const struct shapes_noise *noise,
                                 struct shapes_trace *trace)
{
    double constant = shapes_between(rng, 0.75, 1.5) * (double)trace->n, fall;

    if (!shapes_effect(rng, noise, trace->n / 4, 0.2, 0.7, &fall))
        return false;
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] =
            1 - fall * (1 - exp(-(double)i / constant)) / (1 - exp(-(double)trace->n / constant));
    trace->sustained = NAN;
    return true;
}

/* scylladb/scylladb#25532: 30 s read 33 to 36 % more than 2,400 s, 120 s read 8 to 9 % more: an excess worth
 * some 10.5 s at the sustained rate. Windows are seconds; the excess ends at once or fades. */
static bool shapes_burst_of_minutes(const gsl_rng *rng, const struct shapes_noise *noise,
                                    struct shapes_trace *trace)
{
    double constant = shapes_between(rng, 8, 40);

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + 10.5 / constant * exp(-(double)i / constant);
    trace->oracle = (size_t)fmin(constant * log(10.5 / constant / 0.02), (double)trace->n);
    return noise->cv <= 0.05 && noise->rho == 0 && trace->n <= 300;
}

static inline void shapes_saw(struct shapes_trace *trace, double period, double depth, double phase)
{
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + depth * (0.5 - fmod((double)i / period + phase, 1));
}

static inline double shapes_depth(const gsl_rng *rng, const struct shapes_noise *noise)
{
    return fmin(1.2, fmax(shapes_between(rng, 0.3, 0.6), 6 * noise->cv));
}

static inline double shapes_many_periods(const gsl_rng *rng, const struct shapes_trace *trace)
{
    return fmin(shapes_between(rng, 4.5, 40), (double)trace->n / shapes_between(rng, 7, 12));
}

static bool shapes_saw_tooth(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    shapes_saw(trace, shapes_many_periods(rng, trace), shapes_depth(rng, noise), gsl_rng_uniform(rng));
    return true;
}

static bool shapes_sine(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    double period = shapes_many_periods(rng, trace), depth = shapes_depth(rng, noise);

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + depth / 2 * sin(2 * M_PI * (double)i / period);
    return true;
}

/* Garbage collection: slow for a part of every period, whose length varies by a tenth. */
static bool shapes_collection(const gsl_rng *rng, const struct shapes_noise *noise,
                              struct shapes_trace *trace)
{
    double period = shapes_many_periods(rng, trace), depth = fmin(0.9, shapes_depth(rng, noise));
    double duty = shapes_between(rng, 0.3, 0.6), next = 0, slow_from = 0;

    trace->sustained = 1 - depth * duty;
    for (size_t i = 0; i < trace->n; i++) {
        if ((double)i >= next) {
            double length = period * shapes_between(rng, 0.95, 1.05);
            slow_from = next + length * (1 - duty);
            next += length;
        }
        if ((double)i >= slow_from)
            trace->level[i] = 1 - depth;
    }
    return true;
}

static bool shapes_one_or_two_teeth(const gsl_rng *rng, const struct shapes_noise *noise,
                                    struct shapes_trace *trace)
{
    double depth;

    /* A quarter of the trace must show half of the depth. */
    if (!shapes_effect(rng, noise, trace->n / 16, 0.3, 1.2, &depth))
        return false;
    shapes_saw(trace, (double)trace->n / shapes_between(rng, 1, 2), depth, gsl_rng_uniform(rng));
    trace->sustained = NAN;
    return true;
}

static bool shapes_two_levels(const gsl_rng *rng, const struct shapes_noise *noise,
                              struct shapes_trace *trace)
{
    double depth = shapes_between(rng, fmax(0.3, 5 * noise->cv), 0.8), stay = shapes_between(rng, 0.04, 0.10);
    double dwell = stay * (double)trace->n;
    bool up = gsl_rng_uniform(rng) < 0.5;

    for (size_t i = 0; i < trace->n; i++) {
        if (gsl_rng_uniform(rng) < 1 / dwell)
            up = !up;
        trace->level[i] = up ? 1 : 1 - depth;
    }
    trace->sustained = NAN;
    return noise->cv <= 0.1;
}

static bool shapes_thermal(const gsl_rng *rng, const struct shapes_noise *noise, struct shapes_trace *trace)
{
    double depth;
    size_t i = shapes_at(rng, trace, 0.2, 0.35);

    /* Stays last a tenth to a fifth of the trace. */
    if (!shapes_effect(rng, noise, trace->n / 12, 0.3, 0.7, &depth))
        return false;
    while (i < trace->n) {
        size_t low = i + shapes_at(rng, trace, 0.1, 0.2), high = low + shapes_at(rng, trace, 0.06, 0.18);
        for (; i < low && i < trace->n; i++)
            trace->level[i] = 1 - depth;
        i = high;
    }
    trace->sustained = NAN;
    return true;
}

static bool shapes_random_walk(const gsl_rng *rng, const struct shapes_noise *noise,
                               struct shapes_trace *trace)
{
    /* At its end it is 8 of the noise's standard deviations off, typically. */
    double step = fmax(0.15, 8 * noise->cv) / sqrt((double)trace->n), log_level = 0;

    for (size_t i = 0; i < trace->n; i++) {
        trace->level[i] = exp(log_level);
        log_level += gsl_ran_gaussian(rng, step);
    }
    trace->sustained = NAN;
    return noise->cv <= 0.05 && noise->rho == 0;
}

static bool shapes_growing_scatter(const gsl_rng *rng, const struct shapes_noise *noise,
                                   struct shapes_trace *trace)
{
    double growth = shapes_between(rng, 5, 10);

    for (size_t i = 0; i < trace->n; i++)
        trace->cv[i] = noise->cv * (1 + growth * (double)i / (double)trace->n);
    trace->sustained = NAN;
    return noise->cv <= 0.05;
}

#define SHAPES_BIT(shape) (1U << TRACE_##shape)

static const struct shapes_row shapes_rows[] = {
    {"flat", true, false, SHAPES_BIT(FLAT), 40, shapes_flat},
    {"flat, 1 % stalls", true, false, SHAPES_BIT(SPIKES), 40, shapes_stalls},
    {"flat, 3 % spikes", true, false, SHAPES_BIT(SPIKES), 40, shapes_spikes},
    {"ramp up", true, false, SHAPES_BIT(RAMP), 40, shapes_ramp},
    {"slow start", true, false, SHAPES_BIT(RAMP), 40, shapes_slow_start},
    {"cliff", true, false, SHAPES_BIT(CLIFF), 40, shapes_cliff},
    {"pinned after a burst", true, false, SHAPES_BIT(THROTTLED), 40, shapes_pinned},
    {"saw-tooth", true, false, SHAPES_BIT(PERIODIC), 40, shapes_saw_tooth},
    {"sine", true, false, SHAPES_BIT(PERIODIC), 40, shapes_sine},
    {"garbage collection", true, false, SHAPES_BIT(PERIODIC), 40, shapes_collection},
    {"late cliff", false, false, SHAPES_BIT(CLIFF), 40, shapes_late_cliff},
    {"linear decline", false, false, SHAPES_BIT(DECLINE), 40, shapes_linear_decline},
    {"upward drift", false, false, SHAPES_BIT(DECLINE), 40, shapes_upward_drift},
    {"endless decay", false, false, SHAPES_BIT(DECLINE), 40, shapes_endless_decay},
    {"1 or 2 saw-teeth", false, false, SHAPES_BIT(THROTTLED) | SHAPES_BIT(DECLINE) | SHAPES_BIT(UNSTEADY), 40,
     shapes_one_or_two_teeth},
    {"two levels", false, false, SHAPES_BIT(TWO_LEVELS) | SHAPES_BIT(THROTTLED), 100, shapes_two_levels},
    {"thermal throttle", false, false, SHAPES_BIT(THROTTLED) | SHAPES_BIT(TWO_LEVELS), 40, shapes_thermal},
    {"random walk", false, false, SHAPES_BIT(UNSTEADY) | SHAPES_BIT(DECLINE), 300, shapes_random_walk},
    {"growing scatter", false, false, SHAPES_BIT(UNSTEADY), 100, shapes_growing_scatter},
    {"burst of minutes", true, true, SHAPES_BIT(RAMP) | SHAPES_BIT(CLIFF) | SHAPES_BIT(DECLINE), 40,
     shapes_burst_of_minutes},
};

#define SHAPES_N_ROWS   (sizeof(shapes_rows) / sizeof(shapes_rows[0]))
#define SHAPES_N_NOISES (sizeof(shapes_noises) / sizeof(shapes_noises[0]))

/* n rates of the row under the noise: lognormal with mean 1, correlated as the noise says, times the true
 * level. False where the row is not defined there. */
static inline bool shapes_draw(const struct shapes_row *row, const struct shapes_noise *noise, size_t n,
                               const gsl_rng *rng, struct shapes_trace *trace, double *ret_rates)
{
    double e = gsl_ran_gaussian(rng, 1);

    trace->n = n;
    shapes_start(trace, noise);
    if (n < row->least_windows || !row->make(rng, noise, trace))
        return false;
    for (size_t i = 0; i < n; i++) {
        double sigma = sqrt(log1p(trace->cv[i] * trace->cv[i]));
        ret_rates[i] = trace->level[i] * trace->factor[i] * exp(sigma * e - sigma * sigma / 2);
        e = noise->rho * e + sqrt(1 - noise->rho * noise->rho) * gsl_ran_gaussian(rng, 1);
    }
    return true;
}
