/* PCost from pairs of sequences, and its interval over repetitions. */
#include "models/impact/base_sequence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int base_sequence_check(const double *times_s, size_t n, size_t *ret_at)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(times_s[i]) || (i > 0 && times_s[i] < times_s[i - 1])) {
            *ret_at = i;
            return -EINVAL;
        }
    }
    *ret_at = n;
    return n < 2 ? -EINVAL : 0;
}

static double term_of(double base_s, double delayed_s)
{
    return base_s + delayed_s > 0 ? (delayed_s - base_s) / (delayed_s + base_s) : 0;
}

double base_sequence_cost(const double *base_s, const double *delayed_s, size_t n)
{
    double sum = 0;
    for (size_t j = 1; j < n; j++)
        sum += term_of(base_s[j] - base_s[j - 1], delayed_s[j] - delayed_s[j - 1]);
    return sum;
}

double base_sequence_cost_of_rates(double alone, double beside, size_t n_times)
{
    return alone + beside > 0 ? (double)(n_times - 1) * (alone - beside) / (alone + beside) : 0;
}

static double length_of(const double *times_s, size_t n)
{
    return times_s[n - 1] - times_s[0];
}

static int check_runs(const struct base_sequence_runs *runs)
{
    size_t at;
    if (runs->n_runs == 0)
        return -EINVAL;
    for (size_t i = 0; i < runs->n_runs; i++) {
        const double *base_s = runs->base_s + i * runs->n_times;
        const double *delayed_s = runs->delayed_s + i * runs->n_times;
        if (base_sequence_check(base_s, runs->n_times, &at) < 0 ||
            base_sequence_check(delayed_s, runs->n_times, &at) < 0 ||
            !(length_of(base_s, runs->n_times) > 0) || !(length_of(delayed_s, runs->n_times) > 0))
            return -EINVAL;
    }
    return 0;
}

int base_sequence_estimate(const struct base_sequence_runs *runs, double confidence_share,
                           struct base_sequence_estimate *ret)
{
    const size_t n = runs->n_runs, m = runs->n_times;
    int result = check_runs(runs);
    if (result < 0)
        return result;
    double *costs = calloc(2 * n, sizeof *costs);
    if (costs == NULL)
        return -ENOMEM;
    double *ratios = costs + n;
    double base_s = 0, delayed_s = 0;
    for (size_t i = 0; i < n; i++) {
        const double alone_s = length_of(runs->base_s + i * m, m);
        const double beside_s = length_of(runs->delayed_s + i * m, m);
        costs[i] = base_sequence_cost(runs->base_s + i * m, runs->delayed_s + i * m, m);
        ratios[i] = log(beside_s / alone_s);
        base_s += alone_s;
        delayed_s += beside_s;
    }
    struct moments moments = moments_of(costs, n);
    const struct interval logs = student_interval(moments_of(ratios, n), confidence_share);
    *ret = (struct base_sequence_estimate){
        .cost_share = moments.mean,
        .cost = student_interval(moments, confidence_share),
        .slowdown = delayed_s / base_s,
        .slowdown_interval = {exp(logs.low), exp(logs.high)},
    };
    free(costs);
    return 0;
}

int base_sequence_average(const struct base_sequence_runs *references, size_t n_references,
                          double confidence_share, double *ret_cost_share, struct interval *ret_interval)
{
    struct moments moments = {0};
    for (size_t k = 0; k < n_references; k++) {
        if (check_runs(&references[k]) < 0 || references[k].n_runs != references[0].n_runs)
            return -EINVAL;
    }
    for (size_t i = 0; n_references > 0 && i < references[0].n_runs; i++) {
        double sum = 0;
        for (size_t k = 0; k < n_references; k++) {
            const size_t n = references[k].n_times;
            sum += base_sequence_cost(references[k].base_s + i * n, references[k].delayed_s + i * n, n);
        }
        moments_add(&moments, sum / (double)n_references);
    }
    if (moments.n == 0)
        return -EINVAL;
    *ret_cost_share = moments.mean;
    *ret_interval = student_interval(moments, confidence_share);
    return 0;
}

struct base_sequence_step base_sequence_step_of(const struct base_sequence_runs *runs, size_t j)
{
    struct base_sequence_step step = {0};
    for (size_t i = 0; i < runs->n_runs; i++) {
        const size_t at = i * runs->n_times + j;
        const double base_s = runs->base_s[at] - runs->base_s[at - 1];
        const double delayed_s = runs->delayed_s[at] - runs->delayed_s[at - 1];
        step.base_s += base_s / (double)runs->n_runs;
        step.delayed_s += delayed_s / (double)runs->n_runs;
        step.cost_share += term_of(base_s, delayed_s) / (double)runs->n_runs;
    }
    return step;
}
