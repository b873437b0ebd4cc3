/* The length of runs that teaches most per second. */
#include "models/statistics/run_length.h"

#include "models/statistics/student.h"

#include <math.h>

/* Lengths looked at: a factor of 2^(1/4) apart. */
#define STEP 1.189207115002721
/* Half the 99.5 % quantile of chi-squared with one degree of freedom: what the best of all tau must gain in
 * log likelihood over none. */
#define LIKELIHOOD_GAIN 3.94
/* Correlation times looked at, seconds; the first stands for none that passes within a run. */
static const double taus[] = {INFINITY, 1, 0.3, 0.1, 0.03, 0.01};
#define N_TAUS (sizeof taus / sizeof taus[0])

#define START_CONFIDENCE 0.95
#define START_LEAST      4

static double kept_share(double seconds, double tau)
{
    double x = seconds / tau;
    /* The difference loses its digits for small x, where the series is good. */
    return x < 1e-4 ? 1 - x / 3 : 2 / x * (1 + expm1(-x) / x);
}

static double length_of(const struct run_length_point *point, double seconds)
{
    return fmax(seconds, point->least_seconds);
}

/* Variance that the inside of runs explains, on average over the points. */
static double mean_within(const struct run_length_facts *facts, double seconds)
{
    double sum = 0;
    for (size_t i = 0; i < facts->n_points; i++)
        sum += facts->points[i].within / length_of(&facts->points[i], seconds);
    return facts->n_points > 0 ? sum / (double)facts->n_points : 0;
}

/* What replays scatter beyond the inside of runs, drawn towards what is expected of replays: a few that agree
 * by chance would ask for runs without end. */
static double between_of(const struct run_length_facts *facts, double tau)
{
    double sum = RUN_LENGTH_LEAST_DF * facts->prior_variance, df = RUN_LENGTH_LEAST_DF;
    for (size_t i = 0; i < facts->n_replays; i++) {
        const struct run_length_replays *replays = &facts->replays[i];
        double excess = fmax(replays->variance - mean_within(facts, replays->seconds), 0);
        sum += replays->df * excess / kept_share(replays->seconds, tau);
        df += replays->df;
    }
    return sum / df;
}

static double log_likelihood(const struct run_length_facts *facts, double tau)
{
    double between = between_of(facts, tau), sum = 0;
    for (size_t i = 0; i < facts->n_replays; i++) {
        const struct run_length_replays *replays = &facts->replays[i];
        double variance = between * kept_share(replays->seconds, tau) + mean_within(facts, replays->seconds);
        sum -= replays->df / 2 * (log(variance) + replays->variance / variance);
    }
    return sum;
}

static double likely_tau(const struct run_length_facts *facts)
{
    double highest = log_likelihood(facts, INFINITY) + LIKELIHOOD_GAIN, tau = INFINITY;
    if (facts->n_replays < 2)
        return tau;
    for (size_t i = 1; i < N_TAUS; i++) {
        double likelihood = log_likelihood(facts, taus[i]);
        if (likelihood > highest) {
            highest = likelihood;
            tau = taus[i];
        }
    }
    return tau;
}

/* Log of cost x variance, on average over the points: lower is better. */
static double log_price(const struct run_length_facts *facts, double between, double tau, double seconds)
{
    double sum = 0;
    for (size_t i = 0; i < facts->n_points; i++) {
        const struct run_length_point *point = &facts->points[i];
        double length = length_of(point, seconds);
        double variance = between * kept_share(length, tau) + point->within / length;
        sum += log((point->overhead_seconds + length) * variance);
    }
    return sum / (double)facts->n_points;
}

static double shortest_good(const struct run_length_facts *facts, const struct run_length *model)
{
    double lowest = INFINITY, seconds = facts->shortest_seconds;
    double t = seconds;
    while (t <= facts->longest_seconds) {
        lowest = fmin(lowest, log_price(facts, model->between, model->tau_seconds, t));
        t *= STEP;
    }
    while (log_price(facts, model->between, model->tau_seconds, seconds) > lowest + log1p(RUN_LENGTH_FLAT))
        seconds *= STEP;
    return seconds;
}

struct run_length run_length_choose(const struct run_length_facts *facts)
{
    struct run_length choice = {.seconds = facts->shortest_seconds, .tau_seconds = INFINITY, .worth = 1};
    double df = 0;
    for (size_t i = 0; i < facts->n_replays; i++)
        df += facts->replays[i].df;
    choice.between = between_of(facts, INFINITY);
    if (facts->n_points == 0 || df < RUN_LENGTH_LEAST_DF)
        return choice;
    choice.tau_seconds = likely_tau(facts);
    choice.between = between_of(facts, choice.tau_seconds);
    choice.seconds = shortest_good(facts, &choice);
    choice.worth = exp(log_price(facts, choice.between, choice.tau_seconds, facts->shortest_seconds) -
                       log_price(facts, choice.between, choice.tau_seconds, choice.seconds));
    choice.why = choice.seconds <= facts->shortest_seconds         ? RUN_LENGTH_SHORTEST
                 : choice.seconds * STEP <= facts->longest_seconds ? RUN_LENGTH_LONGER
                                                                   : RUN_LENGTH_CAPPED;
    return choice;
}

double run_length_within(const double *rates, size_t n, double seconds)
{
    double means[RUN_LENGTH_BATCHES] = {0};
    size_t size = n / RUN_LENGTH_BATCHES, used = size * RUN_LENGTH_BATCHES;
    if (size == 0)
        return NAN;
    /* The first windows are left out where they do not divide: a start is what is least like the rest. */
    for (size_t i = 0; i < used; i++)
        means[i / size] += rates[n - used + i] / (double)size;
    for (size_t i = 0; i < RUN_LENGTH_BATCHES; i++) {
        if (!(means[i] > 0))
            return NAN;
    }
    struct moments moments = moments_of_logs(means, RUN_LENGTH_BATCHES);
    return moments.std * moments.std * seconds / RUN_LENGTH_BATCHES;
}

enum run_length_start run_length_start_of(const double *log_ratios, size_t n)
{
    if (n < START_LEAST)
        return RUN_LENGTH_START_UNKNOWN;
    struct moments moments = moments_of(log_ratios, n);
    double chance = student_quantile(START_CONFIDENCE, (double)n - 1) * moments.std / sqrt((double)n);
    if (fabs(moments.mean) > fmax(RUN_LENGTH_START, chance))
        return RUN_LENGTH_START_APART;
    return fabs(moments.mean) + chance < RUN_LENGTH_START ? RUN_LENGTH_START_ALIKE : RUN_LENGTH_START_UNKNOWN;
}

double run_length_idle(const double *rates, size_t n, double pause)
{
    size_t idle = 0, empty = 0, half = n / 2;
    for (size_t i = half; i <= n; i++) {
        if (i < n && !(rates[i] > 0)) {
            empty++;
            continue;
        }
        idle += (double)empty > pause ? empty : 0;
        empty = 0;
    }
    return n >= RUN_LENGTH_IDLE_LEAST ? (double)idle / (double)(n - half) : NAN;
}

double run_length_start_log(const double *rates, size_t n, double seconds, double from_seconds,
                            double length_seconds)
{
    size_t half = n / 2;
    double width = seconds / (double)n, settled = moments_of(rates + half, n - half).mean;
    double moved = length_seconds; /* at the settled rate */
    for (size_t i = 0; i < n; i++) {
        double begin = fmax((double)i * width, from_seconds);
        double end = fmin((double)(i + 1) * width, from_seconds + length_seconds);
        moved += end > begin ? (end - begin) * (rates[i] / settled - 1) : 0;
    }
    return log(moved / length_seconds);
}
