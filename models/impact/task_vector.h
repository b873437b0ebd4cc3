/* models/impact/task_vector: how long a task takes on a storage: the system vector (seconds of each basic
 * operation) times the task vector (how often the task does each), the hybrid methodology. Its known hole is
 * that operations of unlike kinds disturb one another; a term for each pair of kinds corrects that.
 *
 * In a random mix of n operations with shares p_a and p_b of two kinds, 2 n p_a p_b changes from one kind to
 * the other are expected, and each costs what was measured for such a change. */
#pragma once

#include "models/impact/atomic.h"

#include <stddef.h>

/* An operation at a size between those that were measured: linear between the neighbours, the smallest below,
 * in proportion above. sizes ascending, n >= 1. */
struct atomic_cost task_vector_cost_at(const double *sizes_bytes, const struct atomic_cost *costs, size_t n,
                                       double size_bytes);

struct task_operation {
    double count;
    struct atomic_cost cost;
    size_t kind; /* < n_kinds, or more: it takes part in no mix */
};

/* What a change from one of two kinds to the other costs more, or less. */
struct task_mix {
    size_t kinds[2];
    struct atomic_cost change;
};

struct task_prediction {
    double uncorrected_s, seconds; /* the product alone, and with the changes */
    struct interval interval;      /* of seconds */
    double n_changes;              /* that were expected, of the mixes given */
};

/* 0; -EINVAL: a count or a cost that is negative or not finite. Changes may cost less than 0. */
int task_vector_predict(const struct task_operation *operations, size_t n, const struct task_mix *mixes,
                        size_t n_mixes, struct task_prediction *ret);
