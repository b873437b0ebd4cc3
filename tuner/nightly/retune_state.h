/* tuner/nightly/retune_state: what later nights need of a night, as the member "night" of its answer. */
#pragma once

#include "models/statistics/student.h"
#include "tuner/nightly/retune_measure.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RETUNE_STATE_MAX_CONFIRMING 16

/* A point of the replays after the choice. */
struct retune_confirming {
    struct point point;
    struct moments response; /* what points are compared by, on its log scale; higher is better */
    struct moments log_bps;
};

struct retune_record {
    bool has_in_force;
    struct point in_force; /* before that night */
    bool down;             /* its throughput had fallen behind earlier nights */
    size_t n_confirming, n_pending;
    struct retune_confirming confirming[RETUNE_STATE_MAX_CONFIRMING];
    struct point pending[NIGHT_MAX_PENDING]; /* contenders to be measured the next night, most wanted first */
};

struct retune_state {
    struct retune_record *nights; /* oldest first */
    size_t n;
};

/* Reads the newest NIGHT_MAX_PAST documents of an array. Those without a whole member "night" count as not
 * there: the history is a file that anybody may have edited. 0 or -ENOMEM. */
int retune_state_read(struct retune_state *memory, const json_t *documents);
void retune_state_done(struct retune_state *memory); /* accepts a zeroed one */

/* The point among the fresh ones of a night; NULL. */
const struct retune_confirming *retune_state_find(const struct retune_record *night,
                                                  const struct point *point);

/* Contenders of the last night, where `in_force` was the current setting then too. Their number. */
size_t retune_state_pending(const struct retune_state *memory, const struct point *in_force,
                            struct point ret_points[NIGHT_MAX_PENDING]);

/* Log ratios of a point to the current setting, of the nights since it is that, oldest first; the row is cut
 * where a night did not measure both. room: at ret_ratios. Their number. */
size_t retune_state_row(const struct retune_state *memory, const struct point *point,
                        const struct point *in_force, struct nights_estimate *ret_ratios, size_t room);

/* How often the current setting changed in the newest `nights` nights; `in_force`: tonight. */
size_t retune_state_changes(const struct retune_state *memory, const struct point *in_force, size_t nights);

/* What the nights say about how much ratios to the current setting scatter from night to night: from the
 * difference between a night and the last one before it that measured the same two. tonight: the night after
 * them, or NULL. With `contender`, whose row begins at the night of index row_begin, differences that reach
 * across its beginning are left out, because they may be the very change that the row shows, and its own
 * since then, which are pooled. */
void retune_state_learn(const struct retune_state *memory, const struct retune_record *tonight,
                        const struct point *contender, size_t row_begin, struct nights_scatter *scatter);

/* Log throughputs of a point by night, oldest first. Nights that were found down are no measure for others,
 * until RETUNE_STATE_NEW_LEVEL of them in a row are the new level. */
#define RETUNE_STATE_NEW_LEVEL 7
size_t retune_state_levels(const struct retune_state *memory, const struct point *point,
                           struct nights_estimate *ret_levels, size_t room);

/* A new reference, NULL when memory ran out. */
json_t *retune_state_json(const struct retune_record *night);
