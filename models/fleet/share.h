/* models/fleet/share: what share of hosts something holds on, and how far that is known.
 *
 * Source: Clopper and Pearson 1934: the exact interval of a binomial share, which covers at least at its
 * confidence. */
#pragma once

#include "models/statistics/student.h"

#include <stddef.h>

/* Two-sided, of k of n; 0 to 1 for n = 0. */
struct interval share_interval(size_t k, size_t n, double confidence);
