/* tuner/writes/report_prediction: a prediction as text, JSON, CSV and picture. */
#pragma once

#include "bench/base/err.h"
#include "tuner/writes/predict.h"

#include <jansson.h>
#include <stdio.h>

/* All after predict_run. 0 or the errno of a failed write, -ENOMEM. */

int report_prediction_text(FILE *out, const struct predict *predict, struct err *err);

/* Schema fstune/write-prediction/1. */
int report_prediction_json(FILE *out, const struct predict *predict, struct err *err);

/* Parts of that document, for others that hold a prediction. path: of the host file. */
json_t *report_prediction_states(const struct cawl_prediction *prediction);
json_t *report_prediction_host(const struct host_file *file, const char *path);

/* A line for each write of a struct predict, for publish_print; the caller checks the stream. */
int report_prediction_csv(FILE *out, const void *predict, struct err *err);

/* Into the file --plot names, or as letters on standard output. */
int report_prediction_plot(const struct predict *predict, struct err *err);
