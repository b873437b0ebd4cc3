/* tuner/search/sensitivity: what the search learnt about the factors, in shares and in words.
 *
 * Two views, because they can differ: the shares are about the whole space (models/search/importance), the
 * changes about the recommended point - what setting one factor alone to another level does to it, by the
 * model. */
#pragma once

#include "models/search/importance.h"
#include "tuner/search/tune.h"

#include <stdbool.h>
#include <stddef.h>

#define SENSITIVITY_MAX_LINES 4
#define SENSITIVITY_LINE_SIZE 320

struct sensitivity_factor {
    const char *key;                   /* "request_size" */
    size_t n_changes;                  /* 0: the factor has one level */
    struct importance_change *changes; /* ascending; owned */
};

/* By dimension of the space. */
struct sensitivity {
    struct importance importance;
    struct sensitivity_factor factors[SPACE_MAX_DIMS];
};

/* 0; -ENODATA: nothing was chosen, or there is no model of the space; -ENOMEM, -EDOM. sensitivity_done
 * accepts a zeroed one, and one after a failure. */
int sensitivity_of(const struct tune *tune, struct sensitivity *ret_sensitivity);
void sensitivity_done(struct sensitivity *sensitivity);

/* Standard deviation of a change as it should be read: the model's own is too small where it has not measured
 * the point (docs/method.md), and is doubled there. */
double sensitivity_deviation(const struct tune *tune, const struct importance_change *change);

/* Interval of the ratio of what is optimised (throughput, or latency) after a change to that before, at
 * `confidence`. */
struct interval sensitivity_ratio(const struct tune *tune, const struct importance_change *change,
                                  double confidence, double *ret_mean);

/* Up to SENSITIVITY_MAX_LINES sentences, most important first, each of which its intervals support; *ret_n =
 * 0 when they support none. */
void sensitivity_text(const struct tune *tune, const struct sensitivity *sensitivity,
                      char ret_lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE], size_t *ret_n);
