/* tuner/base/snippet_formats: the names of the formats that `fstune emit` knows; tuner/emit/snippet has a row
 * for each.
 */
#ifndef FSTUNE_TUNER_BASE_SNIPPET_FORMATS_H
#define FSTUNE_TUNER_BASE_SNIPPET_FORMATS_H

#define SNIPPET_FORMATS_N 20

/* In the order of --list: virtual machines, other consumers, plain forms. */
extern const char *const snippet_formats[SNIPPET_FORMATS_N];

#endif
