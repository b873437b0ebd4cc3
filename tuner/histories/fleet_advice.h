/* tuner/histories/fleet_advice: the setting that other hosts know to be right for a host like this one, and
 * the chance that it is, without a measurement; as text and as fstune/fleet-advice/1.
 *
 * The setting is that of the first rule that fits this host (tuner/histories/fleet_rules). The chance is what
 * hosts that the same rule fits say of rules that were made without them: on how many of those that measured
 * the setting named it is within the tolerance. */
#pragma once

#include "tuner/histories/fleet_data.h"

#include <stdio.h>

/* An answer whose chance may be lower is not conclusive. */
#define FLEET_ADVICE_LEAST_CHANCE 0.5

struct fleet_advice_request {
    const char *pattern;
    const json_t *system; /* of this host, as recorded; borrowed */
    double tolerance_share;
    bool json;
    bool may_be_blind; /* the role that asks may not see other hosts */
};

/* Takes the runs of this host, which is known by its name or by its pseudonym, out of the data. 0 or a
 * negative errno. */
int fleet_advice_leave_out(struct fleet_data *data, struct history *history, const char *hostname,
                           struct err *err);

/* Prints what the data of one pattern say. An exit code: EXIT_DONE, EXIT_INCONCLUSIVE, EXIT_NOTHING; or a
 * negative errno. */
int fleet_advice_print(FILE *out, struct fleet_data *data, const struct fleet_advice_request *request,
                       struct err *err);
