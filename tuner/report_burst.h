/* tuner/report_burst: what bursts said, in the answer of `recommend --burst`. */
#ifndef FSTUNE_TUNER_REPORT_BURST_H
#define FSTUNE_TUNER_REPORT_BURST_H

#include "tuner/burst.h"

#include <jansson.h>
#include <stdio.h>

/* The member "burst" of the document; NULL when memory ran out. */
json_t *report_burst_json(const struct burst *burst);

/* Lines "Bursts  ...". */
void report_burst_text(FILE *out, const struct burst *burst);

#endif
