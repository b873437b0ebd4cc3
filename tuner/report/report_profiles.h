/* tuner/report/report_profiles: the three profiles and the table of points that are not dominated, where the
 * user wants them. */
#pragma once

#include "tuner/search/tune.h"

#include <jansson.h>
#include <stdio.h>

/* Nothing where nothing was asked for or found. */
void report_profiles_text(FILE *out, const struct tune *tune);

/* Sets "profile", the profile of the answer (null with another objective), and, where they are wanted,
 * "profiles" (by name; null for a profile without a point) and "pareto" (rows by ascending latency). */
void report_profiles_json(json_t *object, const struct tune *tune);
