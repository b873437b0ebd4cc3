/* tuner/experiment/report_experiment_csv: an experiment as a table for spreadsheets (RFC 4180,
 * tuner/base/csv). */
#pragma once

#include "bench/base/err.h"
#include "tuner/experiment/report_experiment_data.h"

#include <stdio.h>

/* A line for each run in the order of execution: number, point, the varied and the fixed factors (sizes in
 * bytes), figures. 0; -ENODATA: the document has no single runs; -ENOMEM. */
int report_experiment_csv_long(FILE *out, const struct report_data *data, struct err *err);

/* A line for each point, by levels: factors, figures, then the throughput of each replay in a column. */
void report_experiment_csv_wide(FILE *out, const struct report_data *data);

/* Means in bytes per second: levels of the first factor down, of the second across. Factors that
 * another one decides (as psync and pvec can follow from the depth) do not count. 0; -EINVAL: other than two
 * factors are varied; -ENOMEM. */
int report_experiment_csv_matrix(FILE *out, const struct report_data *data, struct err *err);
