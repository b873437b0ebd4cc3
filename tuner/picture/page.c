/* tuner/picture/page: what the page's script reads, and the template, in which {{NAME}} marks a part.
 *
 * The document stands in the page as it is, but for its points: there may be thousands, so that each is a
 * short row of its factors and the figures that are shown. */
#include "tuner/picture/page.h"

#include "bench/base/units.h"
#include "models/statistics/student.h"
#include "tuner/base/json.h"
#include "tuner/base/template.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/picture/page_assets.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 6
/* More would make the page long and say no more. The page says that there are more. */
#define MAX_RUNS   5000
#define PLACE_SIZE 160

struct page {
    FILE *out;
    const struct page_request *request;
    const json_t *document; /* what the page is about */
    struct recommendation recommendation;
    bool has_recommendation; /* the document holds a recommendation */
    const char *why_not;     /* else why; NULL where the document is no answer of `recommend` */
    json_t *data;            /* what the script reads */
};

/* A figure to six digits, which is what a page shows; null for NaN. */
static json_t *json_figure(double value)
{
    if (!isfinite(value) || fabs(value) < 1e6)
        return json_number(value);
    double unit = pow(10, floor(log10(fabs(value))) - (DIGITS - 1));
    return json_number(round(value / unit) * unit);
}

/* ---- the search over time, from its journal: every run, and the setting that led after it ---- */

struct rival {
    struct point point;
    struct moments moments;
};

struct course {
    struct rival *rivals;
    size_t n_rivals;
    struct page_step *steps;
    size_t n_steps;
};

/* A run, and who led when it was over. */
struct page_step {
    const struct journal_run *run;
    size_t rival, leader;
    struct moments leading;
    struct interval interval; /* NaN below three runs */
};

static size_t n_runs(const struct page *page)
{
    const struct journal *journal = page->request->journal;
    return journal == NULL || journal->first >= journal->n_runs ? 0 : journal->n_runs - journal->first;
}

static size_t rival_of(struct course *course, const struct point *point)
{
    size_t i = 0;
    while (i < course->n_rivals && !factors_equal(&course->rivals[i].point, point))
        i++;
    if (i == course->n_rivals)
        course->rivals[course->n_rivals++].point = *point;
    return i;
}

static size_t leader_of(const struct course *course)
{
    size_t leader = 0;
    for (size_t i = 1; i < course->n_rivals; i++) {
        if (course->rivals[i].moments.mean > course->rivals[leader].moments.mean)
            leader = i;
    }
    return leader;
}

static double confidence_of(const struct page *page)
{
    double share = json_read_number(json_object_get(page->document, "throughput"), "confidence");
    return share > 0 && share < 1 ? share : 0.95;
}

static void take_course_run(struct course *course, const struct journal_run *run, double confidence)
{
    struct page_step *step = &course->steps[course->n_steps++];
    step->run = run;
    step->rival = rival_of(course, &run->point);
    moments_add(&course->rivals[step->rival].moments, run->sample.throughput_bps);
    step->leader = leader_of(course);
    step->leading = course->rivals[step->leader].moments;
    step->interval = student_interval(step->leading, confidence);
}

/* 0 or -ENOMEM; free_course accepts a zeroed one. */
static int follow_journal(const struct page *page, struct course *course)
{
    const struct journal *journal = page->request->journal;
    course->rivals = calloc(MAX_RUNS, sizeof *course->rivals);
    course->steps = calloc(MAX_RUNS, sizeof *course->steps);
    if (course->rivals == NULL || course->steps == NULL)
        return -ENOMEM;
    for (size_t i = journal->first; i < journal->n_runs && course->n_steps < MAX_RUNS; i++)
        take_course_run(course, &journal->runs[i], confidence_of(page));
    return 0;
}

static void free_course(struct course *course)
{
    free(course->rivals);
    free(course->steps);
}

static json_t *json_settings(const struct course *course)
{
    json_t *list = json_array();
    for (size_t i = 0; i < course->n_rivals; i++) {
        char text[FACTORS_TEXT_SIZE];
        json_array_append_new(list, json_string(factors_format(&course->rivals[i].point, text)));
    }
    return list;
}

static json_t *json_steps(const struct course *course)
{
    json_t *list = json_array();
    for (size_t i = 0; i < course->n_steps; i++) {
        const struct page_step *step = &course->steps[i];
        json_array_append_new(list,
                              json_pack("[o, o, I, I, I, o, o, o]", json_number(step->run->at_seconds),
                                        json_figure(step->run->sample.throughput_bps),
                                        (json_int_t)step->rival, (json_int_t)step->leader,
                                        (json_int_t)step->leading.n, json_figure(step->leading.mean),
                                        json_figure(step->interval.low), json_figure(step->interval.high)));
    }
    return list;
}

/* {"settings", "steps", "n_runs"}; steps is empty where there is no journal. NULL when memory ran out. */
static json_t *json_search(const struct page *page)
{
    struct course course = {0};
    json_t *object = NULL;
    if (n_runs(page) == 0 || follow_journal(page, &course) == 0)
        object = json_pack("{s:o, s:o, s:I}", "settings", json_settings(&course), "steps",
                           json_steps(&course), "n_runs", (json_int_t)n_runs(page));
    free_course(&course);
    return object;
}

/* ---- data ---- */

/* Lists of points, which json_data writes as rows. */
static const char *const lists[] = {"points", "equivalent", "undecided", "pareto"};

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

/* The script knows the places of the members (data.js); it makes the IOPS, and of the last the standing: a
 * word, or whether the row is not trusted. */
static json_t *json_row(const json_t *object)
{
    const json_t *latency = json_object_get(object, "latency_ns"),
                 *word = json_object_get(object, "standing");
    json_t *row = json_factors(object);
    if (row == NULL)
        return NULL;
    json_array_append_new(row, json_figure(json_read_number(object, "mean")));
    json_array_append_new(row, json_figure(json_read_number(object, "ci_low")));
    json_array_append_new(row, json_figure(json_read_number(object, "ci_high")));
    json_array_append_new(row, json_null());
    json_array_append_new(row, json_figure(json_read_number(latency, "mean")));
    json_array_append_new(row, json_figure(json_read_number(latency, "p99")));
    json_array_append_new(row, json_figure(json_read_number(object, "achieved_depth")));
    json_array_append_new(row, json_figure(json_read_number(object, "replays")));
    json_array_append_new(
        row, json_is_string(word)
                 ? json_text(json_string_value(word))
                 : json_boolean(json_array_size(json_object_get(object, "disqualified_by")) > 0));
    json_array_append(row, json_object_get(object, "levels"));
    return row;
}

static json_t *json_profiles(json_t *profiles)
{
    json_t *rows = json_object(), *profile;
    const char *name;
    json_object_foreach(profiles, name, profile)
    {
        json_object_set_new(rows, name, json_row(profile));
    }
    return rows;
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
    json_object_set_new(data, "profiles", json_profiles(json_object_get(page->document, "profiles")));
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
    const json_t *rate = json_object_get(document, "throughput"), *row = json_object_get(document, "row");
    const json_t *system = json_object_get(document, "system");
    char where[PLACE_SIZE];
    if (json_is_true(json_object_get(system, "simulated")))
        snprintf(where, sizeof where, "%s", json_read_text(system, "surface", ""));
    else
        snprintf(where, sizeof where, "%s, %s", json_read_text(system, "hostname", "?"),
                 json_read_text(system, "file_system", "?"));
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o}", "when", json_read_text(system, "measured_at", ""),
                     "where", json_text(where), "pattern",
                     json_read_text(json_object_get(document, "pattern"), "name", ""), "setting",
                     json_factors_or_null(row != NULL ? row : json_object_get(document, "recommendation")),
                     "mean", json_figure(json_read_number(rate, "mean")), "low",
                     json_figure(json_read_number(rate, "ci_low")), "high",
                     json_figure(json_read_number(rate, "ci_high")));
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

/* NULL when memory ran out. */
static json_t *json_data(const struct page *page)
{
    json_t *data = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "document", json_rest(page->document),
                             "apis", json_words(api_names, API_N), "syncs", json_words(sync_names, SYNC_N),
                             "nights", json_nights(page), "search", json_search(page), "snippets",
                             json_snippets(page), "why_not", page->why_not != NULL ? page->why_not : "");
    if (data != NULL)
        add_rows(data, page);
    return data;
}

/* ---- the page ---- */

/* "</script>" and "<!--" begin with the one character that JSON can say otherwise; the rest is ASCII. */
static void print_data(FILE *out, const void *context)
{
    const struct page *page = context;
    char *text = json_dumps(page->data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10));
    for (const char *c = text != NULL ? text : "{}"; *c != '\0'; c++) {
        if (*c == '<')
            fputs("\\u003c", out);
        else
            fputc(*c, out);
    }
    free(text);
}

/* As text between tags. What is not ASCII could turn the direction of what stands around it. */
static void print_escaped(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '&' || *c == '<' || *c == '>')
            fprintf(out, "&#%d;", *c);
        else
            fputc((*c < ' ' && *c != '\n') || *c >= 127 ? '?' : *c, out);
    }
}

static void print_page_line(const struct page *page, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    print_escaped(page->out, text != NULL ? text : "");
    fputc('\n', page->out);
}

/* Prints the setting of a measurement, and the throughput of any document. */
static void print_page_figures(const struct page *page)
{
    const json_t *rate = json_object_get(page->document, "throughput");
    const double mean = json_read_number(rate, "mean");
    char setting[FACTORS_TEXT_SIZE], text[UNITS_TEXT_SIZE];
    struct point point;
    if (journal_point(json_object_get(page->document, "row"), &point) == 0)
        fprintf(page->out, "%s\n", factors_format(&point, setting));
    if (isfinite(mean))
        fprintf(page->out, "throughput %s\n", units_format_rate(mean, text));
}

/* For readers without JavaScript: the comments of the snippet for shells sum a recommendation up. */
static void print_plain(FILE *out, const void *context)
{
    const struct page *page = context;
    const json_t *warnings = json_object_get(page->document, "warnings");
    const json_t *snippets = json_object_get(page->data, "snippets");
    const json_t *snippet;
    size_t i;
    print_page_line(page, json_object_get(page->document, "pattern"), "name");
    if (json_is_string(json_object_get(page->document, "keep"))) {
        fputs("keep ", out);
        print_page_line(page, page->document, "keep");
    }
    print_page_figures(page);
    print_page_line(page, page->data, "why_not");
    json_array_foreach(snippets, i, snippet)
    {
        if (strcmp(json_string_value(json_object_get(snippet, "name")), "shell") == 0)
            print_page_line(page, snippet, "text");
    }
    for (i = 0; i < json_array_size(warnings); i++)
        print_page_line(page, json_array_get(warnings, i), "text");
}

static void print_version(FILE *out, const void *context)
{
    (void)context;
    fputs(FSTUNE_VERSION, out);
}

static int check_schema(const json_t *document, struct err *err)
{
    static const char *const known[] = {"fstune/recommendation/1", "fstune/measurement/1",
                                        "fstune/experiment/1"};
    const char *schema = json_string_value(json_object_get(document, "schema"));
    for (size_t i = 0; i < sizeof known / sizeof known[0] && schema != NULL; i++) {
        if (strcmp(schema, known[i]) == 0)
            return 0;
    }
    return err_set(err, -EINVAL, "it is no result of fstune; give " PAGE_TAKES);
}

int page_print(FILE *out, const struct page_request *request, struct err *err)
{
    static const struct template_part parts[] = {
        {"{{plain}}", print_plain}, {"{{version}}", print_version}, {"{{data}}", print_data}};
    struct page page = {
        .out = out, .request = request, .document = request->documents[request->n_documents - 1]};
    struct err why = {0};
    for (size_t i = 0; i < request->n_documents; i++) {
        const char *schema = json_read_text(request->documents[i], "schema", "");
        if (check_schema(request->documents[i], err) < 0)
            return -EINVAL;
        if (request->n_documents > 1 && strcmp(schema, "fstune/experiment/1") == 0)
            return err_set(err, -EINVAL, "an experiment has a page of its own; give it alone");
    }
    int result = recommendation_read(&page.recommendation, page.document, &why);
    page.has_recommendation = result == 0;
    if (result == -ENODATA || json_is_object(json_object_get(page.document, "recommendation")))
        page.why_not = why.text;
    page.data = json_data(&page);
    if (page.data == NULL)
        return err_set(err, -ENOMEM, "no memory for the page");
    template_print(out, page_assets_html, parts, sizeof parts / sizeof parts[0], &page);
    json_decref(page.data);
    return 0;
}
