/* tuner/profile/profile_document: a recording as the document fstune/profile/1. */
#pragma once

#include "models/profile/summary.h"
#include "tuner/profile/record.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *profile_document_make(const struct recording *recording, const struct summary *summary);

/* Share of the bytes read from and written to files that were seen; NaN where the system did not say. */
double profile_document_seen_share(const struct recording *recording);
