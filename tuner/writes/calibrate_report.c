/* What a calibration found. */
#include "tuner/writes/calibrate.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/report/report_text.h"
#include "tuner/session/json_row.h"

#include <inttypes.h>
#include <math.h>

static const char *format_value(const struct host_parameter *parameter, double value,
                                char text[UNITS_TEXT_SIZE])
{
    if (!isfinite(value))
        snprintf(text, UNITS_TEXT_SIZE, "-");
    else if (parameter->unit == HOST_BPS)
        units_format_rate(value, text);
    else if (parameter->unit == HOST_BYTES)
        units_format_bytes((uint64_t)value, text);
    else
        units_format_duration((uint64_t)(1e9 * value + 0.5), text);
    return text;
}

static void print_value(FILE *out, size_t i, const struct calibrate_value *value)
{
    const struct host_parameter *parameter = &host_parameters[i];
    char text[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE], interval[80] = "";
    if (value->known && isfinite(value->interval.low))
        snprintf(interval, sizeof interval, "%s to %s", format_value(parameter, value->interval.low, low),
                 format_value(parameter, value->interval.high, high));
    fprintf(out, "  %-23s %-11s %-24s %s", parameter->name,
            value->known ? format_value(parameter, value->value, text) : "-", interval, value->how);
    if (value->known && value->fitted)
        fprintf(out, "; residuals %.1f %%%s", 100 * value->fit.residual_share,
                value->fit.robust ? ", robust fit" : "");
    if (value->known && value->n > 0)
        fprintf(out, "; n = %zu", value->n);
    fputc('\n', out);
}

int calibrate_report_text(FILE *out, const struct calibration *calibration, struct err *err)
{
    const struct session *session = calibration->session;
    char path[SETTINGS_TEXT_SIZE], written[UNITS_TEXT_SIZE], read[UNITS_TEXT_SIZE];
    fprintf(out, "%s: ", text_printable(session->settings->file.path, path, sizeof path));
    text_place(out, session);
    fputs(calibration->interrupted ? "  (interrupted)\n\n" : "\n\n", out);
    fprintf(out, "  %-23s %-11s %-24s %s\n", "parameter", "value",
            calibration->n_rounds < CALIBRATE_LEAST_ROUNDS ? "95 % (preliminary)" : "95 % interval", "how");
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        print_value(out, i, &calibration->values[i]);
    text_notes(out, "Worth knowing", &session->warnings, true);
    fprintf(out, "\n%zu round%s. Wrote %s, read %s in %.1f s; seed %" PRIu64 ".\n", calibration->n_rounds,
            calibration->n_rounds == 1 ? "" : "s", units_format_bytes(session->bytes_written, written),
            units_format_bytes(session->bytes_read, read), session_seconds(session), session->seed);
    if (session->settings->output[0] == '\0')
        fputs("Nothing was kept: --output host.conf writes the file that predict and advise read.\n", out);
    return text_finish(out, err);
}

static json_t *json_value(size_t i, const struct calibrate_value *value)
{
    static const char *const units[] = {"bytes/s", "bytes", "s"};
    bool known = value->known;
    json_t *object =
        json_pack("{s:o, s:s, s:o, s:o, s:I, s:o}", "value", json_number(known ? value->value : NAN), "unit",
                  units[host_parameters[i].unit], "ci_low", json_number(known ? value->interval.low : NAN),
                  "ci_high", json_number(known ? value->interval.high : NAN), "rounds", (json_int_t)value->n,
                  "how", json_text(value->how));
    if (object != NULL && known && value->fitted)
        json_object_set_new(
            object, "fit",
            json_pack("{s:o, s:o, s:o, s:I, s:I, s:b}", "intercept_s", json_number(value->fit.intercept),
                      "slope_s_per_byte", json_number(value->fit.slope), "residual_share",
                      json_number(value->fit.residual_share), "n", (json_int_t)value->fit.n, "outliers",
                      (json_int_t)value->fit.n_outliers, "robust", value->fit.robust));
    return object;
}

/* The rounds that the values were made of, for readers who doubt the values. */
static json_t *json_rounds(const struct calibration *calibration)
{
    static const char *const names[CALIBRATE_N_SERIES] = {
        "memory_s_per_byte",  "cache_s_per_byte", "first_touch_s_per_byte", "reduced_s_per_byte",
        "rewrite_s_per_byte", "read_s_per_byte",  "writeback_s_per_byte",   "seek_s"};
    json_t *list = json_array();
    for (size_t i = 0; i < calibration->n_rounds && list != NULL; i++) {
        const struct calibrate_round *round = &calibration->rounds[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o}", "calls_s", json_numbers(round->calls_s, CALIBRATE_N_CALLS),
                      "buffer_s", json_numbers(round->buffer_s, CALIBRATE_N_BUFFER), "small_sync_s",
                      json_numbers(round->small_s, CALIBRATE_N_SMALL), "large_sync_s",
                      json_numbers(round->large_s, CALIBRATE_N_LARGE));
        for (size_t k = 0; k < CALIBRATE_N_SERIES && object != NULL; k++)
            json_object_set_new(object, names[k], json_number(round->series[k]));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_sizes(const struct calibrate_sizes *sizes)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "calls_bytes",
                     json_numbers(sizes->calls_bytes, CALIBRATE_N_CALLS), "buffer_bytes",
                     json_numbers(sizes->buffer_bytes, CALIBRATE_N_BUFFER), "small_sync_bytes",
                     json_numbers(sizes->small_bytes, CALIBRATE_N_SMALL), "large_sync_bytes",
                     json_numbers(sizes->large_bytes, CALIBRATE_N_LARGE));
}

int calibrate_report_json(FILE *out, const struct calibration *calibration, struct err *err)
{
    const struct session *session = calibration->session;
    json_t *values = json_object();
    for (size_t i = 0; i < HOST_N_PARAMETERS && values != NULL; i++)
        json_object_set_new(values, host_parameters[i].name, json_value(i, &calibration->values[i]));
    json_t *object =
        json_pack("{s:s, s:s, s:b, s:b, s:o, s:I, s:I, s:b, s:o}", "schema", "fstune/calibration/1",
                  "version", FSTUNE_VERSION, "interrupted", calibration->interrupted, "complete",
                  calibration->complete, "parameters", values, "rounds", (json_int_t)calibration->n_rounds,
                  "cache_bytes", (json_int_t)calibration->rig.cache_bytes, "free_pages_are_taken",
                  calibration->takes_back, "seconds", json_number(session_seconds(session)));
    if (object == NULL)
        return json_print(out, NULL, err);
    json_object_set_new(object, "sizes", json_sizes(&calibration->sizes));
    json_object_set_new(object, "samples", json_rounds(calibration));
    json_object_set_new(object, "bytes_written", json_integer((json_int_t)session->bytes_written));
    json_object_set_new(object, "bytes_read", json_integer((json_int_t)session->bytes_read));
    json_object_set_new(object, "seed", json_integer((json_int_t)session->seed));
    json_object_set_new(object, "warnings", json_notes(&session->warnings, "code", "text"));
    json_object_set_new(object, "system", json_system(session));
    return json_print(out, object, err);
}
