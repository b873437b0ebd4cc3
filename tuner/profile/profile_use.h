/* tuner/profile/profile_use: a profile's document into the settings of `fstune recommend`. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

/* Takes pattern, fixed factors and the baseline from the profile that --for names; what was given on the
 * command line or in the configuration stays. 0; -EINVAL for a document that is no profile, or that saw too
 * little. */
int profile_use_take(struct settings *settings, struct err *err);
