/* fstune measure: one point, with its interval. */
#include "bench/base/err.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/report/measurement.h"
#include "tuner/report/report_measure.h"
#include "tuner/report/report_plan.h"
#include "tuner/session/candidates.h"
#include "tuner/store/save.h"

#include <errno.h>

static int point_of(const struct settings *settings, struct point *ret_point, struct err *err)
{
    static const char *const required[] = {"request-size", "queue-depth", "direct", "api"};
    const struct levels *levels = settings->workload.levels;
    for (int factor = FACTOR_REQUEST_SIZE; factor <= FACTOR_API; factor++) {
        if (levels[factor].n != 1)
            return err_set(err, -EINVAL, "--%s is missing; measure needs one value of every factor",
                           required[factor]);
    }
    uint64_t values[FACTOR_N] = {[FACTOR_THREADS] = 1, [FACTOR_SYNC] = SYNC_END};
    for (enum factor factor = 0; factor < FACTOR_N; factor++) {
        if (levels[factor].n == 1)
            values[factor] = levels[factor].value[0];
    }
    *ret_point = factors_point(values);
    if (settings->file.simulate[0] != '\0' && ret_point->sync != SYNC_END)
        return err_set(err, -EINVAL, "--sync: a simulated surface knows only sync end");
    return factors_check(ret_point, err);
}

static int measure_exit_code(const struct measurement *measurement)
{
    bool is_open = measurement->rule != NULL && !measurement->state.met;
    return command_code(is_open ? EXIT_INCONCLUSIVE : EXIT_DONE);
}

static void save_answer(struct session *session, int code, const struct measured *measured)
{
    json_t *document = save_is_on(session) ? report_measure_document(measured) : NULL;
    save_finish(session, code, document);
    json_decref(document);
}

static int print_measure_result(struct measurement *measurement, struct err *err)
{
    struct measured measured;
    struct session *session = measurement->session;
    progress_clear(&session->progress);
    session_finish(session);
    if (report_measure_prepare(&measured, measurement) == -ENOMEM)
        return err_set(err, -ENOMEM, "no memory for the result");
    int result = measurement->settings->json ? report_measure_json(stdout, &measured, err)
                                             : report_measure_text(stdout, &measured, err);
    int code = measure_exit_code(measurement);
    save_answer(session, result < 0 ? EXIT_FAILED : code, &measured);
    return result < 0 ? result : code;
}

/* The time of the command if every replay is as slow as it can be. */
static double seconds_at_most(const struct settings *settings, uint64_t file_bytes)
{
    double replay_ns =
        (double)settings->runs.warmup_limit_ns + (double)settings->runs.duration_ns + MEASURE_SETTLE_NS;
    double n_runs = settings->runs.replays * ((settings->runs.cross_check[0] != '\0' ? 2.0 : 1.0) +
                                              (double)settings->workload.rates.n);
    /* Of several members each runs alone, too. */
    n_runs *= settings_n_places(settings) > 1 ? 1.0 + (double)settings_n_places(settings) : 1;
    /* Disturbed runs are repeated: two, and one in twenty. */
    double all_ns = settings->runs.until_steady ? (double)settings->runs.max_duration_ns + replay_ns
                                                : (1.05 * n_runs + 2) * replay_ns;
    return all_ns / 1e9 + report_plan_fill_seconds(settings, file_bytes);
}

static void print_plan(const struct session *session, const struct point *point, uint64_t file_bytes,
                       FILE *out)
{
    const struct settings *settings = session->settings;
    char text[FACTORS_TEXT_SIZE], duration[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
    units_format_duration(settings->runs.duration_ns, duration);
    fprintf(out, "plan: %s, %s, ", settings->workload.pattern.name, factors_format(point, text));
    if (settings->runs.until_steady)
        fprintf(out, "rounds of %s until they are steady (rule %s), for %s at most", duration,
                settings->runs.steady_rule, units_format_duration(settings->runs.max_duration_ns, most));
    else
        fprintf(out, "%u replays of %s", settings->runs.replays, duration);
    if (settings->workload.rates.n > 0)
        fprintf(out, ", as many at each of %zu offered rates", settings->workload.rates.n);
    if (settings_n_places(settings) > 1)
        fprintf(out, ", on %zu members together and on each alone", settings_n_places(settings));
    report_plan_end(out, session, file_bytes);
}

static int check_and_print_measure_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct point point;
    uint64_t file_bytes = 0;
    int result = point_of(settings, &point, err);
    if (result == 0)
        result = session_estimate(session, &file_bytes, err);
    if (result == 0)
        result = candidates_check(session, &point, file_bytes, err);
    if (result == 0 && settings->runs.until_steady &&
        settings->runs.max_duration_ns < settings->runs.duration_ns)
        result = err_set(err, -EINVAL,
                         "--max-duration is shorter than one round (--duration); make it at least as long");
    if (result == 0 && settings->runs.until_steady && settings->workload.rates.n > 0)
        result = err_set(err, -EINVAL,
                         "--rate and --until-steady exclude each other: give --replays for offered rates");
    if (result == 0)
        result = cross_check_plan(settings, &point, err);
    if (result == 0)
        result = save_open(session, err);
    if (result < 0)
        return result;
    session->seconds_at_most = seconds_at_most(settings, file_bytes);
    if (settings->dry_run && settings->json)
        return report_plan_json(stdout, session, file_bytes, 1, err);
    if (command_plan_stream(settings) != NULL)
        print_plan(session, &point, file_bytes, command_plan_stream(settings));
    return 0;
}

static int run_measurement(struct session *session, struct err *err)
{
    struct measurement measurement = {.session = session, .settings = session->settings};
    int result = point_of(session->settings, &measurement.record.point, err);
    if (result == 0)
        result = cross_check_open(&measurement.cross_check, session, &measurement.record.point, err);
    if (result == 0)
        result = session_prepare(session, err);
    if (result == 0 && !session->simulated)
        result = candidates_check(session, &measurement.record.point, session->target.size_bytes, err);
    if (result == 0) {
        save_begin(session, "measure");
        result = measurement_run(&measurement, err);
    }
    measurement.interrupted |= result == -EINTR;
    if (result == 0 || result == -EINTR)
        result = print_measure_result(&measurement, err);
    else
        save_finish(session, EXIT_FAILED, NULL);
    progress_clear(&session->progress);
    measurement_done(&measurement);
    return result;
}

const struct command command_measure = {
    .name = "measure",
    .summary = "measure one setting, with its interval",
    .run = command_run_measuring,
    .description =
        "Measures one setting for a pattern: throughput and latency with Student-t intervals over replays.",
    .example = "fstune measure --pattern randread --request-size 4k --queue-depth 32 --direct 1 --api "
               "io_uring --replays 5",
    .options = OPTIONS_MEASURE,
    .plan = check_and_print_measure_plan,
    .measure = run_measurement,
};
