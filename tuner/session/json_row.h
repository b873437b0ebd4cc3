/* tuner/session/json_row: the figures of a point as JSON. As tuner/base/json. */
#pragma once

#include "tuner/session/samples.h"

#include <jansson.h>

json_t *json_codes(uint64_t warning_set); /* the codes of these warnings */
json_t *json_latency(const struct latency_row *latency);
json_t *json_row(const struct row *row);
json_t *json_throughput(const struct row *row, double confidence);
