/* tuner/picture/page_inside: what the parts of a page share. */
#pragma once

#include "tuner/picture/page.h"
#include "tuner/store/recommendation.h"

#include <stdbool.h>

struct page {
    FILE *out;
    const struct page_request *request;
    const json_t *document; /* what the page is about */
    struct recommendation recommendation;
    bool has_recommendation; /* the document holds a recommendation */
    const char *why_not;     /* else why; NULL where the document is no answer of `recommend` */
    json_t *data;            /* what page_data made */
};

/* What the page's script reads. A new reference; NULL when memory ran out. */
json_t *page_data(const struct page *page);

/* The search by its journal: {"settings", "steps", "n_runs"}; steps is empty where there is no journal. A new
 * reference; NULL when memory ran out. */
json_t *page_search(const struct page *page);

/* The number, NaN where there is none. */
double page_number(const json_t *object, const char *key);

/* A figure to six digits, which is what a page shows; null for NaN. */
json_t *page_figure(double value);
