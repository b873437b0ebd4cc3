/* tuner/search/prior: what other runs of fstune measured, as a hint where to look first (--prior).
 *
 * A file is an answer of `recommend --json` or a journal, of any host and pattern. Its points never count as
 * measured here and take part in no comparison: they choose some of the first points, and steer the search as
 * far as they predict what is measured (models/search/belief_prior). The verdicts are those of a search
 * without them. */
#pragma once

#include "tuner/search/tune.h"
#include "tuner/store/journal.h"
#include "tuner/store/prior_file.h"

#include <jansson.h>
#include <stdio.h>

struct prior {
    size_t n;
    struct prior_file files[BELIEF_PRIOR_MAX];
    size_t source[BELIEF_PRIOR_MAX]; /* number in the belief's prior, or SIZE_MAX: of no use here */
};

/* Reads the files of --prior. 0; -EINVAL for one that is neither an answer nor a journal, or holds no points;
 * or the errno of what failed. Nothing is done without --prior. */
int prior_open(struct session *session, struct err *err);
void prior_close(struct session *session);

/* How much of a first design is needed: 1 without prior knowledge. */
double prior_design_share(const struct session *session);

/* At the end of tune_init: hands what is known to the belief. */
int prior_begin(struct tune *tune, struct err *err);

/* One more source: runs [first, end) of a journal. 0, also when they are of no use; -ENOMEM. */
int prior_add_runs(struct tune *tune, const char *name, const struct journal *journal, size_t first,
                   size_t end);

json_t *prior_json(const struct tune *tune); /* null without --prior */
void prior_text(FILE *out, const struct tune *tune);
