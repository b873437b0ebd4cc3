/* models/profile/phases: where the mix of a program's requests changes for long. */
#pragma once

#include "models/profile/store.h"

#include <stddef.h>

#define PHASES_MOST 8

struct phase {
    double start_s, end_s;
    uint64_t n[TIMELINE_N_KINDS], n_bytes;
};

/* The parts of the recording, in order; one where the mix is the same throughout. Returns how many. */
size_t phases_find(const struct store *store, struct phase ret[PHASES_MOST]);
