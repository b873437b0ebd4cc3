/* tuner/report/report_measure: the result of `measure`, prepared once, printed as text or JSON
 * (fstune/measurement/1). */
#pragma once

#include "tuner/report/measurement.h"

struct measured {
    const struct measurement *measurement;
    bool known; /* there is a row */
    struct row row;
    bool judged; /* there is a verdict on the trace */
    struct sustained_verdict sustained;
};

/* Makes the figures and adds what they give cause for to the session's warnings. 0 or -ENOMEM. */
int report_measure_prepare(struct measured *measured, const struct measurement *measurement);

/* The document itself; NULL when memory ran out. */
json_t *report_measure_document(const struct measured *measured);
int report_measure_json(FILE *out, const struct measured *measured, struct err *err);
int report_measure_text(FILE *out, const struct measured *measured, struct err *err);
