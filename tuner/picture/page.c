/* tuner/picture/page: the page as a whole: its template, in which {{NAME}} marks a part. */
#include "tuner/picture/page.h"

#include "bench/base/units.h"
#include "tuner/picture/page_assets.h"
#include "tuner/picture/page_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "</script>" and "<!--" begin with the one character that JSON can say otherwise; the rest is ASCII. */
static void print_data(const struct page *page)
{
    char *text = json_dumps(page->data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10));
    for (const char *c = text != NULL ? text : "{}"; *c != '\0'; c++) {
        if (*c == '<')
            fputs("\\u003c", page->out);
        else
            fputc(*c, page->out);
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
    const double mean = page_number(rate, "mean");
    char setting[FACTORS_TEXT_SIZE], text[UNITS_TEXT_SIZE];
    struct point point;
    if (journal_point(json_object_get(page->document, "row"), &point) == 0)
        fprintf(page->out, "%s\n", factors_format(&point, setting));
    if (isfinite(mean))
        fprintf(page->out, "throughput %s\n", units_format_rate(mean, text));
}

/* For readers without JavaScript: the comments of the snippet for shells sum a recommendation up. */
static void print_plain(const struct page *page)
{
    const json_t *warnings = json_object_get(page->document, "warnings");
    const json_t *snippets = json_object_get(page->data, "snippets");
    const json_t *snippet;
    size_t i;
    print_page_line(page, json_object_get(page->document, "pattern"), "name");
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

static void print_version(const struct page *page)
{
    fputs(FSTUNE_VERSION, page->out);
}

static const struct part {
    const char *mark;
    void (*print)(const struct page *page);
} parts[] = {{"{{plain}}", print_plain}, {"{{version}}", print_version}, {"{{data}}", print_data}};

/* In the order of the template. */
static void print_page(const struct page *page)
{
    const char *at = page_assets_html;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *mark = strstr(at, parts[i].mark);
        fwrite(at, 1, (size_t)(mark - at), page->out);
        parts[i].print(page);
        at = mark + strlen(parts[i].mark);
    }
    fputs(at, page->out);
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
    return err_set(err, -EINVAL,
                   "it is no result of fstune; give what `fstune recommend --json` or `fstune measure "
                   "--json` printed");
}

int page_print(FILE *out, const struct page_request *request, struct err *err)
{
    struct page page = {
        .out = out, .request = request, .document = request->documents[request->n_documents - 1]};
    struct err why = {0};
    for (size_t i = 0; i < request->n_documents; i++) {
        if (check_schema(request->documents[i], err) < 0)
            return -EINVAL;
    }
    int result = recommendation_read(&page.recommendation, page.document, &why);
    page.has_recommendation = result == 0;
    if (result == -ENODATA || json_is_object(json_object_get(page.document, "recommendation")))
        page.why_not = why.text;
    page.data = page_data(&page);
    if (page.data == NULL)
        return err_set(err, -ENOMEM, "no memory for the page");
    print_page(&page);
    json_decref(page.data);
    return 0;
}
