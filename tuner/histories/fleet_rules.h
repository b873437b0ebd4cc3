/* tuner/histories/fleet_rules: which settings are within the tolerance on what kind of host, as text and as
 * fstune/fleet-rules/1. */
#pragma once

#include "tuner/histories/fleet_data.h"

#include <stdio.h>

#define FLEET_CONFIDENCE 0.95

struct fleet_rules_request {
    double tolerance_share;
    bool json;
};

/* Prints the rules of every pattern of the data. 0 or a negative errno. */
int fleet_rules_print(FILE *out, const struct fleet_data *data, const struct fleet_rules_request *request,
                      struct err *err);
