/* tuner/experiment/experiment_ask: an experiment as the benchmark of Erofeev 2021 asks for it, question by
 * question in the same order (appendix A). */
#pragma once

#include "bench/base/err.h"

#include <stdio.h>

/* Asks on `out`, reads answers from `in`, one a line, and makes the text of a configuration file of
 * `fstune experiment` of them; the caller frees *ret_config_text. Where `in` is a terminal a bad answer is
 * explained and asked for again; elsewhere, and where the input ends too early, it is -EINVAL with the line
 * and the question. 0; -EINVAL; -ENOMEM; -EIO.
 *
 * What the original means is kept: buffers of one preadv or pwritev call (psync at depth 1, pvec above), no
 * flush, the page cache as it is. Two things are not: an existing file is not deleted (the file measured has
 * no name), and one that is used is not overwritten unless the configuration says so (`overwrite`). */
int experiment_ask(FILE *in, FILE *out, char **ret_config_text, struct err *err);
