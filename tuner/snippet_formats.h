/* tuner/snippet_formats: the names of the formats that `fstune emit` knows; tuner/snippet has a row for each.
 */
#ifndef FSTUNE_TUNER_SNIPPET_FORMATS_H
#define FSTUNE_TUNER_SNIPPET_FORMATS_H

#define SNIPPET_FORMATS_N 20

/* In the order of --list: virtual machines, other consumers, plain forms. */
extern const char *const snippet_formats[SNIPPET_FORMATS_N];

#endif
