/* tuner/search/matters: what the search learnt about the factors, in shares and in words.
 *
 * Two views, because they can differ: the shares are about the whole space (models/search/importance), the
 * changes about the recommended point - what setting one factor alone to another level does to it, by the
 * model. */
#ifndef FSTUNE_TUNER_SEARCH_MATTERS_H
#define FSTUNE_TUNER_SEARCH_MATTERS_H

#include "models/search/importance.h"
#include "tuner/search/tune.h"

#include <stdbool.h>
#include <stddef.h>

#define MATTERS_MAX_LINES 4
#define MATTERS_LINE_SIZE 320

struct matters_factor {
    const char *key;                   /* "request_size" */
    size_t n_changes;                  /* 0: the factor has one level */
    struct importance_change *changes; /* ascending; owned */
};

/* By dimension of the space. */
struct matters {
    struct importance importance;
    struct matters_factor factors[SPACE_MAX_DIMS];
};

/* 0; -ENODATA: nothing was chosen, or there is no model of the space; -ENOMEM, -EDOM. matters_done accepts a
 * zeroed one, and one after a failure. */
int matters_of(const struct tune *tune, struct matters *ret_matters);
void matters_done(struct matters *matters);

/* Standard deviation of a change as it should be read: the model's own is too small where it has not measured
 * the point (docs/measuring.md), and is doubled there. */
double matters_deviation(const struct tune *tune, const struct importance_change *change);

/* Interval of the ratio of what is optimised (throughput, or latency) after a change to that before, at
 * `confidence`. */
struct interval matters_ratio(const struct tune *tune, const struct importance_change *change,
                              double confidence, double *ret_mean);

/* Up to MATTERS_MAX_LINES sentences, most important first, each of which its intervals support; *ret_n = 0
 * when they support none. */
void matters_words(const struct tune *tune, const struct matters *matters,
                   char ret_lines[MATTERS_MAX_LINES][MATTERS_LINE_SIZE], size_t *ret_n);

#endif
