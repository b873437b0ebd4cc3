/* Labelled traces for the tests of models/statistics/trace and for tests/statistics/shapes: what the true
 * rate does over time, and what may be said of it.
 *
 * Effects are drawn at random, but never below what the noise lets anyone see: a lasting change is at least
 * SHAPES_SIGNAL standard errors of such a change under that noise (see shapes_error). Where that would need
 * an effect beyond what the shape stands for, the shape is not defined under that noise (shapes_draw returns
 * false).
 */
#pragma once

#include "models/statistics/trace.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>

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
    const gsl_rng *rng;
    const struct shapes_noise *noise;
    double effect; /* size of the lasting change, where the row has one */
    size_t n;
    double level[SHAPES_MAX_WINDOWS]; /* the true rate */
    double cv[SHAPES_MAX_WINDOWS];
    double factor[SHAPES_MAX_WINDOWS]; /* outliers */
    double sustained;                  /* the rate in the long run; NaN: there is none */
    size_t oracle;                     /* first window of the sustained part */
};

/* Where a row is defined: what cannot be seen in shorter or longer traces, or under other noise. */
struct shapes_limits {
    size_t least_windows, most_windows;
    double least_cv, most_cv;
    bool independent;
};

struct shapes_row {
    const char *name;
    bool steady;      /* what the verdict should be; if not, there is no rate in the long run */
    bool or_within_5; /* either verdict is right, if a mean that is called steady is within 5 % */
    unsigned names;   /* bits of the shapes that are right */
    /* Size of a lasting change, which every effect_of-th window must suffice to show; most 0: none. */
    double least_effect, most_effect;
    size_t effect_of;
    const struct shapes_limits *limits;       /* NULL: none */
    void (*make)(struct shapes_trace *trace); /* NULL: nothing to do */
};

static inline double shapes_between(const struct shapes_trace *trace, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(trace->rng);
}

/* Standard error of the difference between the two halves of a trace. */
static inline double shapes_error(const struct shapes_noise *noise, size_t n)
{
    return 2 * noise->cv * sqrt((1 + noise->rho) / (1 - noise->rho) / (double)n);
}

/* A window that lies between two shares of the trace. */
static inline size_t shapes_at(const struct shapes_trace *trace, double low, double high)
{
    return (size_t)(shapes_between(trace, low, high) * (double)trace->n);
}

static inline void shapes_set(struct shapes_trace *trace, size_t from, size_t to, double level)
{
    for (size_t i = from; i < to && i < trace->n; i++)
        trace->level[i] = level;
}

static inline void shapes_outliers(struct shapes_trace *trace, double share, double factor)
{
    size_t n_outliers = (size_t)ceil(share * (double)trace->n);

    for (size_t i = 0; i < n_outliers; i++)
        trace->factor[3 + gsl_rng_uniform_int(trace->rng, trace->n - 6)] = factor;
    trace->sustained = 1 - share * (1 - factor);
}

static void shapes_stalls(struct shapes_trace *trace)
{
    shapes_outliers(trace, 0.01, shapes_between(trace, 0.02, 0.2));
}

static void shapes_spikes(struct shapes_trace *trace)
{
    shapes_outliers(trace, 0.03, shapes_between(trace, 2, 4));
}

static void shapes_ramp(struct shapes_trace *trace)
{
    size_t end = shapes_at(trace, 0.15, 0.35);

    for (size_t i = 0; i < end; i++)
        trace->level[i] = 1 - trace->effect * (1 - (double)i / (double)end);
    trace->oracle = end;
}

static void shapes_slow_start(struct shapes_trace *trace)
{
    trace->oracle = shapes_at(trace, 0.10, 0.30);
    shapes_set(trace, 0, trace->oracle, 1 - trace->effect);
}

static inline void shapes_fall(struct shapes_trace *trace, size_t at, double level)
{
    shapes_set(trace, at, trace->n, level);
    trace->oracle = at;
    trace->sustained = level;
}

static void shapes_cliff(struct shapes_trace *trace)
{
    shapes_fall(trace, shapes_at(trace, 0.15, 0.65), 1 - trace->effect);
}

static void shapes_late_cliff(struct shapes_trace *trace)
{
    shapes_fall(trace, shapes_at(trace, 0.80, 0.90), 1 - trace->effect);
}

static void shapes_pinned(struct shapes_trace *trace)
{
    size_t at = shapes_at(trace, 0.30, 0.65);

    shapes_fall(trace, at, shapes_between(trace, 0.3, 0.6));
    for (size_t i = at; i < trace->n; i++)
        trace->cv[i] = 0.002;
}

static void shapes_linear_decline(struct shapes_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 - trace->effect * (double)i / (double)trace->n;
}

static void shapes_upward_drift(struct shapes_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 - trace->effect * (1 - (double)i / (double)trace->n);
}

static void shapes_endless_decay(struct shapes_trace *trace)
{
    double n = (double)trace->n, constant = shapes_between(trace, 0.75, 1.5) * n;

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 - trace->effect * (1 - exp(-(double)i / constant)) / (1 - exp(-n / constant));
}

/* scylladb/scylladb#25532: 30 s read 33 to 36 % more than 2,400 s, 120 s read 8 to 9 % more: an excess worth
 * some 10.5 s at the sustained rate. Windows are seconds; the excess ends at once or fades. */
static void shapes_burst_of_minutes(struct shapes_trace *trace)
{
    double constant = shapes_between(trace, 8, 40);

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + 10.5 / constant * exp(-(double)i / constant);
    trace->oracle = (size_t)fmin(constant * log(10.5 / constant / 0.02), (double)trace->n);
}

static inline void shapes_saw(struct shapes_trace *trace, double period, double depth)
{
    double phase = gsl_rng_uniform(trace->rng);

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + depth * (0.5 - fmod((double)i / period + phase, 1));
}

static inline double shapes_depth(const struct shapes_trace *trace)
{
    return fmin(1.2, fmax(shapes_between(trace, 0.3, 0.6), 6 * trace->noise->cv));
}

static inline double shapes_many_periods(const struct shapes_trace *trace)
{
    return fmin(shapes_between(trace, 4.5, 40), (double)trace->n / shapes_between(trace, 7, 12));
}

static void shapes_saw_tooth(struct shapes_trace *trace)
{
    double period = shapes_many_periods(trace), depth = shapes_depth(trace);

    shapes_saw(trace, period, depth);
}

static void shapes_sine(struct shapes_trace *trace)
{
    double period = shapes_many_periods(trace), depth = shapes_depth(trace);

    for (size_t i = 0; i < trace->n; i++)
        trace->level[i] = 1 + depth / 2 * sin(2 * M_PI * (double)i / period);
}

/* Garbage collection: slow for a part of every period, whose length varies by a tenth. */
static void shapes_collection(struct shapes_trace *trace)
{
    double period = shapes_many_periods(trace), depth = fmin(0.9, shapes_depth(trace));
    double duty = shapes_between(trace, 0.3, 0.6), next = 0, slow_from = 0;

    trace->sustained = 1 - depth * duty;
    for (size_t i = 0; i < trace->n; i++) {
        if ((double)i >= next) {
            double length = period * shapes_between(trace, 0.95, 1.05);
            slow_from = next + length * (1 - duty);
            next += length;
        }
        if ((double)i >= slow_from)
            trace->level[i] = 1 - depth;
    }
}

static void shapes_one_or_two_teeth(struct shapes_trace *trace)
{
    shapes_saw(trace, (double)trace->n / shapes_between(trace, 1, 2), trace->effect);
}

static void shapes_two_levels(struct shapes_trace *trace)
{
    double depth = shapes_between(trace, fmax(0.3, 5 * trace->noise->cv), 0.8);
    double dwell = shapes_between(trace, 0.04, 0.10) * (double)trace->n;
    bool up = gsl_rng_uniform(trace->rng) < 0.5;

    for (size_t i = 0; i < trace->n; i++) {
        if (gsl_rng_uniform(trace->rng) < 1 / dwell)
            up = !up;
        trace->level[i] = up ? 1 : 1 - depth;
    }
}

static void shapes_thermal(struct shapes_trace *trace)
{
    size_t i = shapes_at(trace, 0.2, 0.35);

    /* Stays last a tenth to a fifth of the trace. */
    while (i < trace->n) {
        size_t low = i + shapes_at(trace, 0.1, 0.2), high = low + shapes_at(trace, 0.06, 0.18);
        shapes_set(trace, i, low, 1 - trace->effect);
        i = high;
    }
}

static void shapes_random_walk(struct shapes_trace *trace)
{
    /* At its end it is 8 of the noise's standard deviations off, typically. */
    double step = fmax(0.15, 8 * trace->noise->cv) / sqrt((double)trace->n), log_level = 0;

    for (size_t i = 0; i < trace->n; i++) {
        trace->level[i] = exp(log_level);
        log_level += gsl_ran_gaussian(trace->rng, step);
    }
}

static void shapes_growing_scatter(struct shapes_trace *trace)
{
    double growth = shapes_between(trace, 5, 10);

    for (size_t i = 0; i < trace->n; i++)
        trace->cv[i] = trace->noise->cv * (1 + growth * (double)i / (double)trace->n);
}

#define SHAPES_BIT(shape) (1U << TRACE_##shape)

static const struct shapes_limits shapes_little_noise = {0, SIZE_MAX, 0, 0.1, false};
static const struct shapes_limits shapes_much_noise = {0, SIZE_MAX, 0.05, INFINITY, true};
static const struct shapes_limits shapes_many_windows = {100, SIZE_MAX, 0, 0.1, false};
static const struct shapes_limits shapes_for_walk = {300, SIZE_MAX, 0, 0.05, true};
static const struct shapes_limits shapes_for_scatter = {100, SIZE_MAX, 0, 0.05, false};
static const struct shapes_limits shapes_for_burst = {0, 300, 0, 0.05, true};

static const struct shapes_row shapes_rows[] = {
    {"flat", true, false, SHAPES_BIT(FLAT), 0, 0, 1, NULL, NULL},
    {"flat, 1 % stalls", true, false, SHAPES_BIT(SPIKES), 0, 0, 1, &shapes_little_noise, shapes_stalls},
    {"flat, 3 % spikes", true, false, SHAPES_BIT(SPIKES), 0, 0, 1, &shapes_little_noise, shapes_spikes},
    {"ramp up", true, false, SHAPES_BIT(RAMP), 0.5, 0.9, 1, NULL, shapes_ramp},
    {"slow start", true, false, SHAPES_BIT(RAMP), 0.3, 0.9, 1, NULL, shapes_slow_start},
    {"cliff", true, false, SHAPES_BIT(CLIFF), 0.4, 0.7, 1, NULL, shapes_cliff},
    {"pinned after a burst", true, false, SHAPES_BIT(THROTTLED), 0, 0, 1, &shapes_much_noise, shapes_pinned},
    {"saw-tooth", true, false, SHAPES_BIT(PERIODIC), 0, 0, 1, NULL, shapes_saw_tooth},
    {"sine", true, false, SHAPES_BIT(PERIODIC), 0, 0, 1, NULL, shapes_sine},
    {"garbage collection", true, false, SHAPES_BIT(PERIODIC), 0, 0, 1, NULL, shapes_collection},
    /* A sixth of the windows knows its level three times worse than halves do. */
    {"late cliff", false, false, SHAPES_BIT(CLIFF), 0.4, 0.7, 2, NULL, shapes_late_cliff},
    /* The halves of a line differ by half of its change. */
    {"linear decline", false, false, SHAPES_BIT(DECLINE), 0.10, 0.6, 4, NULL, shapes_linear_decline},
    {"upward drift", false, false, SHAPES_BIT(DECLINE), 0.10, 0.6, 4, NULL, shapes_upward_drift},
    {"endless decay", false, false, SHAPES_BIT(DECLINE), 0.2, 0.7, 4, NULL, shapes_endless_decay},
    /* A quarter of the trace must show half of the depth. */
    {"1 or 2 saw-teeth", false, false, SHAPES_BIT(THROTTLED) | SHAPES_BIT(DECLINE) | SHAPES_BIT(UNSTEADY),
     0.3, 1.2, 16, NULL, shapes_one_or_two_teeth},
    {"two levels", false, false, SHAPES_BIT(TWO_LEVELS) | SHAPES_BIT(THROTTLED), 0, 0, 1,
     &shapes_many_windows, shapes_two_levels},
    {"thermal throttle", false, false, SHAPES_BIT(THROTTLED) | SHAPES_BIT(TWO_LEVELS), 0.3, 0.7, 12, NULL,
     shapes_thermal},
    {"random walk", false, false, SHAPES_BIT(UNSTEADY) | SHAPES_BIT(DECLINE), 0, 0, 1, &shapes_for_walk,
     shapes_random_walk},
    {"growing scatter", false, false, SHAPES_BIT(UNSTEADY), 0, 0, 1, &shapes_for_scatter,
     shapes_growing_scatter},
    {"burst of minutes", true, true, SHAPES_BIT(RAMP) | SHAPES_BIT(CLIFF) | SHAPES_BIT(DECLINE), 0, 0, 1,
     &shapes_for_burst, shapes_burst_of_minutes},
};

#define SHAPES_N_ROWS   (sizeof(shapes_rows) / sizeof(shapes_rows[0]))
#define SHAPES_N_NOISES (sizeof(shapes_noises) / sizeof(shapes_noises[0]))

/* Whether the row is defined there; draws its effect, of a size between what noise asks for and the most. */
static inline bool shapes_start(const struct shapes_row *row, struct shapes_trace *trace)
{
    const struct shapes_noise *noise = trace->noise;
    const struct shapes_limits *limits = row->limits;
    double least = row->least_effect;

    for (size_t i = 0; i < trace->n; i++) {
        trace->level[i] = 1;
        trace->cv[i] = noise->cv;
        trace->factor[i] = 1;
    }
    trace->sustained = row->steady ? 1 : NAN;
    trace->oracle = 0;
    if (row->most_effect > 0) {
        least = fmax(least, SHAPES_SIGNAL * shapes_error(noise, trace->n / row->effect_of));
        trace->effect = least <= row->most_effect ? shapes_between(trace, least, row->most_effect) : 0;
    }
    return least <= row->most_effect &&
           (limits == NULL || (trace->n >= limits->least_windows && trace->n <= limits->most_windows &&
                               noise->cv >= limits->least_cv && noise->cv <= limits->most_cv &&
                               !(limits->independent && noise->rho > 0)));
}

/* n rates of the row under the noise: lognormal with mean 1, correlated as the noise says, times the true
 * level. False where the row is not defined there. */
static inline bool shapes_draw(const struct shapes_row *row, const struct shapes_noise *noise, size_t n,
                               const gsl_rng *rng, struct shapes_trace *trace, double *ret_rates)
{
    double e = gsl_ran_gaussian(rng, 1);

    trace->rng = rng;
    trace->noise = noise;
    trace->n = n;
    if (!shapes_start(row, trace))
        return false;
    if (row->make != NULL)
        row->make(trace);
    for (size_t i = 0; i < n; i++) {
        double sigma = sqrt(log1p(trace->cv[i] * trace->cv[i]));
        ret_rates[i] = trace->level[i] * trace->factor[i] * exp(sigma * e - sigma * sigma / 2);
        e = noise->rho * e + sqrt(1 - noise->rho * noise->rho) * gsl_ran_gaussian(rng, 1);
    }
    return true;
}
