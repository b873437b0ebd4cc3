/* tuner/nightly/report_retune: a night over all targets, for people, for programs, for the log. */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune.h"

#include <jansson.h>
#include <stdio.h>

/* A few lines for each target. */
void report_retune_text(FILE *out, const struct retune_report *report);

/* fstune/retune/1; a new reference, NULL when memory ran out. */
json_t *report_retune_document(const struct retune_report *report);

/* One line on stderr's stream for each target with exit code 1, 3, 4 or 5: "fstune: TARGET: what". */
void report_retune_log(FILE *out, const struct retune_report *report);

/* What would be done: the plan of --dry-run. */
void report_retune_plan_text(FILE *out, const struct retune_target *target, const struct point *in_force);
json_t *report_retune_plan_json(const struct retune_target *target, const struct point *in_force);
