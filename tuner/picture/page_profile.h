/* tuner/picture/page_profile: what a program does with its files, as one page of HTML that stands alone
 * (fstune report --html of a document of fstune profile --output). It has no script; head and style are those
 * of tuner/picture/page. */
#pragma once

#include "bench/base/err.h"
#include "tuner/picture/plot_data.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

bool page_profile_is(const json_t *document);

/* Prints the page of a document for which page_profile_is is true; its texts and numbers are untrusted. 0;
 * -ENODATA for a document of an earlier state, which lacks members; -ENOMEM. Errors of writing stay in the
 * stream. */
int page_profile_print(FILE *out, const json_t *document, struct err *err);

/* The charts of what was read from the document (plot_data_profile), and the figures as tables. */
void page_profile_charts(FILE *out, const struct plot_load *load);

/* Files, phases, marks and what the processor counted. */
void page_profile_tables(FILE *out, const json_t *document);

/* A count, exact while it is small; the same of a member; sizes of requests and of all. Each fills a buffer
 * of UNITS_TEXT_SIZE and returns it, or a constant for what is no such figure. */
const char *page_profile_n(double n, char *buffer);
const char *page_profile_count(const json_t *object, const char *key, char *buffer);
const char *page_profile_size(double bytes, char *buffer);
const char *page_profile_bytes(double bytes, char *buffer);
