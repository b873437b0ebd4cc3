/* tuner/emit/report_snippet: snippets on the way out. */
#pragma once

#include "bench/base/err.h"
#include "tuner/emit/snippet.h"
#include "tuner/options/settings.h"

#include <jansson.h>
#include <stdio.h>

/* What the settings ask of a snippet from n answers, 1..1 + SNIPPET_MAX_MORE; it borrows from both. */
struct snippet_request report_snippet_request(const struct settings_snippet *settings,
                                              const struct recommendation *answers, size_t n);

/* Prints the snippet; the remarks of a format without comments go to stderr. 0, what the format refuses, or
 * the errno of a failed write. */
int report_snippet(FILE *out, const struct snippet_ops *ops, const struct settings_snippet *settings,
                   const struct recommendation *answers, size_t n, struct err *err);

/* The same as JSON: {"format", "text", "remarks": []}; where it was refused {"format", "text": null, "why"};
 * null where the answer holds no recommendation. */
json_t *report_snippet_json(const struct settings_snippet *settings, const json_t *answer);

/* The table of formats. */
void report_snippet_list(FILE *out);
