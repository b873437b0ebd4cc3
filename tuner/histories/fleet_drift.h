/* tuner/histories/fleet_drift: what changed the rates of which hosts, as text and as fstune/fleet-drift/1.
 *
 * Where a feature of a host has another value than in its run before (kernel, scheduler, mount options, ...),
 * the last run before and the first one after are compared on the settings that both have; the hosts with the
 * same change of value and the same pattern are a group. What else changed that night is not told apart. */
#pragma once

#include "tuner/histories/fleet_data.h"

#include <stdio.h>

#define FLEET_DRIFT_FALSE_RATE 0.05
#define FLEET_DRIFT_CONFIDENCE 0.95

/* The document, a new reference. 0 or a negative errno. */
int fleet_drift_document(const struct fleet_data *data, json_t **ret_document, struct err *err);

/* Prints it, or its text. 0 or a negative errno. */
int fleet_drift_print(FILE *out, const struct fleet_data *data, bool json, struct err *err);
