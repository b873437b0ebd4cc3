/* A validation as text, CSV, JSON and picture. */
#include "bench/base/units.h"
#include "tuner/base/csv.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/report_prediction.h"
#include "tuner/writes/validate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* At most, all repetitions together. */
static uint64_t most_bytes_of(const struct validation *validation)
{
    return (validation->load->total_bytes + validate_extra_bytes(validation)) *
           validation->settings->prediction.repetitions;
}

/* Includes the pauses, but not the waiting for a calm machine. */
static double predicted_seconds(const struct validation *validation)
{
    const struct cawl_prediction *prediction = &validation->cawl.prediction;
    return validation->settings->prediction.repetitions *
           (prediction->end_s[prediction->n - 1] + prediction->close_s);
}

void validate_print_plan(FILE *out, const struct validation *validation)
{
    char path[SETTINGS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    fprintf(out,
            "plan: %u times %zu writes (%s) into nameless files in %s (removed afterwards), %s in all%s, %s "
            "by the model\n",
            validation->settings->prediction.repetitions, validation->load->n,
            cawl_mode_names[validation->predict->mode],
            text_printable(validation->settings->file.path, path, sizeof path),
            units_format_bytes(most_bytes_of(validation), bytes),
            validate_extra_bytes(validation) > 0 ? " at most, the proof of direct I/O included" : "",
            text_short_duration(1e9 * predicted_seconds(validation), time));
}

int validate_print_plan_json(FILE *out, const struct validation *validation, struct err *err)
{
    return json_print(
        out,
        json_pack("{s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:o}", "schema", "fstune/plan/1", "version",
                  FSTUNE_VERSION, "place", json_text(validation->settings->file.path), "mode",
                  cawl_mode_names[validation->predict->mode], "writes", (json_int_t)validation->load->n,
                  "repetitions", (json_int_t)validation->settings->prediction.repetitions, "max_write_bytes",
                  (json_int_t)most_bytes_of(validation), "predicted_seconds",
                  json_number(predicted_seconds(validation))),
        err);
}

static const char *percent(double share, char *buffer)
{
    if (isfinite(share))
        snprintf(buffer, UNITS_TEXT_SIZE, share < 9.995 ? "%.1f %%" : "%.0f %%", 100 * share);
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "n/a");
    return buffer;
}

/* error: NULL for what was measured. */
static void print_row(FILE *out, const struct validation *validation, const char *name, double total_s,
                      const struct prediction_error *error, double total_share)
{
    char total[UNITS_TEXT_SIZE] = "", mean[UNITS_TEXT_SIZE] = "", chunk[UNITS_TEXT_SIZE],
         weighted[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE];
    if (!isnan(total_s)) {
        text_short_duration(1e9 * total_s, total);
        text_short_duration(1e9 * total_s / (double)validation->load->n, mean);
    }
    fprintf(out, "%-10s %12s %12s", name, total, mean);
    if (error != NULL)
        fprintf(out, " %12s %12s %12s", percent(error->chunk_share, chunk),
                percent(error->weighted_share, weighted), percent(total_share, whole));
    fputc('\n', out);
}

int validate_print_text(FILE *out, const struct validation *validation)
{
    char bytes[UNITS_TEXT_SIZE], text[UNITS_TEXT_SIZE], path[SETTINGS_TEXT_SIZE];
    fprintf(out, "%s: %zu writes, %s in all, made %zu time%s in %s\n\n",
            cawl_mode_names[validation->predict->mode], validation->load->n,
            units_format_bytes(validation->load->total_bytes, bytes), validation->n_runs,
            validation->n_runs == 1 ? "" : "s (medians)",
            text_printable(validation->settings->file.path, path, sizeof path));
    fprintf(out, "%-10s %12s %12s %12s %12s %12s\n", "", "total", "per write", "mean error", "weighted",
            "of the total");
    print_row(out, validation, "measured", validation->total_s, NULL, NAN);
    if (validation->n_runs > 1)
        print_row(out, validation, "another", NAN, &validation->scatter, validation->scatter.total_share);
    print_row(out, validation, "CAWL", validation->cawl.prediction.total_s, &validation->cawl.error,
              validation->cawl.total_error_share);
    print_row(out, validation, "naive", validation->naive.prediction.total_s, &validation->naive.error,
              validation->naive.total_error_share);
    fputs("\nmean error: of the writes one by one; weighted: with their costs\n", out);
    fputs(
        validation->n_runs > 1
            ? "another: a repetition as the prediction of the others; nothing can be judged finer than that\n"
            : "One repetition does not tell how much real writes scatter: give --repetitions 3\n",
        out);
    double improvement =
        prediction_error_improvement(validation->cawl.error.chunk_share, validation->naive.error.chunk_share);
    if (isfinite(improvement))
        fprintf(out, "CAWL errs %s %s than naive\n", percent(fabs(improvement), text),
                improvement >= 0 ? "less" : "more");
    for (size_t i = 0; i < validation->warnings.n; i++)
        fprintf(out, "warning: %s\n", validation->warnings.note[i].text);
    return ferror(out) ? -EIO : 0;
}

#define N_COLUMNS 7

/* What stands of each write in the CSV and in the picture's data, in their order. */
static const double *column_of(const struct validation *validation, size_t i)
{
    const double *const columns[N_COLUMNS] = {validation->costs_s,
                                              validation->low_s,
                                              validation->high_s,
                                              validation->cawl.prediction.costs_s,
                                              validation->naive.prediction.costs_s,
                                              validation->dirty_bytes,
                                              validation->cawl.prediction.dirty_bytes};
    return columns[i];
}

int validate_print_csv(FILE *out, const void *context, struct err *err)
{
    const struct validation *validation = context;
    const struct write_load *load = validation->load;
    fputs("chunk,file,offset,size,delay_s,measured_s,low_s,high_s,cawl_s,naive_s,dirty_bytes,"
          "cawl_dirty_bytes" CSV_END,
          out);
    for (size_t i = 0; i < load->n; i++) {
        const struct cawl_chunk *chunk = &load->chunks[i];
        fprintf(out, "%zu,", i);
        csv_text(out, load->files[chunk->file]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",", chunk->offset_bytes, chunk->size_bytes);
        csv_number(out, chunk->delay_s);
        for (size_t j = 0; j < N_COLUMNS; j++) {
            fputc(',', out);
            csv_number(out, column_of(validation, j)[i]);
        }
        fputs(CSV_END, out);
    }
    return ferror(out) ? err_set(err, -EIO, "the lines could not be printed") : 0;
}

static json_t *json_error(const struct prediction_error *error, double total_share)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "n", (json_int_t)error->n, "per_chunk",
                     json_number(error->chunk_share), "weighted", json_number(error->weighted_share), "total",
                     json_number(total_share));
}

static json_t *json_model(const struct validate_model *model, size_t n, bool dirty)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "total_s", json_number(model->prediction.total_s),
                               "close_s", json_number(model->prediction.close_s), "costs_s",
                               json_numbers(model->prediction.costs_s, n), "error",
                               json_error(&model->error, model->total_error_share));
    if (dirty)
        json_object_set_new(object, "dirty_bytes", json_numbers(model->prediction.dirty_bytes, n));
    return object;
}

static json_t *json_measured(const struct validation *validation)
{
    size_t n = validation->n_runs > 0 ? validation->load->n : 0;
    json_t *repetitions = json_array();
    for (size_t i = 0; i < validation->n_runs; i++)
        json_array_append_new(repetitions,
                              json_pack("{s:o, s:o}", "total_s", json_number(validation->runs[i].total_s),
                                        "close_s", json_number(validation->runs[i].close_s)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total_s", json_number(validation->total_s),
                     "costs_s", json_numbers(validation->costs_s, n), "low_s",
                     json_numbers(validation->low_s, n), "high_s", json_numbers(validation->high_s, n),
                     "dirty_bytes", json_numbers(validation->dirty_bytes, n), "scatter",
                     json_error(&validation->scatter, validation->scatter.total_share), "repetitions",
                     repetitions);
}

int validate_print_json(FILE *out, const struct validation *validation, struct err *err)
{
    const struct predict *predict = validation->predict;
    const size_t n = validation->load->n;
    double improvement =
        prediction_error_improvement(validation->cawl.error.chunk_share, validation->naive.error.chunk_share);
    json_t *document =
        json_pack("{s:s, s:s, s:b, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                  "schema", "fstune/write-validation/1", "version", FSTUNE_VERSION, "interrupted",
                  validation->interrupted, "mode", cawl_mode_names[predict->mode], "path",
                  json_text(validation->settings->file.path), "chunks", (json_int_t)n, "total_bytes",
                  (json_int_t)validation->load->total_bytes, "repetitions", (json_int_t)validation->n_runs,
                  "bytes_written", (json_int_t)validation->written_bytes, "seed", (json_int_t)predict->seed,
                  "measured", json_measured(validation), "cawl", json_model(&validation->cawl, n, true),
                  "naive", json_model(&validation->naive, n, false), "improvement", json_number(improvement),
                  "states", report_prediction_states(&validation->cawl.prediction), "host",
                  report_prediction_host(&predict->host, validation->settings->prediction.host), "warnings",
                  json_warnings(&validation->warnings));
    return json_print(out, document, err);
}

/* The picture is that of figures 4 to 9 of the paper: cost over chunks, measured and predicted, and dirty
 * memory. More points than this show nothing more; the steps between them are equal. */
#define POINTS_MAX 4000U

/* Of the costs, measured and predicted, that are more than nothing. */
static void find_range(const struct validation *validation, double *ret_low_s, double *ret_high_s)
{
    const double *const costs_s[] = {validation->costs_s, validation->cawl.prediction.costs_s,
                                     validation->naive.prediction.costs_s};
    *ret_low_s = INFINITY;
    *ret_high_s = 0;
    for (size_t i = 0; i < 3 * validation->load->n; i++) {
        double cost_s = costs_s[i % 3][i / 3];
        if (cost_s > 0)
            *ret_low_s = fmin(*ret_low_s, cost_s);
        *ret_high_s = fmax(*ret_high_s, cost_s);
    }
}

static void write_data(FILE *script, const struct validation *validation)
{
    size_t n = validation->load->n, step = (n + POINTS_MAX - 1) / POINTS_MAX;
    fputs("$data << EOD\n", script);
    for (size_t i = 0; i < n; i += step) {
        fprintf(script, "%zu", i);
        for (size_t j = 0; j < N_COLUMNS; j++)
            plot_script_number(script, column_of(validation, j)[i]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static int write_validate_script(FILE *script, const struct plot_request *request, const void *context,
                                 struct err *err)
{
    const struct validation *validation = context;
    char what[PLOT_TEXT_SIZE], detail[PLOT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    static const struct plot_data nowhere;
    double low_s, high_s;
    snprintf(what, sizeof what, "Cost of writes, %s: %zu writes, %s in all",
             cawl_mode_names[validation->predict->mode], validation->load->n,
             units_format_bytes(validation->load->total_bytes, bytes));
    snprintf(detail, sizeof detail, "mean error per write: CAWL %.0f %%, naive %.0f %%",
             100 * validation->cawl.error.chunk_share, 100 * validation->naive.error.chunk_share);
    plot_script_begin(script, request, &nowhere, what, detail);
    find_range(validation, &low_s, &high_s);
    fprintf(script, "n = %zu\nn_runs = %zu\nis_cached = %d\nlow = %.6g\nhigh = %.6g\n", validation->load->n,
            (size_t)validation->n_runs, validation->cawl.prediction.n_changes > 0, low_s, high_s);
    write_data(script, validation);
    fputs(plot_assets_head, script);
    fputs(plot_assets_validation, script);
    (void)err;
    return 0;
}

int validate_picture_draw(const struct validation *validation, struct err *err)
{
    return plot_deliver_drawn(&validation->settings->plot, validation->settings->prediction.picture,
                              write_validate_script, validation, err);
}
