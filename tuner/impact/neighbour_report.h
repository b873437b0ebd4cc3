/* tuner/impact/neighbour_report: what settings and a search cost their neighbours, in the answer of a search
 * (--neighbour-limit, --max-cost). */
#pragma once

#include "tuner/report/answer.h"

/* For the answer; borrowed. Nothing is printed of a tune without the limit. */
struct answer_part neighbour_report_part(const struct answer *answer);

#define NEIGHBOUR_REPORT_SIZE 200

/* What the search itself cost, in words; "" where that is not known. */
const char *neighbour_report_total(const struct tune *tune, char text[NEIGHBOUR_REPORT_SIZE]);
