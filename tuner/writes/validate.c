/* A load of writes: predicted, made for real, compared. */
#include "tuner/writes/validate_internal.h"

#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int predict_models(struct validation *validation, struct err *err)
{
    const struct write_load *load = validation->load;
    const struct cawl_host *host = &validation->predict->host.host;
    int result = cawl_predict(host, &validation->predict->options, validation->predict->mode, load->chunks,
                              load->n, &validation->cawl.prediction);
    if (result == 0)
        result = cawl_predict(host, &validation->predict->options, CAWL_NAIVE, load->chunks, load->n,
                              &validation->naive.prediction);
    if (result == -ENOMEM)
        return err_set(err, result, "no memory for predicting %zu writes", load->n);
    return result < 0 ? err_sys(err, result, "the writes cannot be predicted") : 0;
}

static void set_error(struct validate_model *model, const struct validation *validation)
{
    model->error = prediction_error_of(model->prediction.costs_s, validation->costs_s, validation->load->n);
    model->total_error_share =
        validation->total_s > 0 ? fabs(model->prediction.total_s - validation->total_s) / validation->total_s
                                : NAN;
}

static void set_range(struct validation *validation)
{
    for (size_t i = 0; i < validation->load->n; i++) {
        validation->low_s[i] = validation->high_s[i] = validation->runs[0].costs_s[i];
        for (size_t j = 1; j < validation->n_runs; j++) {
            validation->low_s[i] = fmin(validation->low_s[i], validation->runs[j].costs_s[i]);
            validation->high_s[i] = fmax(validation->high_s[i], validation->runs[j].costs_s[i]);
        }
    }
}

/* columns: room for n_runs pointers and as many totals behind one another. */
static int take_medians(struct validation *validation, const double **columns, double *totals_s)
{
    size_t n = validation->load->n, n_runs = validation->n_runs;
    for (size_t j = 0; j < n_runs; j++) {
        columns[j] = validation->runs[j].costs_s;
        totals_s[j] = validation->runs[j].total_s;
    }
    int result = prediction_error_medians(columns, n_runs, n, validation->costs_s);
    if (result == 0)
        result = prediction_error_scatter(columns, n_runs, n, &validation->scatter);
    for (size_t j = 0; j < n_runs; j++)
        columns[j] = validation->runs[j].dirty_bytes;
    if (result == 0)
        result = prediction_error_medians(columns, n_runs, n, validation->dirty_bytes);
    validation->total_s = median_of(totals_s, n_runs);
    return result;
}

int validate_compare(struct validation *validation, struct err *err)
{
    size_t n = validation->load->n;
    double **medians[] = {&validation->costs_s, &validation->low_s, &validation->high_s,
                          &validation->dirty_bytes};
    const double **columns = calloc(validation->n_runs, sizeof *columns);
    double *totals_s = malloc(validation->n_runs * sizeof *totals_s);
    int result = columns == NULL || totals_s == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < sizeof medians / sizeof medians[0] && result == 0; i++) {
        *medians[i] = malloc(n * sizeof **medians[i]);
        result = *medians[i] == NULL ? -ENOMEM : 0;
    }
    if (result == 0)
        result = take_medians(validation, columns, totals_s);
    if (result == 0) {
        set_range(validation);
        set_error(&validation->cawl, validation);
        set_error(&validation->naive, validation);
    }
    free(columns);
    free(totals_s);
    return result < 0 ? err_set(err, result, "no memory for comparing %zu writes", n) : 0;
}

static void done(struct validation *validation)
{
    for (size_t i = 0; i < validation->n_runs; i++) {
        free(validation->runs[i].costs_s);
        free(validation->runs[i].dirty_bytes);
    }
    free(validation->runs);
    free(validation->writes);
    free(validation->costs_s);
    free(validation->low_s);
    free(validation->high_s);
    free(validation->dirty_bytes);
    cawl_prediction_done(&validation->cawl.prediction);
    cawl_prediction_done(&validation->naive.prediction);
}

static int print_validate_result(const struct validation *validation, bool as_csv, struct err *err)
{
    if (validation->settings->json)
        return validate_print_json(stdout, validation, err);
    int result =
        as_csv ? validate_print_csv(stdout, validation, err) : validate_print_text(stdout, validation);
    return result < 0 || fflush(stdout) != 0 ? err_set(err, -EIO, "the result could not be printed") : 0;
}

/* An interruption before the first repetition was whole leaves the predictions, and a document that says so.
 */
static int print_nothing_made(struct validation *validation, struct err *err)
{
    validation->total_s = NAN;
    validation->scatter = prediction_error_of(NULL, NULL, 0);
    validation->cawl.error = validation->naive.error = validation->scatter;
    validation->cawl.total_error_share = validation->naive.total_error_share = NAN;
    return validate_print_json(stdout, validation, err);
}

/* Files come last: what was measured is told even where one cannot be made; and they are of a whole
 * validation only. */
static int print_validation(const struct validation *validation, struct err *err)
{
    const struct settings_prediction *asked = &validation->settings->prediction;
    bool to_stdout = strcmp(asked->csv, "-") == 0;
    int result = print_validate_result(validation, to_stdout, err);
    if (validation->interrupted)
        return result;
    if (result == 0 && asked->csv[0] != '\0' && !to_stdout)
        result = publish_print(asked->csv, validate_print_csv, validation, err);
    if (result == 0 && asked->picture[0] != '\0')
        result = validate_picture_draw(validation, err);
    return result;
}

/* Exit code of a validation that was made, whole or in part. */
static int finish_validation(struct validation *validation, int result, struct err *err)
{
    struct err print_err = {0};
    int signal_number = atomic_load(&interrupt_signal);
    validation->interrupted = result == -EINTR;
    if (result == -EOPNOTSUPP)
        return fail_with(EXIT_NOTHING, "%s", err->text);
    bool is_empty = validation->n_runs == 0;
    if (result < 0 && (result != -EINTR || (is_empty && !validation->settings->json)))
        return signal_number > 0 ? fail_with(EXIT_SIGNAL + signal_number, "%s", err->text)
                                 : fail_refused(result, err->text);
    int printed =
        is_empty ? print_nothing_made(validation, &print_err) : validate_compare(validation, &print_err);
    if (printed == 0 && !is_empty)
        printed = print_validation(validation, &print_err);
    if (printed < 0)
        return fail_with(EXIT_FAILED, "%s", print_err.text);
    return signal_number > 0 ? EXIT_SIGNAL + signal_number : EXIT_DONE;
}

int validate_write(const struct predict *predict)
{
    const struct settings *settings = predict->settings;
    struct err err = {0};
    bool abandoned = false;
    struct validation *validation = calloc(1, sizeof *validation);
    if (validation == NULL)
        return fail_with(EXIT_FAILED, "no memory");
    *validation = (struct validation){.settings = settings, .predict = predict, .load = &predict->load};
    int code = EXIT_DONE, result = 0;
    if (predict->options.n_writers > 1)
        result = err_set(&err, -EINVAL,
                         "--validate makes the writes of one writer only; leave writers out of --extensions");
    if (result == 0)
        result = predict_models(validation, &err);
    if (result == 0)
        result = validate_replay_prepare(validation, &err);
    if (result < 0) {
        code = fail_refused(result, err.text);
        goto out;
    }
    if (settings->dry_run && settings->json) {
        result = validate_print_plan_json(stdout, validation, &err);
        code = result == 0 ? EXIT_DONE : fail_with(EXIT_FAILED, "%s", err.text);
    } else if (settings->dry_run || !settings->quiet) {
        validate_print_plan(settings->dry_run ? stdout : stderr, validation);
    }
    if (settings->dry_run)
        goto out;
    result = validate_replay(validation, &abandoned, &err);
    code = finish_validation(validation, result, &err);
out:
    if (!abandoned) {
        done(validation);
        free(validation);
    }
    return code;
}
