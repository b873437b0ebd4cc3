/* tuner/profile/profile_result: a recording becomes a document, a text and an exit code. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

struct recording;

/* The exit code, which is EXIT_NOTHING where too little was seen for a pattern, or a negative errno. */
int profile_result_deliver(const struct recording *recording, const struct settings *settings,
                           struct err *err);
