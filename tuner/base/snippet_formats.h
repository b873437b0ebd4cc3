/* tuner/base/snippet_formats: the names of the formats that `fstune emit` knows; tuner/emit/snippet has a row
 * for each. */
#pragma once

#define SNIPPET_FORMATS_N 20
/* The first so many are of virtual machines, in the order below. */
#define SNIPPET_FORMATS_OF_MACHINES 12

/* In the order of --list: virtual machines, other consumers, plain forms. */
extern const char *const snippet_formats[SNIPPET_FORMATS_N];
