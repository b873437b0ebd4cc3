/* tuner/experiment/experiment: a systematic test - which points are measured, in which order, and what came
 * out.
 *
 * A cell is a point of the factor space under conditions (pattern, cache, size and number of files,
 * alignment). Every cell is
 * measured `replays` times; all these runs are made in one random order, so that a long disturbance is spread
 * over all cells (Erofeev 2021). A cell's first run is bounded by time; its other replays make as many
 * requests as the first, for at most EXPERIMENT_LONGEST times its duration. */
#pragma once

#include "tuner/session/samples.h"
#include "tuner/session/session.h"
#include "tuner/store/journal.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPERIMENT_N         (FACTOR_N + CONDITION_N)
#define EXPERIMENT_LONGEST   4
#define EXPERIMENT_MAX_CELLS 20000

enum experiment_kind { EXPERIMENT_BYTES, EXPERIMENT_COUNT, EXPERIMENT_NAME };

/* A factor or condition; adding one is a row here and its levels in tuner/options/settings. */
struct experiment_factor {
    const char *name; /* in the document */
    enum experiment_kind kind;
    bool ordered;
};

/* By enum factor, then by FACTOR_N + enum condition. */
extern const struct experiment_factor experiment_factors[EXPERIMENT_N];

struct experiment_cell {
    uint64_t level[EXPERIMENT_N]; /* file size 0: the whole file; pattern: its number; alignment 0: the
                                     request size */
    size_t test;                  /* of the file's tests, the first that asks for it */
    struct record record;
    uint32_t *numbers;   /* of the record's runs in the order of execution, from 1; owned */
    uint64_t n_requests; /* of its first run; 0 before */
    char *failed;        /* why a run failed, or NULL; owned */
    bool left_out;       /* found impossible once the file was there */
};

struct experiment {
    struct session *session;
    const struct settings *settings;
    struct experiment_cell *cells;
    size_t n_cells;
    uint32_t *order; /* cell of every run; n_runs */
    bool *made;      /* runs that need not be made; n_runs */
    size_t n_runs, n_made;
    enum measure_cache cache; /* of the session, where nothing else is asked for */
    uint64_t whole_bytes;     /* of the file; UINT64_MAX on a surface */
    bool varied[CONDITION_N]; /* conditions with several levels: points alone do not tell runs apart */
    struct experiment_target *targets; /* n_targets; one for each number of files where that varies */
    size_t n_targets;
    struct journal journal;
    size_t n_taken;       /* runs that a journal held */
    double spent_seconds; /* by the commands that wrote them */
    uint64_t begin_ns;    /* of the first run of this command */
    bool interrupted;
    size_t n_refused; /* runs that the write budget did not allow */
    int stopped;      /* 0, or the negative errno that ended the runs early */
};

/* The design of an opened session: cells, what was left out and why in session->dropped, the order of the
 * runs. Draws from session->seed. 0; -EINVAL: no point is left, or what is asked for cannot be done; -ENOMEM.
 * experiment_done accepts a zeroed one. */
int experiment_plan(struct experiment *experiment, struct session *session, struct err *err);
void experiment_done(struct experiment *experiment);

/* Seconds that the runs not made yet are likely to take, and take at most. */
double experiment_seconds_likely(const struct experiment *experiment);
double experiment_seconds_most(const struct experiment *experiment);

/* The plan line: what the command will do at most. */
void experiment_print_plan(FILE *out, const struct experiment *experiment);

/* In a prepared session: makes and fills the targets that the number of files asks for beside the session's.
 * All are of its size. 0, or as session_prepare. done: before the session is closed; closes them. */
int experiment_targets_make(struct experiment *experiment, struct err *err);
void experiment_targets_done(struct experiment *experiment);
/* The session works on this target, and on so much of it. */
void experiment_targets_enter(const struct experiment *experiment, uint64_t n_files, uint64_t file_bytes);

const struct pattern *experiment_pattern(const struct experiment *experiment,
                                         const struct experiment_cell *cell);

/* The session as a run of this cell needs it: pattern, cache, files, their size, alignment. experiment_leave:
 * as it was. */
void experiment_enter(const struct experiment *experiment, const struct experiment_cell *cell);
void experiment_leave(const struct experiment *experiment);

/* In a prepared session: leaves out what cannot be measured on this file after all. 0 or -EINVAL. */
int experiment_check(struct experiment *experiment, struct err *err);

/* Makes the runs. 0, also when it was interrupted or stopped early (the structure says so); -ENOMEM. */
int experiment_run(struct experiment *experiment, struct err *err);

/* The status line before a run (its number in the order); nothing where stderr is no terminal or was drawn on
 * just now. */
void experiment_show_run(const struct experiment *experiment, size_t run, double seconds_left);

/* Adds a run to its cell. 0 or -ENOMEM. */
int experiment_add(struct experiment *experiment, size_t run, const struct sample *sample,
                   const struct histogram *latency);

/* --resume; no-ops without. open: before the plan is made, for the seed is the journal's. take: with the
 * plan, the runs of the journal. begin: in a prepared session, before the first run. Errors as in
 * tuner/search/resume. */
int experiment_resume_open(struct experiment *experiment, struct session *session, struct err *err);
int experiment_resume_take(struct experiment *experiment, struct err *err);
int experiment_resume_begin(struct experiment *experiment, struct err *err);
void experiment_resume_note(struct experiment *experiment, size_t run, const struct sample *sample);

/* What varies among the cells that were not left out: their numbers in experiment_factors, in the order that
 * they were given in. */
size_t experiment_varied(const struct experiment *experiment, size_t ret_factors[EXPERIMENT_N]);
/* Distinct levels of a factor, in order; ret has room for EXPERIMENT_MAX_LEVELS. */
#define EXPERIMENT_MAX_LEVELS 256
size_t experiment_levels(const struct experiment *experiment, size_t factor,
                         uint64_t ret_levels[EXPERIMENT_MAX_LEVELS]);

/* The varied conditions of a cell, as "pattern=randread cache=cold"; "" where none varies. What does not fit
 * is cut off. */
void experiment_conditions(const struct experiment *experiment, const struct experiment_cell *cell,
                           char *text, size_t size);

/* The document, fstune/experiment/1, and that of --dry-run; NULL when memory ran out. */
json_t *experiment_json(struct experiment *experiment);
json_t *experiment_json_plan(const struct experiment *experiment);
