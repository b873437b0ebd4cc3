/* tuner/emit/snippet: comments of any format, and the words about origin and evidence that every snippet
 * carries. */
#include "bench/base/units.h"
#include "tuner/base/utf8.h"
#include "tuner/emit/snippet.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_SIZE (RECOMMENDATION_PATH_SIZE + 1024)
#define WIDTH     108

/* What would end a comment, or hide in it. */
static void make_harmless(char *text, enum snippet_comments comments)
{
    for (char *c = text; *c != '\0';) {
        size_t length = utf8_length(c);
        if (!utf8_is_plain(c, length)) {
            *c = '?';
            length = 1;
        }
        /* XML allows no two dashes inside a comment. */
        if (comments == SNIPPET_COMMENTS_XML && c > text && *c == '-' && c[-1] == '-')
            *c = '~';
        c += length;
    }
}

static void print_comment_line(struct snippet_writer *writer, const char *text, int length)
{
    static const char *const marks[] = {"# ", "<!-- ", "; ", ""};
    bool beside = writer->comments == SNIPPET_COMMENTS_NONE;
    /* A backslash at the end would pull the next line into the comment, for some readers. */
    const char *end = writer->comments == SNIPPET_COMMENTS_XML            ? " -->"
                      : !beside && length > 0 && text[length - 1] == '\\' ? " ."
                                                                          : "";
    fprintf(beside ? writer->remarks : writer->out, "%s%.*s%s\n", marks[writer->comments], length, text, end);
}

/* A line ends at the last blank before the width; a longer word stays whole. */
static int line_length(const char *text)
{
    size_t length = strlen(text);
    if (length <= WIDTH)
        return (int)length;
    for (length = WIDTH; length > 0 && text[length] != ' ';)
        length--;
    return (int)(length > 0 ? length : WIDTH + strcspn(text + WIDTH, " "));
}

void snippet_comment(struct snippet_writer *writer, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_harmless(text, writer->comments);
    /* A remark stays one line: whoever prints it wraps it. */
    if (writer->comments == SNIPPET_COMMENTS_NONE) {
        print_comment_line(writer, text, (int)strlen(text));
        return;
    }
    for (const char *rest = text; *rest != '\0';) {
        int length = line_length(rest);
        print_comment_line(writer, rest, length);
        rest += length;
        while (*rest == ' ')
            rest++;
    }
}

void snippet_command(struct snippet_writer *writer, char *text)
{
    make_harmless(text, writer->comments);
    print_comment_line(writer, text, (int)strlen(text));
}

static void print_origin(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    if (recommendation->simulated) {
        const char *simulator = recommendation_fact_text(recommendation, "surface");
        snippet_comment(writer, "fstune %s, simulated surface \"%s\": an example, nothing was measured",
                        recommendation->version, simulator != NULL ? simulator : "");
        return;
    }
    snippet_comment(
        writer, "fstune %s, measured %s on host %s in %s (%s, device %s), kernel %s", recommendation->version,
        recommendation->measured_at[0] != '\0' ? recommendation->measured_at : "at an unknown time",
        recommendation->hostname,
        recommendation->path[0] != '\0' ? recommendation->path : "an unknown directory",
        recommendation->file_system, recommendation->device, recommendation->kernel);
}

static void print_rate(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE], iops[UNITS_TEXT_SIZE],
        p99[UNITS_TEXT_SIZE] = "not known";
    if (isnan(recommendation->mean_bps)) {
        snippet_comment(writer, "measured: the rate is not known");
        return;
    }
    if (!isnan(recommendation->latency_p99_ns))
        units_format_duration((uint64_t)recommendation->latency_p99_ns, p99);
    if (isnan(recommendation->ci_low_bps) || isnan(recommendation->ci_high_bps))
        snippet_comment(writer, "measured: %s (%llu runs, too few for an interval)",
                        units_format_rate(recommendation->mean_bps, mean),
                        (unsigned long long)recommendation->replays);
    else
        snippet_comment(
            writer, "measured: %s, %.0f%% interval %s to %s over %llu runs; %s IOPS, p99 %s",
            units_format_rate(recommendation->mean_bps, mean), 100 * recommendation->confidence_share,
            units_format_rate(recommendation->ci_low_bps, low),
            units_format_rate(recommendation->ci_high_bps, high), (unsigned long long)recommendation->replays,
            units_format_count(recommendation->iops, iops), p99);
}

/* Rounded down: 0.998 is not "sure". */
static void print_sureness(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    if (isnan(recommendation->probability))
        snippet_comment(writer, "how sure: not known");
    else
        snippet_comment(
            writer,
            "how sure: with probability %.2f no other setting is better by more than the tolerance; %s",
            floor(100 * recommendation->probability) / 100,
            recommendation->conclusive ? "settled" : "NOT settled yet, more budget would tell");
    if (!isnan(recommendation->speedup) && !isnan(recommendation->speedup_low) &&
        !isnan(recommendation->speedup_high))
        snippet_comment(writer, "against the baseline: %.2f times (%.2f to %.2f)", recommendation->speedup,
                        recommendation->speedup_low, recommendation->speedup_high);
}

void snippet_header(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct recommendation *recommendation = request->recommendation;
    char point[FACTORS_TEXT_SIZE];
    print_origin(writer, recommendation);
    /* The point's text names what differs from sync end, which says nothing about reads. */
    snippet_comment(writer, "pattern %s; recommended: %s%s", recommendation->pattern.name,
                    factors_format(&recommendation->point, point),
                    recommendation->point.sync == SYNC_END && pattern_writes(&recommendation->pattern)
                        ? ", sync end"
                        : "");
    print_rate(writer, recommendation);
    print_sureness(writer, recommendation);
}
