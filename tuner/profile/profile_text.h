/* tuner/profile/profile_text: a recording in words. */
#pragma once

#include "models/profile/summary.h"
#include "tuner/profile/record.h"

#include <stdio.h>

/* saved: the file that the document went to; "" for none. */
void profile_text_print(FILE *out, const struct recording *recording, const struct summary *summary,
                        const char *saved);
