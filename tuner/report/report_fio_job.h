/* tuner/report/report_fio_job: the job file that goes with a row of figures (--fio-job). */
#pragma once

#include "tuner/session/samples.h"
#include "tuner/session/session.h"

#include <jansson.h>
#include <stdio.h>

/* The job moves what the row's throughput moves in `seconds` (at least one), within the caps of a run. */
void report_fio_job_text(FILE *out, const struct session *session, const struct row *row, double seconds);

/* A new reference; NULL when memory ran out. */
json_t *report_fio_job_json(const struct session *session, const struct row *row, double seconds);
