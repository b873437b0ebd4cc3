/* The objectives that a search can compare points by. */
#include "tuner/search/objective.h"

#include "models/statistics/skew.h"
#include "tuner/search/profiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double throughput(const struct sample *sample)
{
    return sample->throughput_bps;
}

static double iops(const struct sample *sample)
{
    return sample->iops;
}

static double latency(const struct sample *sample)
{
    return sample->latency_mean_ns;
}

static double p99(const struct sample *sample)
{
    return sample->latency_p99_ns;
}

const struct objective_row objective_table[] = {
    [OBJECTIVE_THROUGHPUT] = {.title = "Throughput", .unit = "bytes/s", .more = "more", .value = throughput},
    [OBJECTIVE_IOPS] = {.title = "IOPS",
                        .unit = "requests/s",
                        .more = "more requests a second",
                        .value = iops},
    [OBJECTIVE_LATENCY] = {.title = "Latency",
                           .unit = "ns",
                           .more = "less latency",
                           .lower = true,
                           .one_load = true,
                           .value = latency},
    [OBJECTIVE_P99] =
        {.title = "p99", .unit = "ns", .more = "less p99", .lower = true, .one_load = true, .value = p99},
};

double objective_response(const struct settings *settings, double reference_log_bps,
                          const struct sample *sample)
{
    const struct objective_row *row = &objective_table[settings->search.objective];
    if (settings->search.profile != PROFILE_MAX_THROUGHPUT)
        return profiles_response(settings, settings->search.profile, reference_log_bps, sample);
    double response = log(row->value(sample));
    return row->lower ? -response : response;
}

double objective_margin(const struct settings *settings)
{
    double tolerance = settings->search.tolerance_share;
    if (settings->search.profile != PROFILE_MAX_THROUGHPUT)
        return profiles_margin(settings, settings->search.profile);
    return objective_table[settings->search.objective].lower ? log1p(tolerance) : -log1p(-tolerance);
}

double objective_share(const struct settings *settings, double margin)
{
    bool rise = settings->search.profile == PROFILE_MAX_THROUGHPUT &&
                objective_table[settings->search.objective].lower;
    return rise ? expm1(margin) : -expm1(-margin);
}

double objective_offered_bps(const struct settings *settings, const struct point *point)
{
    const struct settings_rates *rates = &settings->workload.rates;
    double request_bytes = measure_request_bytes(&settings->workload.pattern, point);
    return rates->n == 0 ? 0 : rates->value[0] * (rates->unit == SETTINGS_RATE_IOPS ? request_bytes : 1);
}

int objective_take_rate(struct settings *settings, struct err *err)
{
    const struct settings_rates *rates = &settings->workload.rates;
    if (rates->n == 0)
        return 0;
    if (rates->n > 1 || rates->unit == SETTINGS_RATE_SHARE)
        return err_set(err, -EINVAL,
                       "--rate: recommend wants one rate, in bytes or requests a second, as 200m or "
                       "5000iops; fstune measure takes several, and shares");
    if (settings->search.profile_given || settings->search.profiles || settings->burst.bytes > 0 ||
        settings->prediction.vm.guest_atoms[0] != '\0' || settings->search.objective == OBJECTIVE_IOPS)
        return err_set(err, -EINVAL,
                       "--rate looks for the lowest latency at that rate: leave --profile, --profiles, "
                       "--burst, --guest-atoms and --objective iops out");
    if (settings->search.objective == OBJECTIVE_THROUGHPUT)
        settings->search.objective = OBJECTIVE_LATENCY;
    return 0;
}

static int check_load(const struct settings *settings, const struct candidates *candidates, struct err *err)
{
    char name[32] = "--rate";
    if (settings->workload.rates.n == 0)
        snprintf(name, sizeof name, "--objective %s", settings_objective_names[settings->search.objective]);
    for (size_t i = 1; i < candidates->n; i++) {
        if (candidates->points[i].request_size_bytes != candidates->points[0].request_size_bytes ||
            factors_write_size_bytes(&candidates->points[i]) !=
                factors_write_size_bytes(&candidates->points[0]))
            return err_set(err, -EINVAL,
                           "%s compares settings of one request size; pin it with --request-size SIZE", name);
        if (candidates->points[i].threads != candidates->points[0].threads)
            return err_set(err, -EINVAL,
                           "%s compares settings of one number of threads; give one --threads N", name);
        if (candidates->points[i].clients != candidates->points[0].clients)
            return err_set(err, -EINVAL,
                           "%s compares settings of one number of clients; give one --clients N", name);
    }
    return 0;
}

int objective_check(const struct settings *settings, const struct candidates *candidates, struct err *err)
{
    if (settings->search.profile_given && settings->search.objective != OBJECTIVE_THROUGHPUT)
        return err_set(err, -EINVAL,
                       "--profile %s brings its own objective; leave --objective %s out, or take --profiles",
                       profiles_names[settings->search.profile],
                       settings_objective_names[settings->search.objective]);
    return objective_table[settings->search.objective].one_load ? check_load(settings, candidates, err) : 0;
}

int objective_figure(enum objective objective, const struct record *record, bool confirming,
                     double confidence, struct objective_figure *ret_figure)
{
    double *values = calloc(record->n + 1, sizeof *values);
    size_t n = 0;
    if (values == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < record->n; i++) {
        if (!confirming || record->samples[i].confirming)
            values[n++] = objective_table[objective].value(&record->samples[i]);
    }
    struct objective_figure figure = {
        .mean = moments_of(values, n).mean, .ci = skew_interval(values, n, confidence, NULL), .n = n};
    free(values);
    if (n == 0 || !isfinite(figure.mean))
        return -ENODATA;
    *ret_figure = figure;
    return 0;
}

struct moments objective_log_moments(const struct record *record, bool confirming,
                                     double (*value)(const struct sample *sample))
{
    struct moments moments = {0};
    for (size_t i = 0; i < record->n; i++) {
        if (!confirming || record->samples[i].confirming)
            moments_add(&moments, log(value(&record->samples[i])));
    }
    return moments;
}

struct objective_ratio objective_ratio_of(struct moments a, struct moments b, double confidence)
{
    struct objective_ratio ratio = {.mean = 1, .ci = {1, 1}};
    struct welch welch = welch_of(a, b);
    if (welch.df <= 0)
        return ratio;
    struct interval interval = welch_interval(welch, confidence);
    ratio.mean = exp(welch.difference);
    ratio.ci = (struct interval){exp(interval.low), exp(interval.high)};
    ratio.has = isfinite(ratio.mean) && isfinite(ratio.ci.low) && isfinite(ratio.ci.high);
    return ratio;
}

struct objective_ratio objective_ratio(const struct record *a, const struct record *b, bool confirming,
                                       double confidence, double (*value)(const struct sample *sample))
{
    if (a == b)
        return (struct objective_ratio){.has = true, .mean = 1, .ci = {1, 1}};
    return objective_ratio_of(objective_log_moments(a, confirming, value),
                              objective_log_moments(b, confirming, value), confidence);
}
