/* tuner/report/report_sustained: what a trace says about a rate, in words, as JSON and as warnings. */
#pragma once

#include "models/statistics/wander.h"
#include "tuner/base/notes.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"
#include "tuner/session/sustained.h"

#include <jansson.h>
#include <stdio.h>

#define REPORT_SUSTAINED_SIZE 400

/* One sentence: "steady over 38 s and 46 GB; longer bursts not excluded". Returns buffer. */
const char *report_sustained_words(const struct sustained_verdict *verdict,
                                   char buffer[REPORT_SUSTAINED_SIZE]);

/* The line "Sustained ..." and, for buffered writes, how the runs relate to the limits of dirty memory. */
void report_sustained_text(FILE *out, const struct session *session, const struct sustained_verdict *verdict,
                           const struct point *point);

/* Below a rate that lies between the two levels into which its runs fall: both, because it is the rate of
 * neither. */
void report_sustained_levels(FILE *out, const struct levels_verdict *levels, double mean_bps);

/* Sets "throughput", "iops", "latency_ns" and "sustained"; null of what is NULL. */
void report_sustained_figures(json_t *object, const struct row *row, double confidence,
                              const struct sustained_verdict *verdict);

/* Of the runs of a point. Warnings: not_steady, burst_ended, steady_state_left, two_levels. */
void report_sustained_note(struct notes *warnings, const struct sustained_verdict *verdict,
                           const struct point *point);

/* rate_wanders: what all settings have in common at a time. */
void report_sustained_note_wander(struct notes *warnings, const struct wander *wander, size_t n_runs);

/* The same of the whole command (recommend): rate_changed. */
void report_sustained_note_command(struct notes *warnings, const struct sustained_change *change);
