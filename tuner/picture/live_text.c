/* tuner/picture/live_text: tables of rates, and lines that are left out where there is no room. */
#include "tuner/picture/live_text.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE    384
#define MOST_COLUMNS 80
#define MOST_LINES   32
#define MOST_ROWS    24
#define NAME_WIDTH   34

/* The higher, the earlier a line is left out. */
enum rank {
    RANK_TITLE,
    RANK_ALL,
    RANK_BYTES,
    RANK_KINDS,
    RANK_DEPTH,
    RANK_STREAM,
    RANK_HEAD,
    RANK_BLANK = 90
};

struct lines {
    char text[MOST_LINES][LINE_SIZE];
    int rank[MOST_LINES];
    size_t n;
};

static void add(struct lines *lines, int rank, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct lines *lines, int rank, const char *format, ...)
{
    va_list arguments;
    if (lines->n == MOST_LINES)
        return;
    va_start(arguments, format);
    vsnprintf(lines->text[lines->n], LINE_SIZE, format, arguments);
    va_end(arguments);
    lines->rank[lines->n++] = rank;
}

/* Whole characters, as many as there are columns. */
static size_t cut_at(const char *line, size_t columns)
{
    size_t at = 0;
    for (size_t column = 0; column < columns && line[at] != '\0'; column++) {
        size_t length = utf8_length(line + at);
        at += length > 0 ? length : 1;
    }
    return at;
}

static const char *percent(double share, char buffer[UNITS_TEXT_SIZE])
{
    if (isnan(share))
        snprintf(buffer, UNITS_TEXT_SIZE, "-");
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "%.0f %%", 100 * share);
    return buffer;
}

static const char *size_text(uint64_t bytes, char buffer[UNITS_TEXT_SIZE])
{
    if (bytes == 0)
        snprintf(buffer, UNITS_TEXT_SIZE, "-");
    else
        units_format_size(bytes, buffer);
    return buffer;
}

static const char *depth_text(double depth, char buffer[UNITS_TEXT_SIZE])
{
    if (isnan(depth))
        snprintf(buffer, UNITS_TEXT_SIZE, "-");
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "%.1f", depth);
    return buffer;
}

/* "12 s", then as durations are written. */
static const char *time_text(double seconds, char buffer[UNITS_TEXT_SIZE])
{
    if (seconds < 59.5)
        snprintf(buffer, UNITS_TEXT_SIZE, "%.0f s", seconds);
    else
        units_format_duration((uint64_t)(seconds * 1e9), buffer);
    return buffer;
}

/* The pattern's name of these shares; "-" where nothing came. */
static void name_pattern(const double share[SUMMARY_N_KINDS], char name[PATTERN_NAME_SIZE])
{
    unsigned percents[SUMMARY_N_KINDS];
    char text[PATTERN_NAME_SIZE] = "";
    struct pattern pattern;
    if (!isnan(share[0]) && summary_percent(share, percents))
        snprintf(text, sizeof text, "seq-read=%u,seq-write=%u,rand-read=%u,rand-write=%u",
                 percents[SUMMARY_SEQ_READ], percents[SUMMARY_SEQ_WRITE], percents[SUMMARY_RAND_READ],
                 percents[SUMMARY_RAND_WRITE]);
    snprintf(name, PATTERN_NAME_SIZE, "%s", pattern_parse(text, &pattern, NULL) == 0 ? pattern.name : "-");
}

static void add_title(struct lines *lines, const struct live_figures *figures)
{
    char time[UNITS_TEXT_SIZE], n[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], what[LINE_SIZE / 2];
    const uint64_t *moved = figures->last->bytes;
    add(lines, RANK_TITLE, "%s, %s requests, %s: %s", time_text(figures->seconds, time),
        units_format_count((double)look_requests(figures->last), n),
        units_format_bytes(moved[PROFILE_READ] + moved[PROFILE_WRITE], bytes),
        text_printable(figures->what, what, sizeof what));
}

#define ROW_FORMAT "%-18s %9s %9s %10s %10s %7s %7s"

static void add_kinds(struct lines *lines, const struct live_figures *figures)
{
    static const char *const names[] = {[SUMMARY_SEQ_READ] = "read, in sequence",
                                        [SUMMARY_RAND_READ] = "read, at random",
                                        [SUMMARY_SEQ_WRITE] = "write, in sequence",
                                        [SUMMARY_RAND_WRITE] = "write, at random"};
    static const enum summary_kind order[] = {SUMMARY_SEQ_READ, SUMMARY_RAND_READ, SUMMARY_SEQ_WRITE,
                                              SUMMARY_RAND_WRITE};
    const struct look_rates *now = figures->now, *mean = figures->mean;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE], d[UNITS_TEXT_SIZE], e[UNITS_TEXT_SIZE],
        f[UNITS_TEXT_SIZE];
    add(lines, RANK_HEAD, ROW_FORMAT, "requests", "now/s", "mean/s", "bytes/s", "mean", "share", "mean");
    for (size_t i = 0; i < SUMMARY_N_KINDS; i++) {
        enum summary_kind kind = order[i];
        add(lines, RANK_KINDS, ROW_FORMAT, names[kind], units_format_count(now->requests[kind], a),
            units_format_count(mean->requests[kind], b), text_short_rate(figures->kind_bps[kind], c),
            text_short_rate(figures->kind_mean_bps[kind], d), percent(now->share[kind], e),
            percent(mean->share[kind], f));
    }
    add(lines, RANK_ALL, "%-18s %9s %9s %10s %10s", "all", units_format_count(now->all_requests, a),
        units_format_count(mean->all_requests, b),
        units_format_rate(now->bps[PROFILE_READ] + now->bps[PROFILE_WRITE], c),
        units_format_rate(mean->bps[PROFILE_READ] + mean->bps[PROFILE_WRITE], d));
}

static void add_bytes(struct lines *lines, const struct live_figures *figures)
{
    static const char *const names[] = {[PROFILE_READ] = "read", [PROFILE_WRITE] = "write"};
    const struct look_rates *now = figures->now, *mean = figures->mean;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE], d[UNITS_TEXT_SIZE], e[UNITS_TEXT_SIZE];
    add(lines, RANK_HEAD, ROW_FORMAT, "bytes", "now/s", "mean/s", "in all", "", "size", "usual");
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++)
        add(lines, RANK_BYTES, ROW_FORMAT, names[i], units_format_rate(now->bps[i], a),
            units_format_rate(mean->bps[i], b), units_format_bytes(figures->last->bytes[i], c), "",
            size_text(now->size[i], d), size_text(mean->size[i], e));
}

static void add_depth(struct lines *lines, const struct live_figures *figures)
{
    const struct look_rates *now = figures->now, *mean = figures->mean;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE], d[UNITS_TEXT_SIZE], e[UNITS_TEXT_SIZE];
    add(lines, RANK_DEPTH, "depth %s (mean %s)   flushes/s %s (mean %s)   direct %s   lost %" PRIu64,
        depth_text(now->depth, a), depth_text(mean->depth, b), units_format_count(now->flushes, c),
        units_format_count(mean->flushes, d), percent(mean->direct_share, e),
        figures->last->n_lost + figures->last->n_unjudged);
}

/* A character for each second, in eighths of the highest. */
static void add_history(struct lines *lines, const struct live_figures *figures)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    char bars[LIVE_SECONDS * 4 + 1] = "", most[UNITS_TEXT_SIZE];
    double most_bps = 0;
    size_t at = 0;
    for (size_t i = 0; i < figures->n_history; i++)
        most_bps = fmax(most_bps, figures->history_bps[i]);
    for (size_t i = 0; i < figures->n_history && i < LIVE_SECONDS; i++) {
        size_t level = most_bps > 0 ? (size_t)ceil(8 * figures->history_bps[i] / most_bps) : 0;
        const char *bar = (figures->has_blocks ? blocks : letters)[level];
        at += (size_t)snprintf(bars + at, sizeof bars - at, "%s", bar);
    }
    add(lines, RANK_DEPTH, "|%s| up to %s", bars, units_format_rate(most_bps, most));
}

static void describe_order(const struct look_stream *stream, char *text, size_t size)
{
    double n = (double)look_streams_requests(stream);
    double in_sequence = (double)stream->n[STREAM_SEQUENTIAL] / n;
    char stride[UNITS_TEXT_SIZE];
    if (2 * stream->n[STREAM_STRIDED] > (uint64_t)n)
        snprintf(text, size, "steps %s%s", stream->stride_bytes < 0 ? "-" : "",
                 units_format_size((uint64_t)llabs(stream->stride_bytes), stride));
    else if (in_sequence >= 0.5)
        snprintf(text, size, "%.0f %% seq", 100 * in_sequence);
    else
        snprintf(text, size, "%.0f %% rand", 100 - 100 * in_sequence);
}

/* The end of a long name says more than its beginning. */
static const char *fit_name(const char *name, char buffer[STORE_NAME_SIZE])
{
    text_printable(name[0] != '\0' ? name : "(name unknown)", buffer, STORE_NAME_SIZE);
    const char *shown = buffer;
    size_t n = 0;
    for (const char *c = buffer; *c != '\0'; c += utf8_length(c))
        n++;
    for (; n > NAME_WIDTH; n--)
        shown += utf8_length(shown);
    return shown;
}

static void add_streams(struct lines *lines, const struct live_figures *figures)
{
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE], name[STORE_NAME_SIZE], order[32];
    double seconds = figures->now->seconds > 0 ? figures->now->seconds : NAN;
    add(lines, RANK_HEAD, "%-*s %-5s %8s %10s %5s  order", NAME_WIDTH, "busiest now", "", "now/s", "bytes/s",
        "size");
    for (size_t i = 0; i < figures->n_busiest; i++) {
        const struct look_stream *stream = &figures->busiest[i];
        describe_order(stream, order, sizeof order);
        add(lines, RANK_STREAM + (int)(i > 0 ? i + 1 : 0), "%-*s %-5s %8s %10s %5s  %s", NAME_WIDTH,
            fit_name(figures->busiest_name[i], name), stream->direction == PROFILE_READ ? "read" : "write",
            units_format_count((double)look_streams_requests(stream) / seconds, a),
            units_format_rate((double)stream->n_bytes / seconds, b), size_text(stream->size_bytes, c), order);
    }
}

static void leave_out_one(struct lines *lines)
{
    size_t out = 0;
    for (size_t i = 1; i < lines->n; i++) {
        if (lines->rank[i] >= lines->rank[out])
            out = i;
    }
    lines->n--;
    for (size_t i = out; i < lines->n; i++) {
        memcpy(lines->text[i], lines->text[i + 1], LINE_SIZE);
        lines->rank[i] = lines->rank[i + 1];
    }
}

void live_text_view(const struct live_figures *figures, size_t rows, size_t columns, char *text, size_t size)
{
    struct lines lines = {.n = 0};
    size_t room = rows < 2 ? 2 : rows < MOST_ROWS ? rows : MOST_ROWS, at = 0;
    add_title(&lines, figures);
    add(&lines, RANK_BLANK, "%s", "");
    add_kinds(&lines, figures);
    add(&lines, RANK_BLANK, "%s", "");
    add_bytes(&lines, figures);
    add(&lines, RANK_BLANK, "%s", "");
    add_depth(&lines, figures);
    add_history(&lines, figures);
    if (figures->n_busiest > 0) {
        add(&lines, RANK_BLANK, "%s", "");
        add_streams(&lines, figures);
    }
    /* The cursor stands below the last line. */
    while (lines.n >= room)
        leave_out_one(&lines);
    text[0] = '\0';
    for (size_t i = 0; i < lines.n && at < size; i++) {
        size_t wide = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
        at += (size_t)snprintf(text + at, size - at, "%.*s\n", (int)cut_at(lines.text[i], wide - 1),
                               lines.text[i]);
    }
}

/* What was lost, and the pattern, which may be long. */
static void add_line_end(const struct live_figures *figures, const struct look_rates *rates, char *text,
                         size_t size)
{
    uint64_t n_lost = figures->last->n_lost + figures->last->n_unjudged;
    char name[PATTERN_NAME_SIZE], bytes[UNITS_TEXT_SIZE], lost[UNITS_TEXT_SIZE] = "";
    name_pattern(rates->share, name);
    units_format_bytes(figures->last->bytes[PROFILE_READ] + figures->last->bytes[PROFILE_WRITE], bytes);
    if (n_lost > 0)
        snprintf(lost, sizeof lost, ", %" PRIu64 " lost", n_lost);
    snprintf(text, size, "%s%s%s: %s", figures->has_ended ? ", " : "", figures->has_ended ? bytes : "", lost,
             name);
}

void live_text_line(const struct live_figures *figures, size_t columns, char *text, size_t size)
{
    const struct look_rates *rates = figures->has_ended ? figures->mean : figures->now;
    char time[UNITS_TEXT_SIZE], a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE],
        d[UNITS_TEXT_SIZE], e[UNITS_TEXT_SIZE], end[LINE_SIZE / 2];
    add_line_end(figures, rates, end, sizeof end);
    snprintf(text, size, "%6s: %s/s, %s, depth %s, %s flushes/s, %s requests%s",
             figures->has_ended ? "mean" : time_text(figures->seconds, time),
             units_format_count(rates->all_requests, a),
             units_format_rate(rates->bps[PROFILE_READ] + rates->bps[PROFILE_WRITE], b),
             depth_text(rates->depth, c), units_format_count(rates->flushes, d),
             units_format_count((double)look_requests(figures->last), e), end);
    text[cut_at(text, columns)] = '\0';
}
