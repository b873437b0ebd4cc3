/* tuner/nightly/retune_record: decisions of this machine about a target, in the history. */
#pragma once

#include "tuner/nightly/retune.h"

/* The newest that are looked at: two years of nights. */
#define RETUNE_RECORD_MOST 800

/* Adds the history's name to an error of it, and where its disk is full the remedy. Returns result. */
int retune_record_blame(const struct retune_world *world, int result, struct err *err);

/* Of this machine about the target, the newest first; the caller frees. */
int retune_record_list(const struct retune_world *world, const char *target,
                       struct history_change **ret_changes, size_t *ret_n, struct err *err);
/* The newest decision about what is in force; zeroed, with id 0, where there is none. */
int retune_record_settled(const struct retune_world *world, const char *target, struct history_change *ret,
                          struct err *err);
/* A night's decision, from outcome->night where it was measured. run_id: 0 for none. */
int retune_record_add(const struct retune_world *world, const struct retune_outcome *outcome,
                      enum history_kind kind, int64_t run_id, const char *text, struct err *err);
/* That `last` was taken back. */
int retune_record_add_rollback(const struct retune_world *world, const struct history_change *last,
                               struct err *err);
