/* tuner/profile/profile_phases: the parts of a recording, in JSON and in words. */
#pragma once

#include "models/profile/store.h"

#include <jansson.h>
#include <stdio.h>

json_t *profile_phases_json(const struct store *store);

/* Nothing where there is one phase alone. */
void profile_phases_print(FILE *out, const struct store *store);
