/* tuner/store/prior_file: the points of an answer or a journal, as prior knowledge of another search. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "tuner/options/settings.h"
#include "tuner/store/journal.h"

#include <jansson.h>
#include <stddef.h>

/* Points of a file: figures of means over replays. */
struct prior_point {
    struct point point;
    size_t n;
    double mean_bps, std_bps; /* std: NaN for a single replay or where it is not known */
    double latency_mean_ns;   /* NaN: not known */
};

struct prior_file {
    char name[SETTINGS_TEXT_SIZE];
    struct prior_point *points;
    size_t n, capacity;
    size_t n_here; /* of them in the space of this search */
};

/* Reads one text. 0; -EINVAL for one that is neither an answer nor a journal, or holds no points; -ENOMEM. */
int prior_parse(struct prior_file *file, const char *text, size_t size, struct err *err);
/* Adds the runs [first, end) of a journal to the file's points. 0, -ENOMEM. */
int prior_take_runs(struct prior_file *file, const struct journal *journal, size_t first, size_t end);
/* Adds the points of an answer of `recommend`, joined with those that are there already. 0; -EINVAL for a row
 * that is no measured point; -ENOMEM. */
int prior_take_answer(struct prior_file *file, const json_t *answer, struct err *err);
void prior_file_done(struct prior_file *file); /* accepts a zeroed one */
