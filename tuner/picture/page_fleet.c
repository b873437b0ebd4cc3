/* tuner/picture/page_fleet: tables, and intervals as small pictures between them. */
#include "tuner/picture/page_fleet.h"

#include "tuner/base/json.h"
#include "tuner/base/markup.h"
#include "tuner/picture/page_assets.h"
#include "tuner/store/journal.h"

#include <math.h>
#include <time.h>

/* More would make the page long and say no more. */
#define MOST_ROWS 200
#define DAY_S     86400.0

static int64_t count_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void put_setting(FILE *out, const json_t *setting)
{
    char text[FACTORS_TEXT_SIZE];
    struct point point;
    if (journal_point(setting, &point) == 0)
        markup_put(out, factors_format(&point, text));
}

static void begin_row(FILE *out, const json_t *object, const char *key)
{
    fputs("<tr><th scope=\"row\">", out);
    markup_member(out, object, key);
    fputs("</th>", out);
}

static void put_cell(FILE *out, const json_t *object, const char *key)
{
    fputs("<td>", out);
    markup_member(out, object, key);
    fputs("</td>", out);
}

/* A line from left to right, a band for the interval, a dot for the estimate; all are places from 0 to 1. */
static void put_interval(FILE *out, double low, double value, double high)
{
    const double width = 160, radius = 4, length = width - 2 * radius;
    if (isnan(low) || isnan(high) || isnan(value))
        return;
    fprintf(
        out,
        "<svg width=\"%.0f\" height=\"14\" aria-hidden=\"true\"><line class=\"grid\" x1=\"%.0f\" y1=\"7\" "
        "x2=\"%.0f\" y2=\"7\"/><rect class=\"band\" x=\"%.1f\" y=\"2\" width=\"%.1f\" height=\"10\"/>"
        "<circle class=\"dot\" cx=\"%.1f\" cy=\"7\" r=\"%.0f\"/></svg>",
        width, radius, width - radius, radius + length * low, fmax(1, length * (high - low)),
        radius + length * value, radius);
}

static void put_share(FILE *out, const json_t *share)
{
    double value = json_read_number(share, "share"), low = json_read_number(share, "ci_low"),
           high = json_read_number(share, "ci_high");
    if (isnan(value))
        fputs("<td>not asked</td><td></td>", out);
    else
        fprintf(out, "<td>%.0f %% (%.0f to %.0f) of %lld</td><td>", 100 * value, 100 * low, 100 * high,
                (long long)count_of(share, "hosts"));
    put_interval(out, low, value, high);
    fputs(isnan(value) ? "" : "</td>", out);
}

static void put_time(FILE *out, double seconds)
{
    char text[40] = "";
    struct tm parts;
    time_t time = (time_t)seconds;
    if (gmtime_r(&time, &parts) != NULL)
        strftime(text, sizeof text, "%F %R UTC", &parts);
    fputs(text, out);
}

static size_t n_silent(const json_t *document, double days)
{
    const json_t *hosts = json_object_get(document, "hosts"), *host;
    double made_s = json_read_number(document, "made_s");
    size_t i, n = 0;
    json_array_foreach(hosts, i, host)
    {
        n += made_s - json_read_number(host, "last_s") > days * DAY_S;
    }
    return n;
}

static void put_summary(FILE *out, const json_t *document)
{
    const json_t *hosts = json_object_get(document, "hosts"), *host;
    int64_t n_runs = 0, n_failed = 0;
    size_t i;
    json_array_foreach(hosts, i, host)
    {
        n_runs += count_of(host, "runs");
        n_failed += count_of(host, "failed");
    }
    markup_section(out, "Summary", "summary");
    fprintf(out,
            "<dl><dt>Hosts</dt><dd>%zu</dd><dt>Silent for more than a day</dt><dd>%zu</dd><dt>... than a "
            "week</dt><dd>%zu</dd><dt>Runs</dt><dd>%lld, of which %lld failed</dd></dl>\n</section>\n",
            json_array_size(hosts), n_silent(document, 1), n_silent(document, 7), (long long)n_runs,
            (long long)n_failed);
}

static void put_pattern(FILE *out, const json_t *list, double tolerance)
{
    const json_t *rules = json_object_get(list, "rules"), *rule;
    char caption[160];
    size_t i;
    snprintf(caption, sizeof caption,
             "%.60s: %lld hosts, %lld settings. Right: within %.0f %% of the best of the host.",
             json_read_text(list, "pattern", ""), (long long)count_of(list, "hosts"),
             (long long)count_of(list, "settings"), 100 * tolerance);
    markup_begin_table(out, caption, "Hosts|Setting|It is right on|0 to 100 %");
    json_array_foreach(rules, i, rule)
    {
        fputs("<tr><th scope=\"row\">", out);
        markup_put(out, json_read_text(rule, "feature", json_array_size(rules) > 1 ? "all others" : "all"));
        fputc(' ', out);
        markup_member(out, rule, "value");
        fputs("</th><td>", out);
        put_setting(out, json_object_get(rule, "setting"));
        fputs("</td>", out);
        put_share(out, rule);
        fputs("</tr>\n", out);
    }
    if (json_array_size(rules) > 0) {
        fputs("<tr><th scope=\"row\">each asked about rules made without it</th><td></td>", out);
        put_share(out, json_object_get(list, "left_out"));
        fputs("</tr>\n<tr><th scope=\"row\">... with one setting for all</th><td></td>", out);
        put_share(out, json_object_get(list, "left_out_one_setting"));
        fputs("</tr>\n", out);
    }
    markup_end_table(out);
}

static void put_rules(FILE *out, const json_t *document)
{
    const json_t *rules = json_object_get(document, "rules"), *list;
    size_t i;
    markup_section(out, "Which setting is right on which hosts", "rules");
    json_array_foreach(json_object_get(rules, "patterns"), i, list)
    {
        put_pattern(out, list, json_read_number(rules, "tolerance"));
    }
    fputs("<p class=\"note\">A band is what the hosts leave open with 95 % confidence. A pattern without a "
          "rule has too few hosts that measured the same setting.</p>\n</section>\n",
          out);
}

static void put_answers(FILE *out, const json_t *document)
{
    const json_t *answer;
    size_t i;
    markup_section(out, "Answers by kind of host", "answers");
    markup_begin_table(out, "The newest answer of each host and storage.",
                       "Pattern|File system|Device|Setting|Hosts");
    json_array_foreach(json_object_get(document, "answers"), i, answer)
    {
        begin_row(out, answer, "pattern");
        put_cell(out, answer, "file_system");
        put_cell(out, answer, "device");
        fputs("<td>", out);
        put_setting(out, json_object_get(answer, "setting"));
        fprintf(out, "</td><td>%lld</td></tr>\n", (long long)count_of(answer, "hosts"));
    }
    markup_end_table(out);
    fputs("</section>\n", out);
}

static void put_group(FILE *out, const json_t *group)
{
    double low = json_read_number(group, "ci_low"), high = json_read_number(group, "ci_high"),
           ratio = json_read_number(group, "ratio");
    begin_row(out, group, "pattern");
    put_cell(out, group, "feature");
    fputs("<td>", out);
    markup_member(out, group, "from");
    fputs(" &rarr; ", out);
    markup_member(out, group, "to");
    fprintf(out, "</td><td>%lld</td><td>%+.1f %%", (long long)count_of(group, "hosts"), 100 * (ratio - 1));
    if (!isnan(low) && !isnan(high))
        fprintf(out, " (%+.1f to %+.1f)", 100 * (low - 1), 100 * (high - 1));
    fputs("</td><td>", out);
    put_time(out, json_read_number(group, "last_s"));
    fputs("</td></tr>\n", out);
}

static void put_drift(FILE *out, const json_t *document)
{
    const json_t *groups = json_object_get(json_object_get(document, "drift"), "groups"), *group;
    size_t i, n_judged = 0, n_changed = 0;
    markup_section(out, "What changed under the hosts", "drift");
    markup_begin_table(out, "Changes that made hosts slower or faster.",
                       "Pattern|What changed|From, to|Hosts|Rate|Last");
    json_array_foreach(groups, i, group)
    {
        n_judged += json_is_number(json_object_get(group, "p"));
        if (!json_is_true(json_object_get(group, "changed")))
            continue;
        n_changed++;
        put_group(out, group);
    }
    markup_end_table(out);
    fprintf(out,
            "<p class=\"note\">%zu of %zu changes that enough hosts went through changed their rates; of "
            "those, 5 %% are so by chance on average.</p>\n</section>\n",
            n_changed, n_judged);
}

static void put_hosts(FILE *out, const json_t *document)
{
    const json_t *hosts = json_object_get(document, "hosts"), *host;
    double made_s = json_read_number(document, "made_s");
    size_t i;
    markup_section(out, "The last nights", "hosts");
    markup_begin_table(out, "The host that has been silent the longest first.",
                       "Host|Last run|Age|Runs|Failed|File system|Device|Kernel");
    json_array_foreach(hosts, i, host)
    {
        double last_s = json_read_number(host, "last_s"), days = fmax(0, made_s - last_s) / DAY_S;
        if (i == MOST_ROWS)
            break;
        begin_row(out, host, "host");
        fputs("<td>", out);
        put_time(out, last_s);
        fprintf(out, "</td><td>%.1f days</td><td>%lld</td><td>%lld</td>", days,
                (long long)count_of(host, "runs"), (long long)count_of(host, "failed"));
        put_cell(out, host, "file_system");
        put_cell(out, host, "device");
        put_cell(out, host, "kernel");
        fputs("</tr>\n", out);
    }
    markup_end_table(out);
    if (json_array_size(hosts) > MOST_ROWS)
        fprintf(out, "<p class=\"note\">%zu more hosts were heard of later than these.</p>\n",
                json_array_size(hosts) - MOST_ROWS);
    fputs("</section>\n", out);
}

int page_fleet_print(FILE *out, const json_t *document, struct err *err)
{
    static const struct markup_link links[] = {{"summary", "Summary"},   {"rules", "Rules"},
                                               {"answers", "Answers"},   {"drift", "Drift"},
                                               {"hosts", "Last nights"}, {NULL, NULL}};
    (void)err;
    markup_begin_page(out, page_assets_html, "What a fleet knows");
    fputs("As its history was on ", out);
    put_time(out, json_read_number(document, "made_s"));
    markup_begin_main(out, links);
    put_summary(out, document);
    put_rules(out, document);
    put_answers(out, document);
    put_drift(out, document);
    put_hosts(out, document);
    markup_end_page(out);
    return 0;
}
