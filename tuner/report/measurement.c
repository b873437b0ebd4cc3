/* The runs of `measure`. */
#include "tuner/report/measurement.h"

#include "tuner/store/save.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Rounds keep their latencies, 17 KB each. */
#define MAX_ROUNDS 4000

struct measure_plan measurement_plan(const struct settings *settings, const struct point *point)
{
    return (struct measure_plan){
        .pattern = settings->workload.pattern,
        .point = *point,
        .duration_ns = settings->runs.duration_ns,
        .warmup_limit_ns = settings->runs.warmup_limit_ns,
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
    };
}

/* --max-duration is a hard cap: no warm-up may pass it. */
static void keep_cap(const struct measurement *measurement, struct measure_plan *plan)
{
    double spent_ns = (session_seconds(measurement->session) - measurement->start_s) * 1e9;
    double left_ns =
        (double)measurement->settings->runs.max_duration_ns - spent_ns - (double)plan->duration_ns;
    if (measurement->rule != NULL && left_ns < (double)plan->warmup_limit_ns)
        plan->warmup_limit_ns = left_ns > 0 ? (uint64_t)left_ns : 0;
}

/* One more replay in the record and in the trace. */
static int make_measurement_run(struct measurement *measurement, struct histogram *latency, struct err *err)
{
    struct session *session = measurement->session;
    struct measure_plan plan = measurement_plan(measurement->settings, &measurement->record.point);
    struct measure_result result;
    keep_cap(measurement, &plan);
    uint64_t load_bytes = session->bytes_read + session->bytes_written;
    histogram_init(latency);
    int code = session_measure(session, &plan, &result, latency, err);
    if (code < 0)
        return code;
    report_inside_note(&measurement->inside, &result);
    struct sample sample = sample_of(&result, latency, session_warnings(session, &plan, &result));
    code = record_add(&measurement->record, &sample, latency);
    if (code == 0)
        code = sustained_add(&measurement->sustained, 0, load_bytes, &plan, &result);
    if (code == 0)
        save_note(session, &measurement->record.point,
                  &measurement->record.samples[measurement->record.n - 1], &result);
    if (code < 0)
        return err_set(err, code, "no memory for a replay");
    code = members_study_note(&measurement->members, &plan, &result, err);
    return code < 0 ? code : members_study_alone(&measurement->members, &plan, err);
}

static int replay_all(struct measurement *measurement, struct err *err)
{
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    int result = 0;
    for (uint32_t i = 0; i < measurement->settings->runs.replays && result == 0; i++) {
        progress_show(&measurement->session->progress, "replay %u of %u", i + 1,
                      measurement->settings->runs.replays);
        result = cross_check_before(&measurement->cross_check, &measurement->record, err);
        if (result == 0)
            result = make_measurement_run(measurement, latency, err);
        if (result == 0)
            result = cross_check_after(&measurement->cross_check, &measurement->record, err);
    }
    free(latency);
    return result;
}

/* A round keeps its latencies by itself: which rounds are steady is known only later. */
static int one_round(struct measurement *measurement, struct err *err)
{
    size_t n = measurement->record.n;
    struct histogram *list = realloc(measurement->latency, (n + 1) * sizeof *list);
    if (list == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    measurement->latency = list;
    return make_measurement_run(measurement, &list[n], err);
}

static int judge_measurement(struct measurement *measurement, struct err *err)
{
    const struct record *record = &measurement->record;
    double *rates = malloc(record->n * sizeof *rates);
    if (rates == NULL)
        return err_set(err, -ENOMEM, "no memory for the rounds");
    for (size_t i = 0; i < record->n; i++)
        rates[i] = record->samples[i].throughput_bps;
    measurement->state = measurement->rule->judge(rates, record->n);
    free(rates);
    return 0;
}

/* Would a round like the mean of those so far end before the cap? */
static bool has_time(const struct measurement *measurement, double start_s)
{
    double spent = session_seconds(measurement->session) - start_s;
    size_t n = measurement->record.n;
    double round = n > 0 ? spent / (double)n : (double)measurement->settings->runs.duration_ns / 1e9;
    return spent + round <= (double)measurement->settings->runs.max_duration_ns / 1e9;
}

static int round_until_steady(struct measurement *measurement, struct err *err)
{
    double start_s = measurement->start_s = session_seconds(measurement->session);
    int result = 0;
    measurement->state = measurement->rule->judge(NULL, 0);
    measurement->ended = "its time (--max-duration) was over";
    while (result == 0 && has_time(measurement, start_s)) {
        if (measurement->record.n == MAX_ROUNDS) {
            measurement->ended = "there were 4000 of them; longer ones (--duration) reach further";
            break;
        }
        progress_show(&measurement->session->progress, "round %zu, at %.0f s of %.0f",
                      measurement->record.n + 1, session_seconds(measurement->session) - start_s,
                      (double)measurement->settings->runs.max_duration_ns / 1e9);
        result = one_round(measurement, err);
        if (result == 0)
            result = judge_measurement(measurement, err);
        if (measurement->state.met) {
            measurement->ended = NULL;
            break;
        }
    }
    return result;
}

/* The last n rounds as a record of their own. */
static int keep_steady(struct measurement *measurement, struct err *err)
{
    const struct record *all = &measurement->record;
    measurement->steady.point = all->point;
    for (size_t i = all->n - measurement->state.n_rounds; i < all->n; i++) {
        if (record_add(&measurement->steady, &all->samples[i], &measurement->latency[i]) < 0)
            return err_set(err, -ENOMEM, "no memory for the steady rounds");
    }
    return 0;
}

/* Shares of a rate refer to the mean of the replays. */
static int offer_rates(struct measurement *measurement, struct err *err)
{
    const struct record *record = &measurement->record;
    struct moments full = {0};
    for (size_t i = 0; i < record->n; i++)
        moments_add(&full, record->samples[i].throughput_bps);
    return rates_run(&measurement->rates, measurement->session, &record->point, full.mean, err);
}

int measurement_run(struct measurement *measurement, struct err *err)
{
    struct session *session = measurement->session;
    members_study_open(&measurement->members, session);
    if (measurement->settings->runs.until_steady)
        measurement->rule = steady_find(measurement->settings->runs.steady_rule);
    int result =
        measurement->rule != NULL ? round_until_steady(measurement, err) : replay_all(measurement, err);
    if (result == 0 && measurement->settings->workload.rates.n > 0)
        result = offer_rates(measurement, err);
    if (result == -EDQUOT && session->wrote_out && measurement->record.n > 0) {
        notes_add(&session->warnings, "max_write", "%s: %s",
                  measurement->rule != NULL ? "the rounds ended early" : "fewer replays than asked for",
                  err->text);
        measurement->ended = "the write budget (--max-write) was used up";
        result = 0;
    }
    measurement->interrupted = result == -EINTR;
    if (measurement->interrupted) {
        measurement->ended = "it was interrupted";
        result = 0;
    }
    if (result == 0 && measurement->state.met)
        result = keep_steady(measurement, err);
    return result;
}

const struct record *measurement_figures(const struct measurement *measurement)
{
    return measurement->steady.n > 0 ? &measurement->steady : &measurement->record;
}

void measurement_done(struct measurement *measurement)
{
    free(measurement->latency);
    record_done(&measurement->record);
    record_done(&measurement->steady);
    sustained_done(&measurement->sustained);
    rates_done(&measurement->rates);
    members_study_done(&measurement->members);
    cross_check_close(&measurement->cross_check);
}
