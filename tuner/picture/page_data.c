/* tuner/picture/page: what the scripts read. */
#include "tuner/base/json.h"
#include "tuner/picture/page_inside.h"
#include "tuner/store/journal.h"

#include <math.h>
#include <stdlib.h>

#define DIGITS 6

#define WHEN_SIZE 200

double page_rounded(double value)
{
    if (!isfinite(value) || fabs(value) < 1e6)
        return value;
    double unit = pow(10, floor(log10(fabs(value))) - (DIGITS - 1));
    return round(value / unit) * unit;
}

/* In the order of the factors, then that of the table's members (page_table.c). */
static json_t *json_figures(const struct page_point *point)
{
    const double figures[] = {point->mean_bps,       point->low_bps,         point->high_bps,
                              point->iops,           point->latency_mean_ns, point->latency_p99_ns,
                              point->achieved_depth, point->replays};
    json_t *row = json_array();
    for (unsigned f = 0; f < FACTOR_N; f++)
        json_array_append_new(row, json_integer((json_int_t)page_factor(&point->point, f)));
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        json_array_append_new(row, json_number(page_rounded(figures[i])));
    json_array_append_new(row, json_integer(point->standing));
    return row;
}

static json_t *json_rows(const struct page *page)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < page->n_points; i++)
        json_array_append_new(rows, json_figures(&page->points[i]));
    return rows;
}

static json_t *json_names_of(const char *const *names, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

/* [throughput, seconds, warm-up seconds, stable]. */
static json_t *json_runs(const struct page *page)
{
    const json_t *runs = json_object_get(page->document, "runs");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        json_array_append_new(list, json_pack("[o, o, o, o]",
                                              json_number(page_rounded(page_number(run, "throughput"))),
                                              json_number(page_number(run, "seconds")),
                                              json_number(page_number(run, "warmup_seconds")),
                                              json_boolean(!json_is_false(json_object_get(run, "stable")))));
    }
    return list;
}

/* [time, setting, mean, low, high]. */
static json_t *json_nights(const struct page *page)
{
    json_t *list = json_array();
    for (size_t i = 0; i < page->request->n_documents && page_has_nights(page); i++) {
        const json_t *document = page->request->documents[i];
        const json_t *rate = json_object_get(document, "throughput");
        const char *when =
            json_string_value(json_object_get(json_object_get(document, "system"), "measured_at"));
        char setting[FACTORS_TEXT_SIZE] = "no recommendation", plain[WHEN_SIZE];
        struct point point;
        if (journal_point(json_object_get(document, "recommendation"), &point) == 0)
            factors_format(&point, setting);
        json_array_append_new(list,
                              json_pack("[o, s, o, o, o]",
                                        json_text(page_plain(when != NULL ? when : "", plain, sizeof plain)),
                                        setting, json_number(page_rounded(page_number(rate, "mean"))),
                                        json_number(page_rounded(page_number(rate, "ci_low"))),
                                        json_number(page_rounded(page_number(rate, "ci_high")))));
    }
    return list;
}

/* "</script>" and "<!--" begin with the one character that JSON can say otherwise. */
static void print_harmless(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("\\u003c", out);
        else
            fputc(*text, out);
    }
}

void page_data(struct page *page)
{
    json_t *varies = json_array();
    for (unsigned f = 0; f < FACTOR_N; f++)
        json_array_append_new(varies, json_boolean(page->varies[f]));
    json_t *data =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "titles",
                  json_names_of(page_factor_titles, FACTOR_N), "varies", varies, "apis",
                  json_names_of(api_names, API_N), "syncs", json_names_of(sync_names, SYNC_N), "standings",
                  json_names_of(page_standing_names, PAGE_STANDING_N), "points", json_rows(page), "runs",
                  json_runs(page), "nights", json_nights(page), "search", page_search_json(page));
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    print_harmless(page->out, text != NULL ? text : "{}");
    free(text);
    json_decref(data);
}
