/* tuner/report/report_beside: the loads of --beside: what they reached alone and beside a setting. */
#pragma once

#include "tuner/report/answer.h"
#include "tuner/session/beside_loads.h"

#include <jansson.h>
#include <stdio.h>

/* point: NULL where nothing is recommended. */
struct report_beside {
    const struct session *session;
    const struct point *point;
};

json_t *report_beside_json(const struct report_beside *beside);
void report_beside_text(FILE *out, const struct report_beside *beside);

/* The member "beside" of an answer, and its lines. The context is borrowed. */
struct answer_part report_beside_part(const struct report_beside *beside);
