/* tuner/picture/page: the rows of a document, read and put in order. */
#include "tuner/picture/page_inside.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *const page_standing_names[PAGE_STANDING_N] = {
    [PAGE_NOT_JUDGED] = "",
    [PAGE_RECOMMENDED_BEST] = "recommended, best",
    [PAGE_RECOMMENDED] = "recommended",
    [PAGE_BEST] = "best",
    [PAGE_EQUIVALENT] = "as good as the best",
    [PAGE_UNDECIDED] = "undecided",
    [PAGE_WORSE] = "worse",
    [PAGE_BASELINE] = "baseline",
    [PAGE_NOT_TRUSTED] = "not trusted",
};

static void read_figures(struct page_point *point, const json_t *row)
{
    const json_t *latency = json_object_get(row, "latency_ns");
    point->row = row;
    point->mean_bps = page_number(row, "mean");
    point->low_bps = page_number(row, "ci_low");
    point->high_bps = page_number(row, "ci_high");
    point->replays = page_number(row, "replays");
    point->achieved_depth = page_number(row, "achieved_depth");
    point->latency_mean_ns = page_number(latency, "mean");
    point->latency_p99_ns = page_number(latency, "p99");
    point->iops =
        factors_is_split(&point->point) ? NAN : point->mean_bps / (double)point->point.request_size_bytes;
}

static int by_factors(const void *a, const void *b)
{
    const struct point *first = a, *second = b;
    for (unsigned f = 0; f < FACTOR_N; f++) {
        uint64_t x = page_factor(first, f), y = page_factor(second, f);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* A row without a mean stands last. */
static int by_rate(const void *a, const void *b)
{
    const struct page_point *first = a, *second = b;
    double x = isnan(first->mean_bps) ? -INFINITY : first->mean_bps;
    double y = isnan(second->mean_bps) ? -INFINITY : second->mean_bps;
    return x != y ? (x > y ? -1 : 1) : by_factors(&first->point, &second->point);
}

static bool is_point(const json_t *object, const struct point *point)
{
    struct point other;
    return journal_point(object, &other) == 0 && factors_equal(&other, point);
}

/* Points of a list of rows, in order, for bsearch. */
static struct point *read_list(const json_t *list, size_t *ret_n)
{
    struct point *points = calloc(json_array_size(list) + 1, sizeof *points);
    *ret_n = 0;
    for (size_t i = 0; i < json_array_size(list) && points != NULL; i++)
        *ret_n += journal_point(json_array_get(list, i), &points[*ret_n]) == 0;
    if (points != NULL)
        qsort(points, *ret_n, sizeof *points, by_factors);
    return points;
}

static int mark_list(struct page *page, const char *key, enum page_standing standing)
{
    size_t n;
    struct point *points = read_list(json_object_get(page->document, key), &n);
    if (points == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < page->n_points; i++) {
        if (bsearch(&page->points[i].point, points, n, sizeof *points, by_factors) != NULL)
            page->points[i].standing = standing;
    }
    free(points);
    return 0;
}

static void mark_named(struct page *page, struct page_point *point)
{
    const json_t *document = page->document;
    bool best = is_point(json_object_get(document, "best"), &point->point);
    if (is_point(json_object_get(document, "recommendation"), &point->point))
        point->standing = best ? PAGE_RECOMMENDED_BEST : PAGE_RECOMMENDED;
    else if (best)
        point->standing = PAGE_BEST;
    else if (is_point(json_object_get(document, "baseline"), &point->point))
        point->standing = PAGE_BASELINE;
    else if (json_array_size(json_object_get(point->row, "disqualified_by")) > 0)
        point->standing = PAGE_NOT_TRUSTED;
}

static int mark(struct page *page)
{
    bool judged = json_is_object(json_object_get(page->document, "best"));
    for (size_t i = 0; i < page->n_points; i++)
        page->points[i].standing = judged ? PAGE_WORSE : PAGE_NOT_JUDGED;
    int result = mark_list(page, "equivalent", PAGE_EQUIVALENT);
    if (result == 0)
        result = mark_list(page, "undecided", PAGE_UNDECIDED);
    for (size_t i = 0; i < page->n_points; i++)
        mark_named(page, &page->points[i]);
    return result;
}

static void take_row(struct page *page, const json_t *row)
{
    struct page_point *point = &page->points[page->n_points];
    if (journal_point(row, &point->point) < 0) {
        page->n_unreadable++;
        return;
    }
    read_figures(point, row);
    page->n_points++;
}

int page_points_read(struct page *page)
{
    const json_t *rows = json_object_get(page->document, "points");
    const json_t *row = json_object_get(page->document, "row");
    page->points = calloc(json_array_size(rows) + 1, sizeof *page->points);
    if (page->points == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < json_array_size(rows); i++)
        take_row(page, json_array_get(rows, i));
    if (json_is_object(row))
        take_row(page, row);
    qsort(page->points, page->n_points, sizeof *page->points, by_rate);
    for (size_t i = 1; i < page->n_points; i++) {
        for (unsigned f = 0; f < FACTOR_N; f++)
            page->varies[f] = page->varies[f] || page_factor(&page->points[i].point, f) !=
                                                     page_factor(&page->points[0].point, f);
    }
    return mark(page);
}

void page_points_done(struct page *page)
{
    free(page->points);
    page->points = NULL;
    page->n_points = 0;
}
