/* tuner/experiment/erofeev: the text format of the benchmark of Erofeev 2021, for its visualizer and from its
 * results.
 *
 * One value a line: 1 where access is sequential, else 0; 1 where the operation is read, else 0; the number
 * of points; the number of varied factors; then for each point the name (RS, QD, DIO) and the level of each
 * factor, the mean throughput and its standard deviation in bytes per second (Erofeev 2021, appendix A). */
#pragma once

#include "bench/base/err.h"

#include <jansson.h>
#include <stdio.h>

/* Writes an experiment (schema fstune/experiment/1). Points that failed or have one run only are left out.
 * The factor api is left out where it is psync at depth 1 and pvec above: that is what the original's queue
 * depth means. 0; -EINVAL: what the format has no name for, one replay only, or a damaged document; -ENODATA:
 * no point has a mean and a deviation; -ENOMEM; or the errno of a failed write. Nothing is written unless all
 * of it can be. */
int erofeev_write(FILE *out, const json_t *document, struct err *err);

/* Reads results of the original as an experiment, a new reference: means and deviations without runs,
 * `replays` null, factors that are not named at the original's defaults. Untrusted: at most 16384 points,
 * 64 levels a factor, figures up to 1e15. `name` stands before ":LINE: " in errors, and what follows its last
 * slash is the experiment's name. 0; -EINVAL with the line; -EIO; -ENOMEM. */
int erofeev_read(FILE *in, const char *name, json_t **ret_document, struct err *err);

/* The same for a file. Also the errno of opening it. */
int erofeev_import(const char *path, json_t **ret_document, struct err *err);
