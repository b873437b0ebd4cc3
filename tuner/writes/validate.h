/* tuner/writes/validate: a predicted load of writes, made for real and compared (`fstune predict write
 * --validate`). validate_report.c has what it prints. */
#pragma once

#include "bench/run/replay.h"
#include "models/statistics/prediction_error.h"
#include "tuner/base/notes.h"
#include "tuner/writes/predict.h"

#include <stdio.h>

/* One repetition, in seconds and bytes, by chunk. */
struct validate_run {
    double *costs_s, *dirty_bytes; /* one allocation; dirty: of the machine at the chunk's end, NaN unknown */
    double close_s, total_s;       /* total: the costs, close_s included */
};

struct validate_model {
    struct cawl_prediction prediction;
    struct prediction_error error;
    double total_error_share; /* of the whole, close included */
};

struct validation {
    const struct settings *settings;
    const struct predict *predict;
    const struct write_load *load;
    struct replay_write *writes;
    struct validate_run *runs; /* complete ones, of --repetitions */
    size_t n_runs;
    double *costs_s, *low_s, *high_s,
        *dirty_bytes; /* medians over the runs, and the range of the costs, in one allocation */
    double total_s;   /* median over the runs */
    struct validate_model cawl, naive;
    struct prediction_error scatter;
    uint64_t written_bytes;
    bool interrupted;
    struct notes warnings;
};

uint64_t validate_extra_bytes(const struct validation *validation); /* of one repetition, beside its writes */
void validate_print_plan(FILE *out, const struct validation *validation);
int validate_print_plan_json(FILE *out, const struct validation *validation, struct err *err);
int validate_print_text(FILE *out, const struct validation *validation);
int validate_print_csv(FILE *out, const void *validation, struct err *err);
int validate_print_json(FILE *out, const struct validation *validation, struct err *err);

int validate_picture_draw(const struct validation *validation, struct err *err);

/* Makes the load of an opened prediction in a nameless file below --path (--max-write, --repetitions, --seed,
 * --no-lock, --quiet, --dry-run, --json, --csv and --plot are obeyed), compares it with the model and prints.
 * The mode is one that can be made: not CAWL_NAIVE, which is always compared with. Returns the exit code of
 * the command; 5: it was refused by what the machine cannot do. */
int validate_write(const struct predict *predict);
