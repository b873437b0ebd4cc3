/* Tables in, a regression, and its predictions out. */
#include "tuner/impact/predict_rows.h"

#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[REGRESSION_N] = {"least-squares", "robust", "non-negative"};

/* A buffer of NUMBER_TABLE_MAX_NAME. */
static const char *metric_name(const struct predict_rows *rows, size_t j, char *buffer)
{
    if (rows->train.names == NULL)
        snprintf(buffer, NUMBER_TABLE_MAX_NAME, "column %zu", j + 1);
    else
        text_printable(rows->train.names[j], buffer, NUMBER_TABLE_MAX_NAME);
    return buffer;
}

static int explain_fit(const struct predict_rows *rows, int result, size_t collinear, struct err *err)
{
    const struct number_table *train = &rows->train;
    char name[NUMBER_TABLE_MAX_NAME];
    if (result == -EDOM)
        return err_set(err, -EINVAL,
                       "--train: %s is constant, or told by the other metrics; leave it out or add rows in "
                       "which it differs",
                       metric_name(rows, collinear, name));
    if (result == -EINVAL && train->n_columns > REGRESSION_MAX_METRICS + 1)
        return err_set(err, -EINVAL, "--train: %zu metrics; give at most %d", train->n_columns - 1,
                       REGRESSION_MAX_METRICS);
    if (result == -EINVAL)
        return err_set(err, -EINVAL, "--train: %zu rows for %zu metrics; give at least %zu", train->n_rows,
                       train->n_columns - 1, train->n_columns + 2);
    return err_set(err, result, "no memory for the regression");
}

static int fit_rows(struct predict_rows *rows, struct err *err)
{
    const struct number_table *train = &rows->train;
    const size_t n = train->n_rows, k = train->n_columns - 1;
    size_t collinear = 0;
    double *metrics = calloc(n * (k + 1), sizeof *metrics);
    if (metrics == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu rows", n);
    double *targets = metrics + n * k;
    for (size_t i = 0; i < n; i++) {
        memcpy(metrics + i * k, train->values + i * (k + 1), k * sizeof *metrics);
        targets[i] = train->values[i * (k + 1) + k];
    }
    const struct regression_rows known = {metrics, targets, n, k};
    int result = regression_fit(&known, (enum regression_method)rows->settings->prediction.vm.method,
                                rows->settings->runs.confidence_share, &rows->regression, &collinear);
    free(metrics);
    return result < 0 ? explain_fit(rows, result, collinear, err) : 0;
}

static int check_new_names(const struct predict_rows *rows, size_t k, struct err *err)
{
    char name[NUMBER_TABLE_MAX_NAME], metric[NUMBER_TABLE_MAX_NAME];
    if (rows->train.names == NULL || rows->asked.names == NULL)
        return 0;
    for (size_t j = 0; j < k; j++) {
        if (strcmp(rows->asked.names[j], rows->train.names[j]) != 0)
            return err_set(err, -EINVAL,
                           "--predict: column %zu is %s, that of --train is %s; give the metrics in the same "
                           "order",
                           j + 1, text_printable(rows->asked.names[j], name, sizeof name),
                           metric_name(rows, j, metric));
    }
    return 0;
}

/* New rows have the metrics, and may have the target as well, which is then left out of sight. */
static int check_new_rows(const struct predict_rows *rows, struct err *err)
{
    const size_t k = rows->train.n_columns - 1, n = rows->asked.n_columns;
    if (n == k || n == k + 1)
        return check_new_names(rows, k, err);
    return err_set(err, -EINVAL, "--predict: %zu columns; give the %zu metrics of --train", n, k);
}

int predict_rows(struct predict_rows *rows, const struct settings *settings, struct err *err)
{
    const struct settings_vm *asked = &settings->prediction.vm;
    *rows = (struct predict_rows){.settings = settings};
    if (settings->program != NULL)
        return err_set(err, -EINVAL, "--train: does nothing beside a command; leave one of them out");
    int result = number_table_read(asked->train, &rows->train, err);
    if (result < 0)
        return err_prefix(err, "--train");
    if (rows->train.n_columns < 2)
        return err_set(err, -EINVAL, "--train: one column; give metrics, and the target last");
    result = fit_rows(rows, err);
    if (result < 0 || asked->predict[0] == '\0')
        return result;
    result = number_table_read(asked->predict, &rows->asked, err);
    return result < 0 ? err_prefix(err, "--predict") : check_new_rows(rows, err);
}

void predict_rows_done(struct predict_rows *rows)
{
    number_table_free(&rows->train);
    number_table_free(&rows->asked);
}

static struct regression_prediction prediction_of(const struct predict_rows *rows, size_t i)
{
    return regression_predict(&rows->regression, rows->asked.values + i * rows->asked.n_columns,
                              rows->settings->runs.confidence_share);
}

int predict_rows_text(FILE *out, const struct predict_rows *rows, struct err *err)
{
    const struct regression *regression = &rows->regression;
    char name[NUMBER_TABLE_MAX_NAME];
    fprintf(out,
            "%zu rows, %zu metrics, %s: R^2 %.4f; a row that was left out is mispredicted by %.1f %% "
            "(median)\n\n",
            regression->n, regression->k, method_names[regression->method], regression->r_squared,
            100 * regression->left_out_error);
    for (size_t j = 0; j <= regression->k; j++) {
        fprintf(out, "  %-20s %12.6g", j == 0 ? "constant" : metric_name(rows, j - 1, name),
                regression->coefficient[j]);
        if (isfinite(regression->interval[j].low))
            fprintf(out, "  (%.6g to %.6g)", regression->interval[j].low, regression->interval[j].high);
        fputc('\n', out);
    }
    for (size_t i = 0; i < rows->asked.n_rows; i++) {
        const struct regression_prediction prediction = prediction_of(rows, i);
        fprintf(out, "%srow %zu: %.6g", i == 0 ? "\n" : "", i + 1, prediction.value);
        if (isfinite(prediction.interval.low))
            fprintf(out, " (%.6g to %.6g)", prediction.interval.low, prediction.interval.high);
        if (prediction.extrapolates)
            fprintf(out, "; %s is beyond what was trained on, so that this is a guess",
                    metric_name(rows, prediction.beyond, name));
        fputc('\n', out);
    }
    return text_finish(out, err);
}

static json_t *coefficients_json(const struct predict_rows *rows)
{
    const struct regression *regression = &rows->regression;
    json_t *list = json_array();
    char name[NUMBER_TABLE_MAX_NAME];
    for (size_t j = 0; j <= regression->k; j++) {
        json_t *object = json_interval(regression->coefficient[j], regression->interval[j].low,
                                       regression->interval[j].high);
        json_object_set_new(object, "metric",
                            j == 0 ? json_string("constant") : json_text(metric_name(rows, j - 1, name)));
        json_array_append_new(list, object);
    }
    return list;
}

int predict_rows_json(FILE *out, const struct predict_rows *rows, struct err *err)
{
    const struct regression *regression = &rows->regression;
    json_t *predictions = json_array();
    char name[NUMBER_TABLE_MAX_NAME];
    for (size_t i = 0; i < rows->asked.n_rows; i++) {
        const struct regression_prediction prediction = prediction_of(rows, i);
        json_t *object = json_interval(prediction.value, prediction.interval.low, prediction.interval.high);
        json_object_set_new(object, "extrapolates",
                            prediction.extrapolates ? json_text(metric_name(rows, prediction.beyond, name))
                                                    : json_null());
        json_array_append_new(predictions, object);
    }
    return json_print(out,
                      json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "schema",
                                "fstune/regression/1", "version", FSTUNE_VERSION, "method",
                                method_names[regression->method], "rows", (json_int_t)regression->n,
                                "r_squared", json_number(regression->r_squared), "residual_std",
                                json_number(regression->residual_std), "leave_one_out_error",
                                json_number(regression->left_out_error), "coefficients",
                                coefficients_json(rows), "predictions", predictions),
                      err);
}
