/* tuner/session/json_row: the figures of a point, and where they were measured, as JSON. As
 * tuner/base/json. */
#pragma once

#include "tuner/session/samples.h"
#include "tuner/session/session.h"

#include <jansson.h>

json_t *json_codes(uint64_t warning_set); /* the codes of these warnings */
json_t *json_latency(const struct latency_row *latency);
json_t *json_row(const struct row *row);
json_t *json_throughput(const struct row *row, double confidence);
json_t *json_system(const struct session *session); /* where and when */
json_t *json_host(const struct hostinfo *host);     /* the facts of it alone */
