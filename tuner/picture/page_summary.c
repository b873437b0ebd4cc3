/* tuner/picture/page: the answer in words. */
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/picture/page_inside.h"

#include <math.h>
#include <string.h>

static void begin(struct page *page, const char *title)
{
    fprintf(page->out, "<dt>%s</dt><dd>", title);
}

static void end(struct page *page)
{
    fputs("</dd>\n", page->out);
}

static void print_setting(struct page *page)
{
    const struct point *point = &page->recommendation.point;
    char size[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE];
    units_format_size(point->request_size_bytes, size);
    fprintf(page->out, "<p class=\"lead\">Use <strong>request size %s", size);
    if (factors_is_split(point))
        fprintf(page->out, " of reads and %s of writes",
                units_format_size(factors_write_size_bytes(point), writes));
    fprintf(page->out, ", queue depth %u, %s, %s", point->queue_depth,
            point->direct ? "direct I/O" : "buffered I/O", api_names[point->api]);
    if (point->threads > 1)
        fprintf(page->out, ", %u threads", point->threads);
    if (point->sync != SYNC_END)
        fprintf(page->out, ", sync %s", sync_names[point->sync]);
    fputs("</strong>.</p>\n", page->out);
}

static void print_interval(struct page *page, const json_t *object, double share,
                           const char *(*format)(double, char *))
{
    double low = page_number(object, "ci_low"), high = page_number(object, "ci_high");
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
    if (isnan(low) || isnan(high))
        return;
    if (isfinite(share))
        fprintf(page->out, ", %g %% interval %s to %s", 100 * share, format(low, a), format(high, b));
    else
        fprintf(page->out, ", interval %s to %s", format(low, a), format(high, b));
}

static void print_throughput(struct page *page)
{
    const json_t *rate = json_object_get(page->document, "throughput");
    char text[UNITS_TEXT_SIZE];
    double mean = page_number(rate, "mean"), replays = page_number(rate, "replays");
    double iops = page_number(json_object_get(page->document, "iops"), "mean");
    if (isnan(mean))
        return;
    begin(page, "Throughput");
    fprintf(page->out, "<b>%s</b>", units_format_rate(mean, text));
    print_interval(page, rate, page_number(rate, "confidence"), units_format_rate);
    if (isfinite(replays))
        fprintf(page->out, ", %.0f replays", replays);
    if (isfinite(iops))
        fprintf(page->out, "; %s requests/s", units_format_count(iops, text));
    end(page);
}

/* What was compared, where that is another figure than throughput. */
static void print_objective(struct page *page)
{
    const json_t *objective = json_object_get(page->document, "objective");
    const json_t *ratio = json_object_get(objective, "ratio_to_baseline");
    const char *name = json_string_value(json_object_get(objective, "name"));
    const char *unit = json_string_value(json_object_get(objective, "unit"));
    const char *better = json_string_value(json_object_get(objective, "better"));
    double mean = page_number(objective, "mean"), share = page_number(ratio, "mean");
    char text[UNITS_TEXT_SIZE];
    if (name == NULL || strcmp(name, "throughput") == 0 || isnan(mean))
        return;
    begin(page, "Objective");
    page_format(page->out, "%.40s: ", name);
    if (unit != NULL && strcmp(unit, "ns") == 0)
        fprintf(page->out, "<b>%s</b>", text_short_duration(mean, text));
    else
        fprintf(page->out, "<b>%s</b>", units_format_count(mean, text));
    if (isfinite(share))
        fprintf(page->out, ", %.2f times that of the baseline", share);
    if (better != NULL && strcmp(better, "lower") == 0)
        fputs("; less is better", page->out);
    end(page);
}

static void print_latency(struct page *page)
{
    static const struct {
        const char *key, *title;
    } rows[] = {{"mean", "mean"}, {"p50", "median"}, {"p99", "p99"}, {"p999", "p99.9"}, {"max", "longest"}};
    const json_t *latency = json_object_get(page->document, "latency_ns");
    const char *separator = "";
    char text[UNITS_TEXT_SIZE];
    if (isnan(page_number(latency, "mean")))
        return;
    begin(page, "Latency");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = page_number(latency, rows[i].key);
        if (isnan(value))
            continue;
        fprintf(page->out, "%s%s %s", separator, rows[i].title, text_short_duration(value, text));
        separator = ", ";
    }
    end(page);
}

static void print_sustained(struct page *page)
{
    const json_t *sustained = json_object_get(page->document, "sustained");
    if (json_string_length(json_object_get(sustained, "text")) == 0)
        return;
    begin(page, "Sustained");
    page_member(page->out, sustained, "text");
    end(page);
}

/* Of the baseline, and of the default where that is another one. */
static void print_gain(struct page *page, const char *key, const char *than)
{
    const json_t *row = json_object_get(page->document, key);
    const json_t *speedup = json_object_get(row, "speedup");
    double mean = page_number(speedup, "mean"), low = page_number(speedup, "ci_low"),
           high = page_number(speedup, "ci_high"), rate = page_number(row, "mean");
    char text[UNITS_TEXT_SIZE];
    if (isnan(mean))
        return;
    begin(page, "Gain");
    fprintf(page->out, "<b>%.2f times</b> the throughput of %s", mean, than);
    if (isfinite(rate))
        fprintf(page->out, " (%s)", units_format_rate(rate, text));
    if (isfinite(low) && isfinite(high))
        fprintf(page->out, ", interval %.2f to %.2f", low, high);
    if (isfinite(low) && low <= 1 && isfinite(high) && high >= 1)
        fputs(": a difference is not proved", page->out);
    end(page);
}

static void print_sureness(struct page *page)
{
    const struct recommendation *recommendation = &page->recommendation;
    double points = page_number(json_object_get(page->document, "search"), "space_points");
    begin(page, "How sure");
    fprintf(page->out, "<b>%s</b>", recommendation->conclusive ? "conclusive" : "not conclusive");
    /* Rounded down: 0.998 is not "sure". */
    if (isfinite(recommendation->probability) && isfinite(points))
        fprintf(page->out, ": %.1f %% that none of the %.0f settings is better by more than the tolerance",
                floor(1000 * recommendation->probability) / 10, points);
    if (!recommendation->conclusive)
        fputs(". It is the best answer so far; a larger budget or tolerance would tell more", page->out);
    end(page);
}

static void print_others(struct page *page)
{
    size_t n[PAGE_STANDING_N] = {0};
    for (size_t i = 0; i < page->n_points; i++)
        n[page->points[i].standing]++;
    begin(page, "Others");
    fprintf(page->out,
            "%zu settings measured; as good as the best, but not as cheap: %zu; undecided: %zu; worse: %zu",
            page->n_points, n[PAGE_EQUIVALENT], n[PAGE_UNDECIDED], n[PAGE_WORSE] + n[PAGE_BASELINE]);
    if (n[PAGE_NOT_TRUSTED] > 0)
        fprintf(page->out, "; not trusted: %zu", n[PAGE_NOT_TRUSTED]);
    end(page);
}

static void print_words(struct page *page)
{
    const json_t *words = json_object_get(json_object_get(page->document, "importance"), "words");
    if (json_array_size(words) == 0)
        return;
    begin(page, "What matters");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *text = json_string_value(json_array_get(words, i));
        fputs(i > 0 ? "<br>" : "", page->out);
        page_text(page->out, text != NULL ? text : "");
    }
    end(page);
}

static void print_refusal(struct page *page)
{
    const json_t *trust = json_object_get(page->document, "trustworthy");
    if (page->why_not[0] != '\0') {
        fputs("<p class=\"lead\">No recommendation: <strong>", page->out);
        page_text(page->out, page->why_not);
        fputs("</strong></p>\n", page->out);
    }
    if (json_is_false(trust))
        fputs(
            "<p class=\"lead\"><strong>The figures are not trustworthy</strong>; the warnings say why.</p>\n",
            page->out);
}

static void print_measured_point(struct page *page)
{
    char text[FACTORS_TEXT_SIZE];
    if (page->has_recommendation || page->n_points != 1)
        return;
    begin(page, "Setting");
    page_text(page->out, factors_format(&page->points[0].point, text));
    end(page);
}

static void print_warnings(struct page *page)
{
    const json_t *warnings = json_object_get(page->document, "warnings");
    bool interrupted = json_is_true(json_object_get(page->document, "interrupted"));
    if (json_array_size(warnings) == 0 && !interrupted)
        return;
    fputs("<div class=\"warnings\" role=\"note\" aria-label=\"Warnings\"><h3>Worth knowing</h3>\n<ul>\n",
          page->out);
    if (interrupted)
        fputs("<li><b>interrupted</b>: the command was stopped before it was done</li>\n", page->out);
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        fputs("<li>", page->out);
        page_member(page->out, warning, "text");
        fputs(" <code>", page->out);
        page_member(page->out, warning, "code");
        fprintf(page->out, "</code>%s</li>\n",
                json_is_true(json_object_get(warning, "disqualifying")) ? " <b>disqualifying</b>" : "");
    }
    fputs("</ul></div>\n", page->out);
}

void page_summary(struct page *page)
{
    const json_t *baseline = json_object_get(page->document, "baseline");
    bool is_default = json_is_true(json_object_get(baseline, "is_default"));
    if (page->has_recommendation)
        print_setting(page);
    else
        print_refusal(page);
    fputs("<dl>\n", page->out);
    print_measured_point(page);
    print_objective(page);
    print_throughput(page);
    print_latency(page);
    print_sustained(page);
    if (page->has_recommendation) {
        print_gain(page, "baseline", is_default ? "the default setting" : "the setting used until now");
        print_gain(page, "default", "the default setting");
        print_sureness(page);
        print_others(page);
    }
    print_words(page);
    fputs("</dl>\n", page->out);
    print_warnings(page);
}
