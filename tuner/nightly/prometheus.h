/* tuner/nightly/prometheus: the figures of a night for node-exporter's textfile collector (the text
 * exposition format of Prometheus, version 0.0.4). */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune.h"

#include <stdio.h>

/* Writes the samples of a report of at least one target. Values that are not known are left out. old: the
 * text that the file held, or NULL: its samples of targets that are in config and not in the report are kept,
 * so that a night of one target does not hide the others. */
void prometheus_print(FILE *out, const struct retune_report *report, const struct retune_config *config,
                      const char *old);

/* The same into a file, replaced as a whole, readable by everybody. 0 or a negative errno. */
int prometheus_write(const char *path, const struct retune_report *report, const struct retune_config *config,
                     struct err *err);
