/* models/statistics/steady: rules that say when rounds have become steady. */
#include "models/statistics/steady.h"
#include "models/statistics/student.h"

#include <math.h>
#include <string.h>

struct line {
    double slope, slope_error, mean; /* per round */
};

static struct line line_of(const double *rates, size_t n)
{
    double centre = (double)(n - 1) / 2, xx = 0, xy = 0, residuals = 0;
    struct line line = {.mean = moments_of(rates, n).mean};

    for (size_t i = 0; i < n; i++) {
        double x = (double)i - centre;
        xx += x * x;
        xy += x * rates[i];
    }
    line.slope = xy / xx;
    for (size_t i = 0; i < n; i++) {
        double rest = rates[i] - line.mean - line.slope * ((double)i - centre);
        residuals += rest * rest;
    }
    line.slope_error = sqrt(residuals / (double)(n - 2) / xx);
    return line;
}

static struct steady_state state_of(const double *rates, size_t n)
{
    struct line line = line_of(rates, n);
    double low = rates[0], high = rates[0], span = (double)(n - 1);
    struct steady_state state = {.n_rounds = n};

    for (size_t i = 1; i < n; i++) {
        low = fmin(low, rates[i]);
        high = fmax(high, rates[i]);
    }
    if (!(line.mean > 0))
        return (struct steady_state){
            .n_rounds = n, .range_share = NAN, .drift_share = NAN, .drift_error_share = NAN};
    state.range_share = (high - low) / line.mean;
    state.drift_share = line.slope * span / line.mean;
    state.drift_error_share = line.slope_error * span / line.mean;
    return state;
}

static const struct steady_state too_few = {.range_share = NAN, .drift_share = NAN, .drift_error_share = NAN};

#define DRIFT_SHARE      0.02
#define LARGEST_DRIFT    0.05 /* a drift of so much must be ruled out */
#define CONFIDENCE       0.95
#define LEAST_CORRELATED 10 /* rounds from which a correlation can be seen at all */

/* Factor on the standard error of a slope for noise with the residuals' lag-1 autocorrelation. A fitted line
 * takes some of the correlation away; 4/n puts it back on average (Marriott and Pope 1954, two parameters).
 */
static double correlation_factor(const double *rates, size_t n, struct line line)
{
    double products = 0, squares = 0, before = 0, correlation;

    if (n < LEAST_CORRELATED)
        return 1;
    for (size_t i = 0; i < n; i++) {
        double rest = rates[i] - line.mean - line.slope * ((double)i - (double)(n - 1) / 2);
        products += rest * before;
        squares += rest * rest;
        before = rest;
    }
    correlation = squares > 0 ? products / squares + 4 / (double)n : 0;
    correlation = fmin(fmax(correlation, 0), 0.95);
    return sqrt((1 + correlation) / (1 - correlation));
}

struct steady_state steady_line(const double *rates, size_t n)
{
    if (n < 3)
        return (struct steady_state){
            .n_rounds = n, .range_share = NAN, .drift_share = NAN, .drift_error_share = NAN};
    struct steady_state state = state_of(rates, n);
    state.drift_error_share *= correlation_factor(rates, n, line_of(rates, n));
    return state;
}

/* At least the last half of all rounds must agree: a decline that slows down for ever looks flat in any fixed
 * number of rounds sooner or later, but not in half of what was seen. More rounds count where the half
 * scatters too much. */
static struct steady_state look(const double *rates, size_t n)
{
    struct steady_state state = too_few;
    size_t half = (n + 1) / 2;
    for (size_t k = half > STEADY_ROUNDS ? half : STEADY_ROUNDS; k <= n && !state.met; k += 1 + k / 16) {
        const double *last = rates + n - k;
        state = steady_line(last, k);
        double margin = student_quantile(CONFIDENCE, (double)(k - 2)) * state.drift_error_share;
        state.met = fabs(state.drift_share) <= DRIFT_SHARE && margin <= LARGEST_DRIFT - DRIFT_SHARE;
    }
    return state;
}

/* Twice in a row: a rule that is asked after every round finds a few rounds close together by chance. */
static struct steady_state judge_fstune(const double *rates, size_t n)
{
    struct steady_state state = look(rates, n);
    state.met = state.met && look(rates, n - 1).met;
    return state;
}

#define SNIA_RANGE_SHARE 0.20
#define SNIA_DRIFT_SHARE 0.10

static struct steady_state judge_snia(const double *rates, size_t n)
{
    struct steady_state state = too_few;

    if (n < STEADY_ROUNDS)
        return state;
    state = state_of(rates + n - STEADY_ROUNDS, STEADY_ROUNDS);
    state.drift_error_share = NAN;
    state.met = state.range_share <= SNIA_RANGE_SHARE && fabs(state.drift_share) <= SNIA_DRIFT_SHARE;
    return state;
}

const struct steady_rule steady_rules[] = {
    {"fstune", "drift over the last half of the rounds within 2 %, and known well enough to rule out 5 %",
     judge_fstune},
    {"snia", "over the last 5 rounds, range within 20 % and drift within 10 % of the average", judge_snia},
};
const size_t steady_n_rules = sizeof(steady_rules) / sizeof(steady_rules[0]);

const struct steady_rule *steady_find(const char *name)
{
    for (size_t i = 0; i < steady_n_rules; i++) {
        if (strcmp(steady_rules[i].name, name) == 0)
            return &steady_rules[i];
    }
    return NULL;
}
