/* tuner/report/rates: runs under offered rates. */
#include "tuner/report/rates.h"

#include "bench/base/rng.h"
#include "bench/run/measure.h"
#include "tuner/report/measurement.h"
#include "tuner/session/samples.h"

#include <errno.h>
#include <stdlib.h>

#define P99 0.99

double rates_iops(const struct session *session, const struct point *point, double bps)
{
    return bps / measure_request_bytes(&session->settings->workload.pattern, point);
}

static double offered_bps(const struct session *session, const struct point *point, double full_bps, size_t i)
{
    const struct settings_rates *asked = &session->settings->workload.rates;
    switch (asked->unit) {
    case SETTINGS_RATE_SHARE:
        return asked->value[i] * full_bps;
    case SETTINGS_RATE_IOPS:
        return asked->value[i] * measure_request_bytes(&session->settings->workload.pattern, point);
    default:
        return asked->value[i];
    }
}

static int one_run(struct rates_step *step, struct session *session, const struct point *point,
                   struct histogram *latency, struct err *err)
{
    const struct settings *settings = session->settings;
    struct measure_plan plan = measurement_plan(settings, point);
    plan.rate_bps = step->offered_bps;
    plan.random_rate = settings->workload.rate_process != 0;
    struct measure_result result;
    histogram_init(latency);
    int code = session_measure(session, &plan, &result, latency, err);
    if (code < 0)
        return code;
    step->p99_ns[step->achieved_bps.n] = percentiles_of_run(latency, P99);
    moments_add(&step->achieved_bps, result.throughput_bps);
    step->n_requests += result.n_requests;
    step->n_late += result.n_late;
    histogram_merge(&step->latency, latency);
    return 0;
}

static int make_steps(struct rates *rates, const struct session *session, const struct point *point,
                      double full_bps)
{
    const struct settings *settings = session->settings;
    *rates = (struct rates){.n = settings->workload.rates.n,
                            .full_bps = full_bps,
                            .random = settings->workload.rate_process != 0};
    rates->step = calloc(rates->n, sizeof *rates->step);
    for (size_t i = 0; rates->step != NULL && i < rates->n; i++) {
        struct rates_step *step = &rates->step[i];
        step->offered_bps = offered_bps(session, point, full_bps, i);
        histogram_init(&step->latency);
        step->p99_ns = calloc(settings->runs.replays, sizeof *step->p99_ns);
        if (step->p99_ns == NULL)
            return -ENOMEM;
    }
    return rates->step != NULL ? 0 : -ENOMEM;
}

/* What changes with time, such as another load, then falls on all rates alike. */
static void shuffle(struct rng *rng, size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(rng_uniform(rng) * (double)i), kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

int rates_run(struct rates *rates, struct session *session, const struct point *point, double full_bps,
              struct err *err)
{
    uint32_t replays = session->settings->runs.replays;
    struct histogram *latency = malloc(sizeof *latency);
    size_t order[SETTINGS_MAX_RATES];
    struct rng rng;
    int result = make_steps(rates, session, point, full_bps);
    if (result < 0 || latency == NULL)
        result = err_set(err, -ENOMEM, "no memory for the offered rates");
    rng_init(&rng, rng_derive(session->seed, 4));
    for (uint32_t replay = 0; replay < replays && result == 0; replay++) {
        shuffle(&rng, order, rates->n);
        for (size_t i = 0; i < rates->n && result == 0; i++) {
            progress_show(&session->progress, "offered rate %zu of %zu, replay %u of %u", i + 1, rates->n,
                          replay + 1, replays);
            result = one_run(&rates->step[order[i]], session, point, latency, err);
        }
    }
    free(latency);
    return result;
}

bool rates_is_kept(const struct rates_step *step)
{
    return step->achieved_bps.n > 0 && warnings_is_served(step->n_requests, step->n_late);
}

void rates_done(struct rates *rates)
{
    for (size_t i = 0; rates->step != NULL && i < rates->n; i++)
        free(rates->step[i].p99_ns);
    free(rates->step);
    *rates = (struct rates){0};
}
