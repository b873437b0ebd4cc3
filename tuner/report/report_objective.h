/* tuner/report/report_objective: the figure that the search compared points by, where it is not the
 * throughput that every answer shows. */
#pragma once

#include "tuner/search/objective.h"
#include "tuner/search/tune.h"

#include <jansson.h>
#include <stdio.h>

/* What the answer is compared with, in words. */
const char *report_objective_baseline(const struct tune *tune);

/* Of the objective, the recommended setting over what the answer is compared with; above 1 it is better, also
 * where less is. `has` is false where one of them has no figure, and with a profile. */
struct objective_ratio report_objective_gain(const struct tune *tune);

/* The line "Objective  ..."; nothing for throughput and for profiles. */
void report_objective_text(FILE *out, const struct tune *tune);

/* name, unit, better ("higher" or "lower"), mean, ci_low, ci_high, replays, ratio_to_baseline; null where
 * there is no answer, and with a --profile, which has no figure of its own. A new reference. */
json_t *report_objective_json(const struct tune *tune);

/* {mean, ci_low, ci_high}, or null. */
json_t *report_objective_json_ratio(struct objective_ratio ratio);

/* Notes what the objective left out; before an answer is printed. */
void report_objective_note(struct tune *tune);
