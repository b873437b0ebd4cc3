/* tuner/impact/predict_task: how long a task takes on a storage, from its operations and what each costs. */
#pragma once

#include "bench/base/err.h"
#include "models/impact/task_vector.h"
#include "tuner/impact/atoms_figures.h"
#include "tuner/options/settings.h"

#include <stddef.h>
#include <stdio.h>

#define PREDICT_TASK_MAX_OPERATIONS 256
#define PREDICT_TASK_KINDS          4 /* read, randread, write, randwrite */

struct predict_task {
    const struct settings *settings;
    struct atoms_figures system;
    struct task_operation operation[PREDICT_TASK_MAX_OPERATIONS];
    char name[PREDICT_TASK_MAX_OPERATIONS][ATOMS_NAME_SIZE];
    size_t n;
    struct task_mix mix[PREDICT_TASK_KINDS * PREDICT_TASK_KINDS];
    const char *mix_name[PREDICT_TASK_KINDS * PREDICT_TASK_KINDS];
    size_t n_mixes;
    double depth; /* requests of a profile that are under way on average; NaN: unknown */
    struct task_prediction prediction;
};

/* Reads --task and --system and predicts. 0; -EINVAL with one line; other negative errno. */
int predict_task(struct predict_task *task, const struct settings *settings, struct err *err);

/* Adds so many operations of that name: one of the system vector, or KIND_SIZE_STATE with any size. -EINVAL
 * with what is wrong, without a place. */
int predict_task_add(struct predict_task *task, const char *name, double count, struct err *err);

/* The operations of a profile (fstune/profile/1). Reads count as cold, writes as durable where each is
 * synced, else as writes into memory, and flushes by themselves. */
int predict_task_read_profile(struct predict_task *task, const char *path, struct err *err);

void predict_task_done(struct predict_task *task);

int predict_task_text(FILE *out, const struct predict_task *task, struct err *err);
int predict_task_json(FILE *out, const struct predict_task *task, struct err *err);
