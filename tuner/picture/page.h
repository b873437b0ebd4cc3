/* tuner/picture/page: an answer as one page of HTML that stands alone (fstune report --html).
 *
 * Made from the JSON documents alone, so that a page can be made years after the measurement. They stand in
 * the page as data, of which its own script makes text, tables and charts; without JavaScript a summary is
 * there. They are untrusted input: they are escaped, the script makes no markup of them, and the page's
 * policy (Content-Security-Policy) allows no script but its own, known by its digest, and no network.
 *
 * Adding a section: its place in page_assets/page.html, and a function that fills it in sections.js. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"
#include "tuner/store/journal.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* What `fstune report` makes pages of (of a profile with tuner/picture/page_profile), for messages. */
#define PAGE_TAKES                                                                                           \
    "what `fstune recommend`, `measure` or `experiment` printed with --json, or `fstune profile --output` "  \
    "wrote"

struct page_request {
    /* The last is what the page is about; those before it are earlier answers ("nights"), oldest first. */
    const json_t *const *documents;
    size_t n_documents;                      /* at least 1 */
    const struct settings_snippet *settings; /* what is asked of the snippets */
    const struct journal *journal;           /* of the last document's search, or NULL */
};

/* Prints the page. 0; -EINVAL where a document is none that fstune measured; -ENOMEM. Errors of writing stay
 * in the stream. */
int page_print(FILE *out, const struct page_request *request, struct err *err);
