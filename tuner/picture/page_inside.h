/* tuner/picture/page_inside: what the sections of a page share. */
#ifndef FSTUNE_TUNER_PICTURE_PAGE_INSIDE_H
#define FSTUNE_TUNER_PICTURE_PAGE_INSIDE_H

#include "bench/base/factors.h"
#include "tuner/picture/page.h"
#include "tuner/store/recommendation.h"

#include <stdbool.h>
#include <stdint.h>

/* How a point stands in the answer; page_standing_names has the words. */
enum page_standing {
    PAGE_NOT_JUDGED,
    PAGE_RECOMMENDED_BEST,
    PAGE_RECOMMENDED,
    PAGE_BEST,
    PAGE_EQUIVALENT,
    PAGE_UNDECIDED,
    PAGE_WORSE,
    PAGE_BASELINE,
    PAGE_NOT_TRUSTED,
    PAGE_STANDING_N
};

extern const char *const page_standing_names[PAGE_STANDING_N];

/* A row of figures. NaN: not known. */
struct page_point {
    struct point point;
    double mean_bps, low_bps, high_bps;
    double iops; /* NaN with two request sizes */
    double latency_mean_ns, latency_p99_ns, achieved_depth, replays;
    enum page_standing standing;
    const json_t *row; /* borrowed */
};

struct page {
    FILE *out;
    const struct page_request *request;
    const json_t *document; /* what the page is about */
    struct recommendation recommendation;
    bool has_recommendation; /* the document holds a recommendation */
    char why_not[512];       /* else why: "" where the document is no answer of `recommend` */
    struct page_point *points;
    size_t n_points, n_unreadable;
    bool varies[FACTOR_N]; /* the points differ in this factor */
};

/* -- words and figures; every text goes through page_text -- */

void page_text(FILE *out, const char *text);
/* For the scripts, which make texts of it: "?" for what page_text replaces; what does not fit is cut. Returns
 * buffer. */
const char *page_plain(const char *text, char *buffer, size_t size);
/* A formatted text of up to some 4,000 characters, escaped. */
void page_format(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The string member, escaped; false (and nothing printed) where there is none or it is empty. */
bool page_member(FILE *out, const json_t *object, const char *key);
/* The number, NaN where there is none. */
double page_number(const json_t *object, const char *key);
/* Of a point that is in the enumeration enum factor; write size 0 where it is that of reads. */
uint64_t page_factor(const struct point *point, enum factor factor);
/* "64k", "8", "io_uring". Returns buffer. */
const char *page_factor_text(const struct point *point, enum factor factor, char *buffer);
extern const char *const page_factor_keys[FACTOR_N];   /* "request_size" ... */
extern const char *const page_factor_titles[FACTOR_N]; /* "Request size" ... */

/* -- points -- */

/* Reads the rows of the document, best first. 0 or -ENOMEM; page_points_done accepts a zeroed page. */
int page_points_read(struct page *page);
void page_points_done(struct page *page);

/* -- sections: the inside of each, and whether the document has something for it -- */

void page_summary(struct page *page);
void page_charts(struct page *page);
bool page_has_charts(const struct page *page);
void page_table(struct page *page);
bool page_has_table(const struct page *page);
void page_runs(struct page *page);
bool page_has_runs(const struct page *page);
void page_search(struct page *page);
bool page_has_search(const struct page *page);
void page_nights(struct page *page);
bool page_has_nights(const struct page *page);
void page_snippets(struct page *page);
bool page_has_snippets(const struct page *page);
void page_reproduce(struct page *page);
void page_system(struct page *page);
bool page_has_system(const struct page *page);

/* What the scripts read: JSON in which nothing can end the element that it stands in. */
void page_data(struct page *page);
/* A new reference; steps is empty where there is no journal. */
json_t *page_search_json(const struct page *page);
/* To six digits: more would only make the page longer. NaN stays. */
double page_rounded(double value);

#endif
