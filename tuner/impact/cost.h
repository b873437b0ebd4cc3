/* tuner/impact/cost: what a command costs its neighbours, measured or from given sequences. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/neighbour.h"
#include "models/impact/base_sequence.h"
#include "tuner/options/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COST_MAX_LOADS 32
#define COST_MAX_WORDS 256

/* Runs of one reference under one load, or alone. */
struct cost_series {
    double *times_s;    /* [n_runs * n_points] */
    uint64_t *steps_ns; /* [n_runs * n_steps]; NULL: calculated from files */
    struct disturber_work work;
    struct pressure pressure; /* sums over the runs, as seconds */
    double seconds;
};

struct cost_reference {
    const char *name;
    struct reference reference;
    struct observer observer;
    size_t n_points, n_steps;
    struct cost_series alone;
    struct cost_series *loads; /* [n_loads] */
};

struct cost {
    const struct settings *settings;
    struct cost_reference *references;
    size_t n_references, n_loads;
    char *load[COST_MAX_LOADS];         /* words in the place of %L; NULL: there is none */
    const char **words[COST_MAX_LOADS]; /* of the command under that load, NULL last */
    size_t n_runs;                      /* that are complete */
    uint64_t seed;
    bool is_interrupted;
};

/* Reads --base and --delayed. Lines with unequal numbers of runs: the mean of the base sequences is the
 * partner of every delayed one. 0, -EINVAL with one line, or another negative errno. */
int cost_read(struct cost *cost, const struct settings *settings, struct err *err);

/* Looks at everything that can be refused and makes the references, whose files are nameless. */
int cost_open(struct cost *cost, const struct settings *settings, struct err *err);

/* The runs. 0, also after a signal when two runs are complete (is_interrupted); or a negative errno. */
int cost_measure(struct cost *cost, struct err *err);

/* For the models: reference r under load l. */
struct base_sequence_runs cost_runs(const struct cost *cost, size_t r, size_t l);

void cost_close(struct cost *cost);

/* Of runs beside the command under that load, over all references. */
struct cost_answer {
    double cost_share;
    struct interval cost;
    bool is_heavy;
};

int cost_answer_of(const struct cost *cost, size_t load, struct cost_answer *ret, struct err *err);

/* The load with the highest cost. */
int cost_worst_load(const struct cost *cost, size_t *ret_load, struct err *err);
