/* tuner/impact/predict_rows: a target from metrics, by a regression over rows of programs that are known. */
#pragma once

#include "bench/base/err.h"
#include "models/impact/regression.h"
#include "tuner/impact/number_table.h"
#include "tuner/options/settings.h"

#include <stdio.h>

struct predict_rows {
    const struct settings *settings;
    struct number_table train, asked; /* the second is empty without --predict */
    struct regression regression;
};

/* Reads the tables and fits. 0; -EINVAL with one line; other negative errno. */
int predict_rows(struct predict_rows *rows, const struct settings *settings, struct err *err);

void predict_rows_done(struct predict_rows *rows);

int predict_rows_text(FILE *out, const struct predict_rows *rows, struct err *err);
int predict_rows_json(FILE *out, const struct predict_rows *rows, struct err *err);
