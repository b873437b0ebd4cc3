/* tuner/picture/page: the page as a whole; its frame is page_assets/page.html, in which {{NAME}} marks a
 * part. */
#include "tuner/picture/page.h"

#include "tuner/picture/page_assets.h"
#include "tuner/picture/page_inside.h"

#include <errno.h>
#include <string.h>

/* In the order of the page. */
static const struct section {
    const char *id, *title;
    bool (*has)(const struct page *page); /* NULL: always */
    void (*print)(struct page *page);
} sections[] = {
    {"summary", "Summary", NULL, page_summary},
    {"charts", "Response", page_has_charts, page_charts},
    {"points", "Measured points", page_has_table, page_table},
    {"runs", "Runs", page_has_runs, page_runs},
    {"search", "The search over time", page_has_search, page_search},
    {"nights", "Answers over time", page_has_nights, page_nights},
    {"snippets", "Snippets", page_has_snippets, page_snippets},
    {"reproduce", "How to reproduce", NULL, page_reproduce},
    {"system", "The system", page_has_system, page_system},
};

#define N_SECTIONS (sizeof sections / sizeof sections[0])

static bool is_shown(const struct page *page, const struct section *section)
{
    return section->has == NULL || section->has(page);
}

static void print_navigation(struct page *page)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        if (is_shown(page, &sections[i]))
            fprintf(page->out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
    }
}

static void print_sections(struct page *page)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        const struct section *section = &sections[i];
        if (!is_shown(page, section))
            continue;
        fprintf(page->out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
                section->id, section->id, section->id, section->title);
        section->print(page);
        fputs("</section>\n", page->out);
    }
}

static void print_title(struct page *page)
{
    const json_t *system = json_object_get(page->document, "system");
    if (!page_member(page->out, json_object_get(page->document, "pattern"), "name"))
        fputs("Workload", page->out);
    if (json_is_true(json_object_get(system, "simulated"))) {
        fputs(" on the simulated surface ", page->out);
        page_member(page->out, system, "surface");
        return;
    }
    fputs(" on ", page->out);
    if (!page_member(page->out, system, "file_system"))
        fputs("an unknown file system", page->out);
    if (json_string_length(json_object_get(system, "device")) > 0) {
        fputs(", ", page->out);
        page_member(page->out, system, "device");
    }
}

static void print_origin(struct page *page)
{
    static const struct {
        const char *before, *key;
    } facts[] = {{"host ", "hostname"}, {"directory ", "path"}, {"kernel ", "kernel"}, {"", "measured_at"}};
    const json_t *system = json_object_get(page->document, "system");
    const char *separator = "";
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (json_string_length(json_object_get(system, facts[i].key)) == 0)
            continue;
        fprintf(page->out, "%s%s<bdi>", separator, facts[i].before);
        page_member(page->out, system, facts[i].key);
        fputs("</bdi>", page->out);
        separator = " &middot; ";
    }
    if (separator[0] == '\0')
        fputs("Nothing was measured on a disk: the rates come from a table, in virtual time.", page->out);
}

static void print_version(struct page *page)
{
    fputs(FSTUNE_VERSION, page->out);
}

static void print_style(struct page *page)
{
    fputs(page_assets_style, page->out);
}

static void print_script(struct page *page)
{
    fputs(page_assets_script, page->out);
}

static void print_style_digest(struct page *page)
{
    fputs(page_assets_style_digest, page->out);
}

static void print_script_digest(struct page *page)
{
    fputs(page_assets_script_digest, page->out);
}

static const struct part {
    const char *name;
    void (*print)(struct page *page);
} parts[] = {
    {"title", print_title},
    {"origin", print_origin},
    {"version", print_version},
    {"navigation", print_navigation},
    {"sections", print_sections},
    {"data", page_data},
    {"style", print_style},
    {"script", print_script},
    {"style-digest", print_style_digest},
    {"script-digest", print_script_digest},
};

static void print_part(struct page *page, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strlen(parts[i].name) == length && strncmp(parts[i].name, name, length) == 0)
            parts[i].print(page);
    }
}

static void print_frame(struct page *page)
{
    const char *at = page_assets_html, *mark, *end;
    while ((mark = strstr(at, "{{")) != NULL && (end = strstr(mark, "}}")) != NULL) {
        fwrite(at, 1, (size_t)(mark - at), page->out);
        print_part(page, mark + 2, (size_t)(end - mark) - 2);
        at = end + 2;
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
        snprintf(page.why_not, sizeof page.why_not, "%s", why.text);
    result = page_points_read(&page);
    if (result == 0)
        print_frame(&page);
    else
        err_set(err, result, "no memory for the page");
    page_points_done(&page);
    return result;
}
