/* tuner/profile/watch_use: of a history that `fstune watch` filled, the profile to tune for. */
#pragma once

#include "bench/base/err.h"

#include <jansson.h>

/* Of the load that was there for most of the last weeks, at the watched place that holds the directory, else
 * at the only one. The caller releases it. 0; -ENODATA where nothing is known, or more than one place and
 * none holds it; or a negative errno. */
int watch_use_load(const char *path, const char *directory, json_t **ret_document, struct err *err);
