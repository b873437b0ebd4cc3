/* tuner/nightly/retune_snippet: the lines that a target's `emit` makes of an answer. */
#pragma once

#include "bench/base/err.h"
#include "tuner/nightly/retune_config.h"

#include <jansson.h>

/* Of a night's answer; the caller frees the text. 0, or why the format refuses it. */
int retune_snippet_make(const struct retune_target *target, const json_t *answer, char **ret_text,
                        struct err *err);

/* Finds out before a night what would fail after it: whether the target's `emit`, with its image, bus and
 * version, can express an answer of its pattern. 0; -EINVAL where it refuses whatever answer a night may
 * find, with its reason; -ENOMEM. */
int retune_snippet_check(const struct retune_target *target, struct err *err);
