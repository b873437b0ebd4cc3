/* tuner/picture/page: the documents as the page's script reads them.
 *
 * The document stands in the page as it is, but for its points: there may be thousands, so that each is a
 * short row of its factors and the figures that are shown. */
#include "tuner/base/json.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/picture/page_inside.h"

#include <math.h>
#include <stdlib.h>

#define DIGITS 6

/* Lists of points, which page_data writes as rows. */
static const char *const lists[] = {"points", "equivalent", "undecided"};

double page_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *page_figure(double value)
{
    if (!isfinite(value) || fabs(value) < 1e6)
        return json_number(value);
    double unit = pow(10, floor(log10(fabs(value))) - (DIGITS - 1));
    return json_number(round(value / unit) * unit);
}

/* The factors, api and sync as numbers; the write size 0 where it is that of reads. NULL where the object is
 * no point. */
static json_t *json_factors(const json_t *object)
{
    struct point point;
    if (journal_point(object, &point) < 0)
        return NULL;
    return json_pack("[I, i, i, i, i, i, I]", (json_int_t)point.request_size_bytes, (int)point.queue_depth,
                     (int)point.direct, (int)point.api, (int)point.threads, (int)point.sync,
                     (json_int_t)point.write_size_bytes);
}

static json_t *json_factors_or_null(const json_t *object)
{
    json_t *factors = json_factors(object);
    return factors != NULL ? factors : json_null();
}

/* The script knows the places of the members (data.js); it makes the IOPS, and of the last the standing. */
static json_t *json_row(const json_t *object)
{
    const json_t *latency = json_object_get(object, "latency_ns");
    json_t *row = json_factors(object);
    if (row == NULL)
        return NULL;
    json_array_append_new(row, page_figure(page_number(object, "mean")));
    json_array_append_new(row, page_figure(page_number(object, "ci_low")));
    json_array_append_new(row, page_figure(page_number(object, "ci_high")));
    json_array_append_new(row, json_null());
    json_array_append_new(row, page_figure(page_number(latency, "mean")));
    json_array_append_new(row, page_figure(page_number(latency, "p99")));
    json_array_append_new(row, page_figure(page_number(object, "achieved_depth")));
    json_array_append_new(row, page_figure(page_number(object, "replays")));
    json_array_append_new(row, json_boolean(json_array_size(json_object_get(object, "disqualified_by")) > 0));
    return row;
}

/* Those that can be read; the number of the others is added to n_damaged. */
static json_t *json_rows(const json_t *list, json_t *(*make)(const json_t *object), size_t *n_damaged)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = make(json_array_get(list, i));
        if (row == NULL)
            (*n_damaged)++;
        else
            json_array_append_new(rows, row);
    }
    return rows;
}

static void add_rows(json_t *data, const struct page *page)
{
    size_t n_damaged = 0, n_ignored = 0;
    json_t *measured = json_object_get(page->document, "row"), *row = json_row(measured);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_object_set_new(data, lists[i],
                            json_rows(json_object_get(page->document, lists[i]),
                                      i == 0 ? json_row : json_factors, i == 0 ? &n_damaged : &n_ignored));
    if (row != NULL)
        json_array_append_new(json_object_get(data, "points"), row);
    n_damaged += json_is_object(measured) && row == NULL;
    json_object_set_new(data, "n_damaged", json_integer((json_int_t)n_damaged));
    json_object_set_new(data, "recommendation",
                        json_factors_or_null(json_object_get(page->document, "recommendation")));
    json_object_set_new(data, "best", json_factors_or_null(json_object_get(page->document, "best")));
    json_object_set_new(data, "baseline", json_factors_or_null(json_object_get(page->document, "baseline")));
}

static json_t *json_rest(const json_t *document)
{
    json_t *rest = json_copy((json_t *)document);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_object_del(rest, lists[i]);
    return rest;
}

static json_t *json_night(const json_t *document)
{
    const json_t *rate = json_object_get(document, "throughput");
    const char *when = json_string_value(json_object_get(json_object_get(document, "system"), "measured_at"));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "when", when != NULL ? when : "", "setting",
                     json_factors_or_null(json_object_get(document, "recommendation")), "mean",
                     page_figure(page_number(rate, "mean")), "low", page_figure(page_number(rate, "ci_low")),
                     "high", page_figure(page_number(rate, "ci_high")), "conclusive",
                     json_is_true(json_object_get(document, "conclusive")));
}

static json_t *json_nights(const struct page *page)
{
    json_t *list = json_array();
    for (size_t i = 0; i < page->request->n_documents; i++)
        json_array_append_new(list, json_night(page->request->documents[i]));
    return list;
}

static json_t *json_snippet(const struct snippet_ops *ops, const struct snippet_request *request)
{
    struct err err = {0};
    char *text = NULL, *remarks = NULL;
    const bool refused = snippet_make(ops, request, &text, &remarks, &err) < 0;
    json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", ops->name, "title", ops->title, "text",
                               refused ? json_null() : json_text(text), "remarks",
                               json_text(refused ? "" : remarks), "why", json_text(err.text));
    free(text);
    free(remarks);
    return object;
}

static json_t *json_snippets(const struct page *page)
{
    const struct snippet_ops *ops;
    if (!page->has_recommendation)
        return json_null();
    const struct snippet_request request =
        report_snippet_request(page->request->settings, &page->recommendation, 1);
    json_t *list = json_array();
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++)
        json_array_append_new(list, json_snippet(ops, &request));
    return list;
}

static json_t *json_words(const char *const *words, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(words[i]));
    return list;
}

json_t *page_data(const struct page *page)
{
    json_t *data = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "document", json_rest(page->document),
                             "apis", json_words(api_names, API_N), "syncs", json_words(sync_names, SYNC_N),
                             "nights", json_nights(page), "search", page_search(page), "snippets",
                             json_snippets(page), "why_not", page->why_not != NULL ? page->why_not : "");
    if (data != NULL)
        add_rows(data, page);
    return data;
}
