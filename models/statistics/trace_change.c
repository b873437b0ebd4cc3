/* models/statistics/trace_change: one change in a series with autocorrelated noise, by generalised least
 * squares.
 *
 * For every correlation of a grid the series and the candidate are filtered so that AR(1) noise becomes white
 * (Prais and Winsten 1954, first value included); then the gain in likelihood is a plain regression. Flat,
 * strongly correlated noise and a step with independent noise so compete on equal terms. */
#include "models/statistics/trace_internal.h"

#include <math.h>

#define N_CORRELATIONS  10
#define N_DECAYS        7
#define N_PHASES        6
#define N_TEETH_PHASES  14 /* a jump in the wrong place fits badly */
#define LEAST_FOR_WAVES 20
/* Scatter below a thousandth says nothing about a file system; it also keeps log() finite for constant
 * series. */
#define FLOOR_VARIANCE 1e-6
#define REST_SHARE     0.01 /* a decay is over when no more than this is left of it */

static const double correlations[N_CORRELATIONS] = {-0.3, 0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.87, 0.93, 0.98};
static const double decays[N_DECAYS] = {0.05, 0.08, 0.125, 0.2, 0.33, 0.55, 1.0}; /* shares of the series */

/* Which of several nearly equal explanations is taken: a step somewhere fits a straight decline nearly as
 * well as the line does, and would have its second half called steady. */
static const double handicaps[] = {
    [TRACE_CHANGE_NONE] = 0,  [TRACE_CHANGE_STEP] = 6,  [TRACE_CHANGE_RAMP] = 6,
    [TRACE_CHANGE_DECAY] = 4, [TRACE_CHANGE_SLOPE] = 0, [TRACE_CHANGE_WAVE] = 10,
};

struct filtered {
    double rho, first; /* factor of the first value */
    double ones[TRACE_POINTS], values[TRACE_POINTS], ones_squared, values_squared, ones_values;
};

struct candidate {
    enum trace_change_kind kind;
    size_t at;
    double constant;      /* of a DECAY, in points */
    double cycles, phase; /* of a WAVE */
    bool teeth;           /* saw-teeth in place of a sine */
    double shape[TRACE_POINTS];
};

struct regression {
    double likelihood, slope, intercept, rho;
};

static void filter(const struct filtered *filtered, const double *in, size_t n, double *ret_out)
{
    ret_out[0] = filtered->first * in[0];
    for (size_t i = 1; i < n; i++)
        ret_out[i] = in[i] - filtered->rho * in[i - 1];
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void prepare(struct filtered *filtered, double rho, const double *points, size_t n)
{
    filtered->rho = rho;
    filtered->first = sqrt(1 - rho * rho);
    for (size_t i = 0; i < n; i++)
        filtered->ones[i] = i == 0 ? filtered->first : 1 - rho;
    filter(filtered, points, n, filtered->values);
    filtered->ones_squared = dot(filtered->ones, filtered->ones, n);
    filtered->ones_values = dot(filtered->ones, filtered->values, n);
    /* The constant is taken out here, once for all candidates. */
    for (size_t i = 0; i < n; i++)
        filtered->values[i] -= filtered->ones[i] * filtered->ones_values / filtered->ones_squared;
    filtered->values_squared = dot(filtered->values, filtered->values, n);
}

static double log_likelihood(const struct filtered *filtered, double residual, size_t n)
{
    double variance = residual / (double)n + FLOOR_VARIANCE;

    return -0.5 * (double)n * log(variance) + log(filtered->first);
}

static struct regression flat(const struct filtered *filtered, size_t n)
{
    struct regression best = {.likelihood = -INFINITY};

    for (size_t r = 0; r < N_CORRELATIONS; r++) {
        double likelihood = log_likelihood(&filtered[r], filtered[r].values_squared, n);
        if (likelihood > best.likelihood)
            best = (struct regression){.likelihood = likelihood, .rho = filtered[r].rho};
    }
    return best;
}

static struct regression regress(const struct filtered *filtered, const double *shape, size_t n)
{
    struct regression best = {.likelihood = -INFINITY};
    double x[TRACE_POINTS];

    for (size_t r = 0; r < N_CORRELATIONS; r++) {
        const struct filtered *f = &filtered[r];
        double ones_x, squared, product, likelihood;
        filter(f, shape, n, x);
        ones_x = dot(f->ones, x, n);
        squared = dot(x, x, n) - ones_x * ones_x / f->ones_squared;
        product = dot(x, f->values, n);
        if (squared < 1e-9)
            continue;
        likelihood = log_likelihood(f, fmax(0, f->values_squared - product * product / squared), n);
        if (likelihood > best.likelihood)
            best = (struct regression){.likelihood = likelihood,
                                       .slope = product / squared,
                                       .intercept =
                                           (f->ones_values - product / squared * ones_x) / f->ones_squared,
                                       .rho = f->rho};
    }
    return best;
}

static double wave(const struct candidate *candidate, double position)
{
    double turns = candidate->cycles * position + candidate->phase;

    return candidate->teeth ? turns - floor(turns) : sin(2 * M_PI * turns) / 2;
}

static void shape_of(struct candidate *candidate, size_t n)
{
    double at = (double)candidate->at, last = (double)(n - 1);

    for (size_t i = 0; i < n; i++) {
        double t = (double)i;
        switch (candidate->kind) {
        case TRACE_CHANGE_STEP:
            candidate->shape[i] = i >= candidate->at;
            break;
        case TRACE_CHANGE_RAMP:
            candidate->shape[i] = fmin(t - at, 0) / at;
            break;
        case TRACE_CHANGE_SLOPE:
            candidate->shape[i] = fmax(t - at, 0) / (last - at);
            break;
        case TRACE_CHANGE_DECAY:
            candidate->shape[i] = 1 - exp(-t / candidate->constant);
            break;
        case TRACE_CHANGE_WAVE:
            candidate->shape[i] = wave(candidate, t / last);
            break;
        case TRACE_CHANGE_NONE:
            candidate->shape[i] = 0;
            break;
        }
    }
}

/* Where a decay has so little left that the mean from there on is the level it runs to. */
static size_t end_of_decay(const struct candidate *candidate, const struct regression *fit)
{
    double level = fabs(fit->intercept + fit->slope);
    double ratio = fabs(fit->slope) / (REST_SHARE * fmax(level, 1e-3));

    return ratio <= 1 ? 0 : (size_t)ceil(fmin(candidate->constant * log(ratio), 1e6));
}

struct contest {
    const struct filtered *filtered;
    size_t n;
    double base;  /* log likelihood of no change */
    double score; /* of the best so far */
    struct trace_change best;
};

static void consider(struct contest *contest, struct candidate *candidate)
{
    struct trace_change *best = &contest->best;
    struct regression fit;
    double gain;

    shape_of(candidate, contest->n);
    fit = regress(contest->filtered, candidate->shape, contest->n);
    gain = 2 * (fit.likelihood - contest->base);
    best->likelihood = fmax(best->likelihood, gain);
    if (candidate->kind == TRACE_CHANGE_SLOPE && candidate->at == 0)
        best->line_likelihood = gain;
    if (gain - handicaps[candidate->kind] <= contest->score)
        return;
    contest->score = gain - handicaps[candidate->kind];
    best->kind = candidate->kind;
    best->size = fit.slope;
    best->at = candidate->kind == TRACE_CHANGE_DECAY ? end_of_decay(candidate, &fit) : candidate->at;
    if (candidate->kind == TRACE_CHANGE_DECAY)
        best->size *= candidate->shape[contest->n - 1];
}

static void consider_waves(struct contest *contest)
{
    struct candidate candidate = {.kind = TRACE_CHANGE_WAVE};

    for (candidate.cycles = 1.25; candidate.cycles < 5; candidate.cycles += 0.5) {
        for (int phase = 0; phase < N_PHASES; phase++) {
            candidate.phase = 0.5 * phase / N_PHASES; /* the other half is the same with the sign changed */
            consider(contest, &candidate);
        }
    }
    candidate.teeth = true;
    for (candidate.cycles = 0.8; candidate.cycles < 2.5; candidate.cycles += 0.2) {
        for (int phase = 0; phase < N_TEETH_PHASES; phase++) {
            candidate.phase = (phase + 0.5) / N_TEETH_PHASES;
            consider(contest, &candidate);
        }
    }
}

static void consider_all(struct contest *contest)
{
    struct candidate candidate = {.kind = TRACE_CHANGE_SLOPE};
    size_t n = contest->n, stride = n / 25 + 1;

    for (candidate.at = 0; candidate.at + 4 <= n; candidate.at += stride)
        consider(contest, &candidate);
    candidate.kind = TRACE_CHANGE_DECAY;
    for (size_t i = 0; i < N_DECAYS; i++) {
        candidate.constant = decays[i] * (double)n;
        consider(contest, &candidate);
    }
    candidate.kind = TRACE_CHANGE_RAMP;
    for (candidate.at = 2; candidate.at + 2 <= n; candidate.at += stride)
        consider(contest, &candidate);
    candidate.kind = TRACE_CHANGE_STEP;
    for (candidate.at = 1; candidate.at + 2 <= n; candidate.at++)
        consider(contest, &candidate);
    if (n >= LEAST_FOR_WAVES)
        consider_waves(contest);
}

struct trace_change trace_change_best(const double *points, size_t n)
{
    struct filtered filtered[N_CORRELATIONS];
    struct contest contest = {.filtered = filtered, .n = n, .score = -INFINITY};
    struct regression none;

    for (size_t r = 0; r < N_CORRELATIONS; r++)
        prepare(&filtered[r], correlations[r], points, n);
    none = flat(filtered, n);
    contest.base = none.likelihood;
    contest.best = (struct trace_change){.flat_correlation = none.rho};
    consider_all(&contest);
    return contest.best;
}

bool trace_change_significant(const struct trace_change *change, size_t n)
{
    /* Bounds by simulation, near the 99th percentiles at rho = 0.8, from 1,000 to 3,000 flat AR(1) series for
     * each of n = 8, 12, 20, 40, 60, 100 and rho = 0 .. 0.9. They grow for few points, and little with rho.
     * The line's is lower because nothing is searched for it. */
    return change->likelihood > 17.0 + 60 / (double)n || change->line_likelihood > 9.0 + 60 / (double)n;
}
