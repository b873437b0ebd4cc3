/* tuner/nightly/retune_keep: the file of a target with `keep_file`: filled once, read by every night after.
 *
 * It is named .fstune-NAME, in the directory that is measured. What it is like stands beside the history, in
 * DB.NAME.kept: a file that does not match it is never touched. */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune.h"

#include <stdint.h>

/* Makes the file where there is none (*ret_filled_bytes: what that wrote; else 0) and points settings, a copy
 * of the target's, to it. 0; -ESTALE: something else has its name; -EWOULDBLOCK: another fstune measures the
 * device; or the errno of making it. */
int retune_keep(const struct retune_world *world, const struct retune_target *target,
                struct settings *settings, uint64_t *ret_filled_bytes, struct err *err);
