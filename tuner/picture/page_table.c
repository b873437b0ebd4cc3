/* tuner/picture/page: the table of points. */
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/picture/page_inside.h"

#include <math.h>
#include <string.h>

bool page_has_table(const struct page *page)
{
    return page->n_points > 0;
}

/* "1.18 to 1.24 GB/s": the unit once where it is the same. */
static void print_interval(FILE *out, const struct page_point *point)
{
    char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (!isfinite(point->low_bps) || !isfinite(point->high_bps)) {
        fputs("-", out);
        return;
    }
    units_format_rate(point->low_bps, low);
    units_format_rate(point->high_bps, high);
    char *unit = strchr(low, ' ');
    const char *other = strchr(high, ' ');
    if (unit != NULL && other != NULL && strcmp(unit, other) == 0)
        *unit = '\0';
    fprintf(out, "%s to %s", low, high);
}

static void print_rate(FILE *out, const struct page_point *point)
{
    char text[UNITS_TEXT_SIZE];
    fputs(text_short_rate(point->mean_bps, text), out);
}

static void print_iops(FILE *out, const struct page_point *point)
{
    char text[UNITS_TEXT_SIZE];
    fputs(isfinite(point->iops) ? units_format_count(point->iops, text) : "-", out);
}

static void print_latency(FILE *out, const struct page_point *point)
{
    char text[UNITS_TEXT_SIZE];
    fputs(text_short_duration(point->latency_mean_ns, text), out);
}

static void print_p99(FILE *out, const struct page_point *point)
{
    char text[UNITS_TEXT_SIZE];
    fputs(text_short_duration(point->latency_p99_ns, text), out);
}

static void print_depth(FILE *out, const struct page_point *point)
{
    if (isfinite(point->achieved_depth))
        fprintf(out, "%.1f", point->achieved_depth);
    else
        fputs("-", out);
}

static void print_replays(FILE *out, const struct page_point *point)
{
    if (isfinite(point->replays))
        fprintf(out, "%.0f", point->replays);
    else
        fputs("-", out);
}

static void print_standing(FILE *out, const struct page_point *point)
{
    fputs(page_standing_names[point->standing], out);
}

/* `member` is the place in a row of the script's data. */
static const struct column {
    const char *title, *class;
    int member;
    void (*print)(FILE *out, const struct page_point *point);
} columns[] = {
    {"Throughput", "n", 7, print_rate},  {"Interval", "n", 8, print_interval},
    {"IOPS", "n", 10, print_iops},       {"Mean latency", "n", 11, print_latency},
    {"p99 latency", "n", 12, print_p99}, {"Depth reached", "n", 13, print_depth},
    {"Replays", "n", 14, print_replays}, {"Standing", "", 15, print_standing},
};

static void print_same(struct page *page)
{
    const char *separator = "";
    char text[UNITS_TEXT_SIZE];
    fputs("Best throughput first. ", page->out);
    for (unsigned f = 0; f < FACTOR_WRITE_SIZE; f++) {
        if (page->varies[f])
            continue;
        fprintf(page->out, "%s%s %s", separator[0] == '\0' ? "The same in all: " : separator,
                page_factor_keys[f], page_factor_text(&page->points[0].point, f, text));
        separator = ", ";
    }
    if (separator[0] != '\0')
        fputs(". ", page->out);
    fputs("An interval needs three replays; below five it is preliminary.", page->out);
    if (page->has_recommendation)
        fputs(" These figures are of all replays, those of the summary of the ones made after the choice.",
              page->out);
    if (page->n_unreadable > 0)
        fprintf(page->out, " %zu damaged rows of the document were left out.", page->n_unreadable);
}

static void print_head(struct page *page)
{
    fputs("<thead><tr>", page->out);
    for (unsigned f = 0; f < FACTOR_N; f++) {
        if (page->varies[f])
            fprintf(page->out, "<th scope=\"col\"%s data-member=\"%u\">%s</th>",
                    f == FACTOR_API || f == FACTOR_SYNC ? "" : " class=\"n\"", f, page_factor_titles[f]);
    }
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        fprintf(page->out, "<th scope=\"col\" class=\"%s\" data-member=\"%d\"%s>%s</th>", columns[c].class,
                columns[c].member, c == 0 ? " aria-sort=\"descending\"" : "", columns[c].title);
    fputs("</tr></thead>\n", page->out);
}

/* End tags that HTML does not need are left out: there may be thousands of rows. */
static void print_row(struct page *page, const struct page_point *point)
{
    char text[UNITS_TEXT_SIZE];
    fputs(point->standing == PAGE_RECOMMENDED || point->standing == PAGE_RECOMMENDED_BEST
              ? "<tr class=chosen>"
              : "<tr>",
          page->out);
    for (unsigned f = 0; f < FACTOR_N; f++) {
        if (page->varies[f])
            fprintf(page->out, "<td>%s", page_factor_text(&point->point, f, text));
    }
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        fputs("<td>", page->out);
        columns[c].print(page->out, point);
    }
    fputc('\n', page->out);
}

void page_table(struct page *page)
{
    fputs("<div class=\"scroll\" role=\"region\" aria-labelledby=\"points-caption\" tabindex=\"0\">\n"
          "<table id=\"table\"><caption id=\"points-caption\">",
          page->out);
    print_same(page);
    fputs("</caption>\n", page->out);
    print_head(page);
    fputs("<tbody>\n", page->out);
    for (size_t i = 0; i < page->n_points; i++)
        print_row(page, &page->points[i]);
    fputs("</tbody></table></div>\n", page->out);
}
