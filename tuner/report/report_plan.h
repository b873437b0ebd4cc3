/* tuner/report/report_plan: what a command will do at most, before it does anything. */
#pragma once

#include "bench/base/err.h"
#include "tuner/session/session.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Seconds that making the file takes at most on a disk that is not very slow. */
double report_plan_fill_seconds(const struct settings *settings, uint64_t file_bytes);

/* The end of a plan line, newline included: ", file of 1g in DIR (removed afterwards), at most 64g written,
 * ends by 12:30:15 at the latest"; of a surface, its name. session->seconds_at_most is set. */
void report_plan_end(FILE *out, const struct session *session, uint64_t file_bytes);

/* The plan of --dry-run: size of the file, bytes written at most, points and what was dropped. */
int report_plan_json(FILE *out, const struct session *session, uint64_t file_bytes, size_t n_points,
                     struct err *err);

/* The same as a document; NULL when memory ran out. */
json_t *report_plan_document(const struct session *session, uint64_t file_bytes, size_t n_points);
