/* tuner/store/result_input: results as JSON documents, from files, standard input and the history. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RESULT_INPUT_SHOWN_PATH 200 /* of a path in a message */

/* The document of a file, "-" of standard input; the caller releases it. takes: what the command takes, for
 * the message, as "what `fstune recommend --json` printed". 0; -EINVAL for what is no JSON, or the errno of
 * what cannot be opened. */
int result_input_load(const char *path, const char *takes, json_t **ret_document, struct err *err);

/* --db or --run is given: the document stands in a history. */
bool result_input_is_kept(const struct settings *settings);

/* That of --run, else the newest with a recommendation. */
int result_input_load_kept(const struct settings *settings, json_t **ret_document, struct err *err);

/* The same with those before it of the same target, host and pattern on the same storage, oldest first, at
 * most `room`. Those of 0..*ret_n - 1 are to be released, also after a failure. */
int result_input_load_row(const struct settings *settings, json_t **ret_documents, size_t room, size_t *ret_n,
                          struct err *err);
