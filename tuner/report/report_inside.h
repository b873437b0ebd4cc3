/* tuner/report/report_inside: what one run alone says about its mean: batch means over its windows. */
#pragma once

#include "bench/run/measure.h"
#include "models/statistics/batch_means.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Of the longest run so far. */
struct report_inside {
    double seconds;              /* 0: none yet */
    bool flushed;                /* a flush was part of the span, which the windows do not show */
    struct pump_windows windows; /* completed bytes */
};

void report_inside_note(struct report_inside *inside, const struct measure_result *result);

/* Batch means of the rates (bytes per second) over the full windows. 0; -ENODATA where the windows do not
 * tell the throughput of the run: no run, no full window, a flush inside the span; -ENOMEM. */
int report_inside_of(const struct report_inside *inside, double confidence,
                     struct batch_means *ret_batch_means);

/* {"mean", "ci_low", "ci_high", "windows", "cut", "batches", "effective", "lag1"}: the interval is null where
 * none can be claimed; null as a whole where report_inside_of has no result. A new reference. */
json_t *report_inside_json(const struct report_inside *inside, double confidence);

/* One line, or nothing where there is no result. */
void report_inside_text(FILE *out, const struct report_inside *inside, double confidence);
