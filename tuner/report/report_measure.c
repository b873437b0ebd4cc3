/* The result of `measure`. */
#include "tuner/report/report_measure.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/report/report_beside.h"
#include "tuner/report/report_fio_job.h"
#include "tuner/report/report_rates.h"
#include "tuner/report/report_sustained.h"
#include "tuner/report/report_text.h"
#include "tuner/search/clients_report.h"
#include "tuner/session/json_row.h"
#include "tuner/session/members_report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

int report_measure_prepare(struct measured *measured, const struct measurement *measurement)
{
    struct session *session = measurement->session;
    struct notes *warnings = &session->warnings;
    struct row *row = &measured->row;
    *measured = (struct measured){.measurement = measurement};
    int result = row_of(measurement_figures(measurement), false, measurement->settings->runs.confidence_share,
                        &measured->row);
    measured->known = result == 0;
    if (result == 0)
        result = sustained_judge(&measurement->sustained, 0, true, &measured->sustained);
    measured->judged = result == 0;
    if (measured->known)
        row->disqualifying = session_disqualifying(session, row->mostly, &row->point);
    row->warning_set |= row->disqualifying;
    warnings_note(warnings, row->warning_set, row->disqualifying);
    session_note_target(session);
    if (measured->judged && measurement->rule == NULL)
        report_sustained_note(warnings, &measured->sustained, &row->point);
    if (measurement->rule != NULL && !measurement->state.met)
        notes_add(warnings, "not_steady", "no steady state by the rule \"%s\" (%s): %s",
                  measurement->rule->name, measurement->rule->text, measurement->ended);
    return result == -ENODATA ? 0 : result;
}

static json_t *json_run(const struct sample *sample)
{
    return json_pack(
        "{s:o, s:o, s:b, s:b, s:o, s:I, s:I, s:o}", "throughput", json_number(sample->throughput_bps),
        "warmup_seconds", json_number(sample->warmup_seconds), "stable",
        sample->warmup == MEASURE_WARMUP_STABLE, "warmed_up", sample->warmup != MEASURE_WARMUP_NONE,
        "seconds", json_number(sample->seconds), "bytes", (json_int_t)sample->bytes, "moved_bytes",
        (json_int_t)sample->moved_bytes, "latency_mean_ns", json_number(sample->latency_mean_ns));
}

static json_t *json_runs(const struct record *record)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < record->n; i++)
        json_array_append_new(runs, json_run(&record->samples[i]));
    return runs;
}

static json_t *json_steady_state(const struct measurement *measurement)
{
    const struct steady_state *state = &measurement->state;
    if (measurement->rule == NULL)
        return json_null();
    return json_pack("{s:s, s:b, s:I, s:I, s:o, s:o, s:o, s:o}", "rule", measurement->rule->name, "met",
                     state->met, "rounds", (json_int_t)measurement->record.n, "rounds_judged",
                     (json_int_t)state->n_rounds, "range_share", json_number(state->range_share),
                     "drift_share", json_number(state->drift_share), "drift_error_share",
                     json_number(state->drift_error_share), "ended",
                     measurement->ended != NULL ? json_text(measurement->ended) : json_null());
}

static double fio_seconds(const struct measurement *measurement)
{
    return (double)measurement->settings->runs.duration_ns / 1e9;
}

static void set_fio(json_t *object, const struct measured *measured)
{
    const struct measurement *measurement = measured->measurement;
    if (measurement->cross_check.session != NULL)
        json_object_set_new(object, "cross_check",
                            cross_check_json(&measurement->cross_check, &measurement->record));
    if (measurement->settings->runs.fio_job && measured->known)
        json_object_set_new(
            object, "fio_job",
            report_fio_job_json(measurement->session, &measured->row, fio_seconds(measurement)));
}

static struct clients_report clients_of_measured(const struct measured *measured)
{
    const struct measurement *measurement = measured->measurement;
    return (struct clients_report){measurement->session, &measurement->record.point,
                                   measured->known ? measured->row.replays : 0};
}

json_t *report_measure_document(const struct measured *measured)
{
    const struct measurement *measurement = measured->measurement;
    const struct session *session = measurement->session;
    json_t *object = json_pack("{s:s, s:s, s:b, s:o}", "schema", "fstune/measurement/1", "version",
                               FSTUNE_VERSION, "interrupted", measurement->interrupted, "pattern",
                               json_pattern(&measurement->settings->workload.pattern));
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "row", measured->known ? json_row(&measured->row) : json_null());
    report_sustained_figures(object, measured->known ? &measured->row : NULL,
                             measurement->settings->runs.confidence_share,
                             measured->judged ? &measured->sustained : NULL);
    json_object_set_new(
        object, "batch_means",
        report_inside_json(&measurement->inside, measurement->settings->runs.confidence_share));
    json_object_set_new(object, "trustworthy",
                        json_boolean(measured->known && measured->row.disqualifying == 0));
    json_object_set_new(object, "steady_state", json_steady_state(measurement));
    json_object_set_new(object, "runs", json_runs(&measurement->record));
    json_object_set_new(object, "seconds", json_number(session_seconds(session)));
    json_object_set_new(object, "bytes_written", json_integer((json_int_t)session->bytes_written));
    json_object_set_new(object, "bytes_read", json_integer((json_int_t)session->bytes_read));
    if (!session->simulated)
        json_object_set_new(object, "wear",
                            drive_health_json(&session->drive_health_before, &session->drive_health_after));
    json_object_set_new(object, "seed", json_integer((json_int_t)session->seed));
    json_object_set_new(object, "warnings", json_warnings(&session->warnings));
    json_object_set_new(object, "system", json_system(session));
    if (session->beside != NULL)
        json_object_set_new(object, "beside",
                            report_beside_json(&(struct report_beside){session, &measurement->record.point}));
    members_report_json(object, &measurement->members);
    const struct clients_report clients = clients_of_measured(measured);
    clients_report_json(object, &clients);
    if (measurement->rates.step != NULL)
        json_object_set_new(object, "rates",
                            report_rates_json(&measurement->rates, session, &measurement->record.point));
    set_fio(object, measured);
    return object;
}

int report_measure_json(FILE *out, const struct measured *measured, struct err *err)
{
    return json_print(out, report_measure_document(measured), err);
}

static void print_steady_state(FILE *out, const struct measured *measured)
{
    const struct measurement *measurement = measured->measurement;
    const struct steady_state *state = &measurement->state;
    char seconds[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    if (state->met)
        fprintf(out,
                "Steady       after %zu rounds by the rule \"%s\": the last %zu drift by %+.1f %% (range "
                "%.1f %%)\n",
                measurement->record.n, measurement->rule->name, state->n_rounds, 100 * state->drift_share,
                100 * state->range_share);
    else
        fprintf(out, "Steady       NOT after %zu rounds by the rule \"%s\"; %s\n", measurement->record.n,
                measurement->rule->name, measurement->ended);
    if (!state->met && isfinite(state->drift_error_share))
        fprintf(out, "             (the last %zu drift by %+.1f %% +- %.1f %%)\n", state->n_rounds,
                100 * state->drift_share, 200 * state->drift_error_share);
    if (measured->judged)
        fprintf(out, "             all rounds together: %s and %s; longer bursts not excluded\n",
                units_format_duration((uint64_t)(measured->sustained.seconds * 1e9), seconds),
                units_format_bytes(measured->sustained.bytes, bytes));
}

static void print_measured_figures(FILE *out, const struct measured *measured)
{
    const struct row *row = &measured->row;
    const struct session *session = measured->measurement->session;
    char count[UNITS_TEXT_SIZE];
    fputs("Throughput   ", out);
    text_rate(out, row, measured->measurement->settings->runs.confidence_share);
    text_trust(out, row->disqualifying);
    fputc('\n', out);
    if (row->replays < 3)
        report_inside_text(out, &measured->measurement->inside,
                           measured->measurement->settings->runs.confidence_share);
    fprintf(out, "IOPS         %s\nLatency      ", units_format_count(row->iops, count));
    fputs(text_latency_scope(&row->point, &measured->measurement->settings->workload.pattern), out);
    text_latency(out, &row->latency_ns);
    fprintf(out, "\nDepth        %.1f achieved of %u\n", row->achieved_depth, row->point.queue_depth);
    if (measured->measurement->rule != NULL)
        print_steady_state(out, measured);
    else if (measured->judged)
        report_sustained_text(out, session, &measured->sustained, &row->point);
}

int report_measure_text(FILE *out, const struct measured *measured, struct err *err)
{
    const struct measurement *measurement = measured->measurement;
    const struct session *session = measurement->session;
    char text[FACTORS_TEXT_SIZE];
    fprintf(out, "%s, %s, on ", measurement->settings->workload.pattern.name,
            factors_format(&measurement->record.point, text));
    text_place(out, session);
    fputs(measurement->interrupted ? "  (interrupted)\n\n" : "\n\n", out);
    if (measured->known)
        print_measured_figures(out, measured);
    else
        fputs("No replay was completed.\n", out);
    if (measurement->cross_check.session != NULL)
        cross_check_print(out, &measurement->cross_check, &measurement->record);
    fputs("Traffic      ", out);
    text_traffic(out, session);
    fputc('\n', out);
    report_beside_text(out, &(struct report_beside){session, &measurement->record.point});
    members_report_text(out, &measurement->members);
    const struct clients_report clients = clients_of_measured(measured);
    clients_report_text(out, &clients);
    fprintf(out, "Seed         %llu\n", (unsigned long long)session->seed);
    report_rates_text(out, &measurement->rates, session, &measurement->record.point);
    text_notes(out, "Worth knowing", &session->warnings, true);
    if (measurement->settings->runs.fio_job && measured->known)
        report_fio_job_text(out, session, &measured->row, fio_seconds(measurement));
    return text_finish(out, err);
}
