/* tuner/picture/page: places that the scripts draw into, with the figures as words and tables beside them. */
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/picture/page_inside.h"
#include "tuner/store/journal.h"

#include <math.h>

static void print_place(struct page *page, const char *id, const char *text)
{
    fprintf(
        page->out,
        "<div id=\"%s\" class=\"chart\"><noscript><p>The charts need JavaScript; %s.</p></noscript></div>\n",
        id, text);
}

bool page_has_charts(const struct page *page)
{
    return page->n_points > 1;
}

void page_charts(struct page *page)
{
    print_place(page, "response", "the table below has the same figures");
}

bool page_has_runs(const struct page *page)
{
    return json_array_size(json_object_get(page->document, "runs")) > 0;
}

static void print_run(struct page *page, size_t number, const json_t *run)
{
    char rate[UNITS_TEXT_SIZE], warmup[UNITS_TEXT_SIZE], length[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE];
    fprintf(page->out, "<tr><th scope=\"row\">%zu</th><td>%s<td>%s<td>%s<td>%s<td>%s\n", number,
            text_short_rate(page_number(run, "throughput"), rate),
            text_short_duration(page_number(run, "seconds") * 1e9, length),
            text_short_duration(page_number(run, "warmup_seconds") * 1e9, warmup),
            text_short_duration(page_number(run, "latency_mean_ns"), latency),
            json_is_false(json_object_get(run, "stable")) ? "no" : "yes");
}

void page_runs(struct page *page)
{
    const json_t *runs = json_object_get(page->document, "runs");
    print_place(page, "run-chart", "the table has the same figures");
    fputs("<details><summary>The runs as a table</summary><div class=\"scroll\" role=\"region\" "
          "aria-label=\"Runs\" tabindex=\"0\"><table>"
          "<caption>In the order in which they were made.</caption><thead><tr><th scope=\"col\">Run</th>"
          "<th scope=\"col\">Throughput</th><th scope=\"col\">Length</th><th scope=\"col\">Warm-up</th>"
          "<th scope=\"col\">Mean latency</th><th scope=\"col\">Stable</th></tr></thead>\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < json_array_size(runs); i++)
        print_run(page, i + 1, json_array_get(runs, i));
    fputs("</tbody></table></div></details>\n", page->out);
}

bool page_has_nights(const struct page *page)
{
    return page->request->n_documents > 1;
}

static void print_night(struct page *page, const json_t *document)
{
    const json_t *rate = json_object_get(document, "throughput");
    char text[FACTORS_TEXT_SIZE], mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    struct point point;
    fputs("<tr><th scope=\"row\">", page->out);
    if (!page_member(page->out, json_object_get(document, "system"), "measured_at"))
        fputs("unknown", page->out);
    bool known = journal_point(json_object_get(document, "recommendation"), &point) == 0;
    fprintf(page->out, "</th><td>%s<td>%s<td>%s<td>%s<td>%s\n", known ? factors_format(&point, text) : "none",
            text_short_rate(page_number(rate, "mean"), mean),
            text_short_rate(page_number(rate, "ci_low"), low),
            text_short_rate(page_number(rate, "ci_high"), high),
            json_is_true(json_object_get(document, "conclusive")) ? "yes" : "no");
}

void page_nights(struct page *page)
{
    print_place(page, "night-chart", "the table has the same figures");
    fputs("<div class=\"scroll\" role=\"region\" aria-label=\"Answers over time\" tabindex=\"0\"><table>"
          "<caption>The recommended setting of each answer, and its throughput.</caption><thead><tr>"
          "<th scope=\"col\">Measured</th><th scope=\"col\">Recommended</th><th scope=\"col\">Throughput</th>"
          "<th scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\">Conclusive</th></tr></thead>"
          "\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < page->request->n_documents; i++)
        print_night(page, page->request->documents[i]);
    fputs("</tbody></table></div>\n", page->out);
}
