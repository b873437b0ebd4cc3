/* tuner/report/report_importance: which factors matter, as the block "What matters" and as JSON. */
#pragma once

#include "tuner/search/tune.h"

#include <jansson.h>
#include <stdio.h>

/* Up to four lines; one that says so where nothing can be told; nothing where there was no choice, or where
 * only one factor's level was left to choose from. */
void report_importance_text(FILE *out, const struct tune *tune);

/* A new reference; null where nothing was chosen or there is no model. */
json_t *report_importance_json(const struct tune *tune);
