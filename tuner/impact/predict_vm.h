/* tuner/impact/predict_vm: how long a command takes inside a virtual machine, and why. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/activity.h"
#include "models/impact/atomic.h"
#include "tuner/impact/atoms_figures.h"
#include "tuner/options/settings.h"

#include <stddef.h>
#include <stdio.h>

#define PREDICT_VM_MAX_TERMS 24

struct predict_vm {
    const struct settings *settings;
    struct atoms_figures host, guest;
    struct activity activity; /* medians over the runs */
    struct atomic_cost time;  /* on the host */
    unsigned n_runs;
    struct atomic_term term[PREDICT_VM_MAX_TERMS];
    const char *name[PREDICT_VM_MAX_TERMS];    /* of the term's atomic test, or "computing" */
    const char *missing[PREDICT_VM_MAX_TERMS]; /* tests that a count needs and that a file lacks */
    size_t n_terms, n_missing;
    struct atomic_prediction prediction;
    double unexplained_share; /* of the time on the host: what no term covers */
};

/* Reads the files, runs the command (or reads --activity) and predicts. 0; -EINVAL with one line; other
 * negative errno. */
int predict_vm(struct predict_vm *vm, const struct settings *settings, struct err *err);

void predict_vm_done(struct predict_vm *vm);

int predict_vm_text(FILE *out, const struct predict_vm *vm, struct err *err);
int predict_vm_json(FILE *out, const struct predict_vm *vm, struct err *err);

/* The counts as --activity reads them. */
json_t *predict_vm_activity_json(const struct predict_vm *vm);
