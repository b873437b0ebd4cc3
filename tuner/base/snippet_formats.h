/* tuner/base/snippet_formats: the names of the formats that `fstune emit` knows; tuner/emit/snippet has a row
 * for each.
 */
#pragma once

#define SNIPPET_FORMATS_N 20

/* In the order of --list: virtual machines, other consumers, plain forms. */
extern const char *const snippet_formats[SNIPPET_FORMATS_N];
