/* tuner/options/options_needs: an option that does nothing without another one is refused, not ignored. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/options.h"

#include <stdbool.h>

/* given: by row, OPTIONS_MAX_ROWS of them, on the command line. 0, or -EINVAL naming the first option whose
 * row->needs names options that the command knows and that were not given. */
int options_check_needs(unsigned command, const bool *given, struct err *err);
