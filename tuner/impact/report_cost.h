/* tuner/impact/report_cost: the cost of a command as text and as JSON. */
#pragma once

#include "bench/base/err.h"
#include "tuner/impact/cost.h"

#include <stdio.h>

int report_cost_text(FILE *out, const struct cost *cost, struct err *err);
int report_cost_json(FILE *out, const struct cost *cost, struct err *err);

/* What will be done, for --dry-run and before the runs. */
void report_cost_plan(FILE *out, const struct cost *cost);

/* The reference's steps under a load (n_loads: alone), all runs together. */
struct report_cost_steps {
    double p50_s, p99_s, max_s;
};

/* NaN where the sequences come from files. */
struct report_cost_steps report_cost_steps_of(const struct cost *cost, size_t r, size_t load);
