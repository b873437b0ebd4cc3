/* tuner/nightly/report_retune: a night over all targets, for people, for programs, for the log, and for
 * monitoring. */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune.h"

#include <jansson.h>
#include <stdio.h>

/* A few lines for each target. */
void report_retune_text(FILE *out, const struct retune_report *report);

/* fstune/retune/1; a new reference, NULL when memory ran out. */
json_t *report_retune_document(const struct retune_report *report);

/* The word for what a target's night came to: a verdict's name, "skipped", "failed" or "interrupted". */
const char *report_retune_verdict(const struct retune_outcome *outcome);

/* One line on stderr's stream for each target with exit code 1, 3, 4 or 5: "fstune: TARGET: what". */
void report_retune_log(FILE *out, const struct retune_report *report);

/* What would be done: the plan of --dry-run. */
void report_retune_plan_text(FILE *out, const struct retune_target *target, const struct point *in_force);
json_t *report_retune_plan_json(const struct retune_target *target, const struct point *in_force);

/* --- prometheus: for node-exporter's textfile collector (the text exposition format, version 0.0.4) --- */

/* Writes the samples of a report of at least one target. Values that are not known are left out. old: the
 * text that the file held, or NULL: its samples of targets that are in config and not in the report are kept,
 * so that a night of one target does not hide the others. */
void prometheus_print(FILE *out, const struct retune_report *report, const struct retune_config *config,
                      const char *old);

/* The same into a file, replaced as a whole, readable by everybody. 0 or a negative errno. */
int prometheus_write(const char *path, const struct retune_report *report, const struct retune_config *config,
                     struct err *err);
