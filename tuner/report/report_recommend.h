/* tuner/report/report_recommend: an answer as one JSON document, and as text that a person can act on. */
#pragma once

#include "bench/base/err.h"
#include "tuner/report/answer.h"

#include <jansson.h>
#include <stdio.h>

/* The document itself; NULL when memory ran out. */
json_t *report_recommendation_document(const struct answer *answer);
int report_recommendation_json(FILE *out, const struct answer *answer, struct err *err);
int report_recommendation_text(FILE *out, const struct answer *answer, struct err *err);
