/* tuner/experiment/report_experiment: what an experiment found, as text, JSON and CSV. Everything is made
 * from the JSON document of the experiment (schema fstune/experiment/1), so that an imported or a kept one is
 * reported like one just measured.
 *
 * Confidence and tolerance are the document's members "confidence" and "tolerance" where it has them, else
 * 95 % and 3 %. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

#include <jansson.h>
#include <stdio.h>

/* FORMAT_CSV has a line for each run, FORMAT_CSV_WIDE one for each point; FORMAT_CSV_MATRIX is a table of two
 * factors, one down and one across. Not FORMAT_MARKDOWN.
 *
0; -EINVAL: the document is damaged, or cannot be written in this format, with what to use instead;
 * -ENODATA: it has nothing to write; -ENOMEM; or the errno of a failed write. The document stays as it is and
 * stays the caller's. */
int report_experiment(FILE *out, const json_t *document, enum settings_format format, struct err *err);

/* The member "analysis" of a document: a new reference; NULL without memory, or where the document is
 * damaged. Beside the confidence and the tolerance it has:
 * - anova {response, runs, cells, interactions, total_squares, error {df, squares, share, cv}, rest {df,
 *   squares, share}, terms [{factors [..], df, squares, share, f, p}], follows [{factor, from}]}; null where
 *   no factor has figures at two levels, or one has more than 128. error.cv is of one run; follows tells
 *   which factors are left out because another one's level decides theirs.
 * - levels, for each factor with comparable ones {factor, levels [{text, ratio, group}]}: ratio to the
 *   geometric mean over the factor's levels; levels that share a group cannot be told apart.
 * - answers, for each combination of levels of the factors that are conditions and no choice (pattern, sync,
 *   cache, file_size, files) {conditions, best, cheapest, equivalent [..], undecided [..]}: numbers of points
 *   from 0 in the order of `points`; where replays are too few to call anything equivalent, cheapest is null
 *   and both lists are empty.
 * - notes: texts about what cannot be said and why. */
json_t *report_experiment_analysis_json(const json_t *document);
