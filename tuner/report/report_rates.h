/* tuner/report/report_rates: offered rates as a table and as JSON. */
#pragma once

#include "tuner/report/rates.h"

#include <jansson.h>
#include <stdio.h>

void report_rates_text(FILE *out, const struct rates *rates, const struct session *session,
                       const struct point *point);

/* An array of objects; NULL when memory ran out. */
json_t *report_rates_json(const struct rates *rates, const struct session *session,
                          const struct point *point);
