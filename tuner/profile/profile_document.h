/* tuner/profile/profile_document: a recording as the document fstune/profile/1, and in words
 * (profile_text.c, profile_phases.c). */
#pragma once

#include "models/profile/summary.h"
#include "tuner/profile/record.h"

#include <jansson.h>
#include <stdio.h>

/* NULL: no memory. */
json_t *profile_document_make(const struct recording *recording, const struct summary *summary);

/* Share of the bytes read from and written to files that were seen; NaN where the system did not say. */
double profile_document_seen_share(const struct recording *recording);

/* saved: the file that the document went to; "" for none. */
void profile_text_print(FILE *out, const struct recording *recording, const struct summary *summary,
                        const char *saved);

/* The parts of a recording; printed, nothing where there is one alone. */
json_t *profile_phases_json(const struct store *store);
/* What came when, in equal intervals. */
json_t *profile_phases_over_time_json(const struct store *store);
void profile_phases_print(FILE *out, const struct store *store);
/* The moments that the program named; printed, nothing where there are none. */
json_t *profile_phases_marks_json(const struct store *store);
void profile_phases_print_marks(FILE *out, const struct store *store);
