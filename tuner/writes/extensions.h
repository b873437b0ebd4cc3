/* tuner/writes/extensions: what a prediction adds to the paper's model, by --model and --extensions. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"
#include "tuner/options/settings.h"
#include "tuner/writes/host_file.h"

#include <jansson.h>
#include <stdbool.h>

/* All of --model linux that means something in the mode and that the host file has the figures for, and each
 * of --extensions. mode: CAWL_N_MODES for advice, which compares several. -EINVAL for an extension that is
 * not known, or means nothing in the mode, or whose figure the host lacks. */
int extensions_read(const struct settings_prediction *asked, enum cawl_mode mode,
                    const struct host_file *host, struct cawl_options *ret_options, struct err *err);

/* Whether something goes beyond the paper's model. */
bool extensions_any(const struct cawl_options *options);

/* Those that are on, with their values. */
json_t *extensions_json(const struct cawl_options *options);
