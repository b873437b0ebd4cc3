/* tuner/picture/page_profile: the page's frame, and what fstune profile prints first, in words. */
#include "tuner/picture/page_profile.h"

#include "bench/base/units.h"
#include "models/profile/summary.h"
#include "tuner/base/json.h"
#include "tuner/base/markup.h"
#include "tuner/picture/page_assets.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SEEN_ENOUGH 0.98
#define MOST_EXACT  100000.0 /* a larger count is told to three digits */
#define MOST_DEPTH  256      /* stands for more, too */

static const char *const kinds[] = {"seq_read", "rand_read", "seq_write", "rand_write"};
static const char *const kind_words[] = {"read in sequence", "read at random", "write in sequence",
                                         "write at random"};

const char *page_profile_n(double n, char *buffer)
{
    if (!(n >= 0 && n < MOST_EXACT))
        return units_format_count(n, buffer);
    snprintf(buffer, UNITS_TEXT_SIZE, "%.0f", n);
    return buffer;
}

const char *page_profile_count(const json_t *object, const char *key, char *buffer)
{
    return page_profile_n(json_read_number(object, key), buffer);
}

const char *page_profile_size(double bytes, char *buffer)
{
    return bytes >= 0 && bytes < 1e18 ? units_format_size((uint64_t)bytes, buffer) : "?";
}

const char *page_profile_bytes(double bytes, char *buffer)
{
    return units_format_bytes(bytes >= 0 && bytes < 1e18 ? (uint64_t)bytes : 0, buffer);
}

static void begin_fact(FILE *out, const char *name)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
}

static void end_fact(FILE *out)
{
    fputs("</dd>\n", out);
}

/* ---- the summary ---- */

static void put_lead(FILE *out, const json_t *document)
{
    const json_t *shares = json_object_get(document, "shares");
    const char *name = json_read_text(json_object_get(document, "pattern"), "name", "");
    char n[UNITS_TEXT_SIZE];
    if (name[0] == '\0') {
        fprintf(out,
                "<div class=\"warnings\"><p class=\"tight\">Too little seen: %s reads and writes of files, "
                "%d are needed. No pattern is told, and the figures below may be chance; let the program do "
                "more.</p></div>\n",
                page_profile_count(document, "events", n), SUMMARY_LEAST_REQUESTS);
        return;
    }
    fputs("<p class=\"lead\">Pattern <strong>", out);
    markup_put(out, name);
    fprintf(out, "</strong></p>\n<p>Of %s requests ", page_profile_count(document, "events", n));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        fprintf(out, "%s<strong>%.1f %%</strong> %s", i > 0 ? ", " : "",
                100 * json_read_number(shares, kinds[i]), kind_words[i]);
    fprintf(out, "; &#177; %.1f points with 95 %% confidence.</p>\n",
            100 * json_read_number(shares, "margin"));
}

static void put_requests(FILE *out, const json_t *document)
{
    const json_t *requests = json_object_get(document, "requests"),
                 *bytes = json_object_get(document, "bytes");
    char n[UNITS_TEXT_SIZE], text[UNITS_TEXT_SIZE];
    begin_fact(out, "Requests");
    fprintf(out, "%s reads (%s), ", page_profile_count(requests, "read", n),
            page_profile_bytes(json_read_number(bytes, "read"), text));
    fprintf(out, "%s writes (%s), ", page_profile_count(requests, "write", n),
            page_profile_bytes(json_read_number(bytes, "write"), text));
    fprintf(out, "%s flushes", page_profile_count(requests, "flush", n));
    end_fact(out);
}

static void put_sizes(FILE *out, const char *name, const json_t *sizes)
{
    const json_t *modes = json_object_get(sizes, "modes"), *mode;
    char text[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE];
    size_t i;
    if (!(json_read_number(sizes, "n") > 0))
        return;
    begin_fact(out, name);
    json_array_foreach(modes, i, mode)
    {
        fprintf(out, "%s%s (%.0f %%)", i > 0 ? ", " : "",
                page_profile_size(json_read_number(mode, "bytes"), text),
                100 * json_read_number(mode, "share"));
    }
    fprintf(out, "%shalf are at most %s, 99 %% at most %s", json_array_size(modes) > 0 ? "; " : "",
            page_profile_size(json_read_number(sizes, "p50"), text),
            page_profile_size(json_read_number(sizes, "p99"), p99));
    end_fact(out);
}

static void put_depth(FILE *out, const json_t *document)
{
    const json_t *depth = json_object_get(document, "queue_depth");
    double mean = json_read_number(depth, "mean"), most = json_read_number(depth, "max"),
           threads = json_read_number(document, "threads"), async = json_read_number(document, "async_share");
    begin_fact(out, "Depth");
    if (isnan(mean))
        fputs("unknown", out);
    else
        fprintf(out, "%.1f in flight on average while any is, at most %.0f%s", mean, most,
                most >= MOST_DEPTH ? " or more" : "");
    if (threads >= 1)
        fprintf(out, "; %.0f thread%s", threads, threads < 2 ? "" : "s");
    if (async > 0)
        fprintf(out, ", %.0f %% asynchronous", 100 * async);
    end_fact(out);
}

static void put_durable(FILE *out, const json_t *document)
{
    const json_t *sync = json_object_get(document, "sync");
    const char *kind = json_read_text(sync, "kind", "");
    if (kind[0] == '\0' || !(json_read_number(json_object_get(document, "requests"), "write") > 0))
        return;
    begin_fact(out, "Durable");
    if (strcmp(kind, "every") == 0)
        fprintf(out, "by a flush every %.0f writes on average, every %.0f mostly",
                json_read_number(sync, "requests_between_mean"),
                json_read_number(sync, "requests_between_p50"));
    else
        fputs(strcmp(kind, "each") == 0  ? "each write by itself"
              : strcmp(kind, "end") == 0 ? "by one flush of each file at its end"
                                         : "no write is flushed",
              out);
    fprintf(out, " (%.0f %% of the writes become durable)", 100 * json_read_number(sync, "flushed_share"));
    end_fact(out);
}

static void put_skew(FILE *out, const json_t *document)
{
    const json_t *skew = json_object_get(document, "skew"),
                 *hottest = json_object_get(skew, "share_of_hottest");
    double theta = json_read_number(skew, "zipf_theta"),
           tenth = json_number_value(json_array_get(hottest, 1));
    if (!(tenth > 0))
        return;
    begin_fact(out, "Skew");
    fprintf(out, "%.0f %% of the uses on the hottest tenth of what is touched", 100 * tenth);
    if (theta > 0)
        fprintf(out, ", as Zipf %.2f", theta);
    end_fact(out);
}

static void put_access(FILE *out, const json_t *document)
{
    double direct = json_read_number(document, "direct_share"),
           set = json_read_number(document, "working_set_bytes");
    char text[UNITS_TEXT_SIZE];
    if (!(json_read_number(document, "events") > 0))
        return;
    begin_fact(out, "Access");
    if (!isnan(direct))
        fprintf(out, "%.0f %% direct, ", 100 * direct);
    fprintf(out, "aligned to %s; ", page_profile_size(json_read_number(document, "alignment_bytes"), text));
    fprintf(out, "%s touched", page_profile_bytes(json_read_number(document, "footprint_bytes"), text));
    if (set > 0)
        fprintf(out, ", a cache of %s would serve nine of ten later uses", page_profile_bytes(set, text));
    end_fact(out);
    put_skew(out, document);
}

static void put_rate(FILE *out, const json_t *document)
{
    const json_t *rate = json_object_get(document, "rate");
    double seconds = json_read_number(document, "seconds"), paused_s = json_read_number(document, "paused_s"),
           overhead = json_read_number(document, "overhead_share");
    char text[UNITS_TEXT_SIZE];
    begin_fact(out, "Rate");
    if (isnan(json_read_number(rate, "mean_bps")))
        fputs("unknown", out);
    else
        fprintf(out, "%s over %.3g s", units_format_rate(json_read_number(rate, "mean_bps"), text),
                seconds - (paused_s > 0 ? paused_s : 0));
    if (json_read_number(rate, "busy_share") > 0)
        fprintf(out, ", busy %.0f %% of it; %.2f s in reads, %.2f s in writes, %.2f s in flushes",
                100 * json_read_number(rate, "busy_share"), json_read_number(rate, "read_s"),
                json_read_number(rate, "write_s"), json_read_number(rate, "flush_s"));
    end_fact(out);
    if (paused_s > 0)
        fprintf(out, "<dt>Paused</dt><dd>%.3g s of %.3g s, by the program; figures are of the rest</dd>\n",
                paused_s, seconds);
    if (overhead > 0)
        fprintf(out, "<dt>Overhead</dt><dd>about %.2g %% of the time, by the recording</dd>\n",
                100 * overhead);
}

/* What there was and is not in these figures, as items of a list. */
static void put_unseen_items(FILE *out, const json_t *document)
{
    const json_t *unseen = json_object_get(document, "unseen");
    double lost = json_read_number(document, "events_lost"), seen = json_read_number(unseen, "seen_share");
    char n[UNITS_TEXT_SIZE], text[UNITS_TEXT_SIZE];
    if (lost > 0)
        fprintf(out,
                "<li>%s requests found no place in the store or could not be followed; give --store "
                "more</li>\n",
                page_profile_n(lost, n));
    if (seen < SEEN_ENOUGH)
        fprintf(out,
                "<li>%.0f %% of the bytes of reads and writes went past the wrappers; --source trace sees "
                "them</li>\n",
                100 * (1 - seen));
    if (json_read_number(unseen, "maps") > 0)
        fprintf(out, "<li>what was read and written through mapped files: %s (%s)</li>\n",
                page_profile_count(unseen, "maps", n),
                page_profile_bytes(json_read_number(unseen, "mapped_bytes"), text));
    if (json_read_number(unseen, "rings") > 0)
        fprintf(out, "<li>requests of io_uring that this source is not told of; rings: %s</li>\n",
                page_profile_count(unseen, "rings", n));
    if (json_read_number(unseen, "refused_lines") > 0)
        fprintf(out, "<li>lines that could not be understood: %s</li>\n",
                page_profile_count(unseen, "refused_lines", n));
}

static void put_unseen(FILE *out, const json_t *document)
{
    const json_t *unseen = json_object_get(document, "unseen");
    double seen = json_read_number(unseen, "seen_share");
    bool is_whole = !(json_read_number(document, "events_lost") > 0) &&
                    !(json_read_number(unseen, "maps") > 0) && !(json_read_number(unseen, "rings") > 0) &&
                    !(json_read_number(unseen, "refused_lines") > 0);
    if (is_whole && !(seen < SEEN_ENOUGH)) {
        begin_fact(out, "Not seen");
        fputs(isnan(seen) ? "nothing that is known of" : "nothing that the system counted", out);
        end_fact(out);
        fputs("</dl>\n", out);
        return;
    }
    fputs("</dl>\n<div class=\"warnings\"><p class=\"tight\">Not in these figures:</p>\n<ul>\n", out);
    put_unseen_items(out, document);
    fputs("</ul></div>\n", out);
}

static void put_summary(FILE *out, const json_t *document)
{
    const json_t *sizes = json_object_get(document, "request_size");
    markup_section(out, "Summary", "summary");
    put_lead(out, document);
    fputs("<dl>\n", out);
    put_requests(out, document);
    put_sizes(out, "Sizes of reads", json_object_get(sizes, "read"));
    put_sizes(out, "Sizes of writes", json_object_get(sizes, "write"));
    put_depth(out, document);
    put_durable(out, document);
    put_access(out, document);
    put_rate(out, document);
    put_unseen(out, document);
    fputs("</section>\n", out);
}

/* ---- what to do ---- */

static void put_command(FILE *out, const char *command, const json_t *words)
{
    const json_t *word;
    size_t i;
    fprintf(out, "<pre><code>%s", command);
    json_array_foreach(words, i, word)
    {
        const char *text = json_string_value(word);
        fputc(' ', out);
        markup_word(out, text != NULL ? text : "");
    }
    fputs("</code></pre>\n", out);
}

/* The factors of an object, or names of a list, as a fact. */
static void put_factors(FILE *out, const char *title, const json_t *factors)
{
    const char *name, *before = "";
    json_t *level;
    size_t i;
    begin_fact(out, title);
    if (json_object_size(factors) + json_array_size(factors) == 0)
        fputs("nothing", out);
    json_object_foreach((json_t *)factors, name, level)
    {
        fputs(before, out);
        markup_put(out, name);
        fputc(' ', out);
        markup_member(out, factors, name);
        before = ", ";
    }
    json_array_foreach(factors, i, level)
    {
        const char *text = json_string_value(level);
        fputs(i > 0 ? ", " : "", out);
        markup_put(out, text != NULL ? text : "");
    }
    end_fact(out);
}

static void put_advice(FILE *out, const json_t *document)
{
    fputs("<p>Have the best setting for these requests searched; profile.json is the document that this page "
          "was made from:</p>\n",
          out);
    put_command(out, "fstune recommend --for profile.json", NULL);
    fputs("<dl>\n", out);
    put_factors(out, "The program fixes", json_object_get(document, "fixed"));
    put_factors(out, "Can be searched", json_object_get(document, "free"));
    put_factors(out, "It does today", json_object_get(document, "current"));
    fputs("</dl>\n<p>Without the document, the same pattern and fixed factors are:</p>\n", out);
    put_command(out, "fstune recommend", json_object_get(document, "options"));
}

static void put_todo(FILE *out, const json_t *document)
{
    markup_section(out, "What to do", "todo");
    if (json_is_string(json_object_get(json_object_get(document, "pattern"), "name")))
        put_advice(out, document);
    else
        fputs("<p>Record it again while it does more. Nothing can be recommended from so few requests.</p>\n",
              out);
    fputs("<p>The document does not tell where in the files the requests went; a database of events does. It "
          "is made and drawn by:</p>\n<pre><code>fstune profile --save-events events.db -- COMMAND\n"
          "fstune plot profile --from events.db --output places.png</code></pre>\n</section>\n",
          out);
}

/* ---- the page ---- */

/* Who says what the page tells. */
static void put_source(FILE *out, const json_t *document)
{
    const char *source = json_read_text(document, "source", "?");
    if (strcmp(source, "preload") == 0)
        fputs("Recorded by wrappers in the program", out);
    else if (strcmp(source, "trace") == 0)
        fputs("Recorded by the kernel", out);
    else if (strcmp(source, "replay") == 0)
        fputs("Requests that fstune replay made", out);
    else {
        fputs("Imported from ", out);
        markup_put(out, source);
    }
}

static void put_origin(FILE *out, const json_t *document)
{
    const json_t *command = json_object_get(document, "command"), *word;
    double status = json_read_number(document, "exit_status");
    size_t i;
    if (json_array_size(command) > 0)
        fputs("<code>", out);
    json_array_foreach(command, i, word)
    {
        const char *text = json_string_value(word);
        fputs(i > 0 ? " " : "", out);
        markup_word(out, text != NULL ? text : "");
    }
    fputs(json_array_size(command) > 0 ? "</code><br>\n" : "", out);
    put_source(out, document);
    fprintf(out, ", %.4g s", json_read_number(document, "seconds"));
    if (status > 0)
        fprintf(out, "; it ended with exit code %.0f", status);
}

static void print_page(FILE *out, const json_t *document, const struct plot_load *load)
{
    struct markup_link links[9] = {{"summary", "Summary"},
                                   {"time", "Over time"},
                                   {"sizes", "Sizes and reuse"},
                                   {"files", "Files"},
                                   {"phases", "Phases"}};
    size_t n = 5;
    if (json_array_size(json_object_get(document, "marks")) > 0)
        links[n++] = (struct markup_link){"marks", "Marks"};
    if (json_is_array(json_object_get(document, "hardware")))
        links[n++] = (struct markup_link){"processor", "Processor"};
    links[n] = (struct markup_link){"todo", "What to do"};
    markup_begin_page(out, page_assets_html, "What a program does with its files");
    put_origin(out, document);
    markup_begin_main(out, links);
    put_summary(out, document);
    page_profile_charts(out, load);
    page_profile_tables(out, document);
    put_todo(out, document);
    markup_end_page(out);
}

bool page_profile_is(const json_t *document)
{
    return strcmp(json_read_text(document, "schema", ""), "fstune/profile/1") == 0;
}

/* Of a pattern that has a name. */
static bool has_shares(const json_t *document)
{
    const json_t *shares = json_object_get(document, "shares");
    bool has_each = json_is_number(json_object_get(shares, "margin"));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        has_each = has_each && json_is_number(json_object_get(shares, kinds[i]));
    return has_each || json_read_text(json_object_get(document, "pattern"), "name", "")[0] == '\0';
}

/* Members that documents of an earlier state do not have. */
static bool has_all(const json_t *document)
{
    const json_t *sizes = json_object_get(document, "request_size");
    return json_is_array(json_object_get(document, "caches")) &&
           json_is_array(json_object_get(json_object_get(sizes, "read"), "histogram")) &&
           json_is_array(json_object_get(json_object_get(sizes, "write"), "histogram")) &&
           has_shares(document);
}

int page_profile_print(FILE *out, const json_t *document, struct err *err)
{
    struct plot_data data = {0};
    int result = plot_data_profile(&data, document, err);
    if (result == 0 && !has_all(document))
        result =
            err_set(err, -ENODATA,
                    "it does not tell sizes, caches and shares; record it again with this version of fstune");
    if (result == 0)
        print_page(out, document, data.load);
    plot_data_done(&data);
    return result;
}
