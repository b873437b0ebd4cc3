/* tuner/emit/snippet: what PostgreSQL can take from answers that were measured as it does its I/O, and how to
 * measure what is missing.
 *
 * It reads pages of 8 kB through the page cache: random ones as many at a time as effective_io_concurrency
 * says, by requests for read-ahead or, from version 18 on, by workers or io_uring; scans one after another,
 * from version 17 on joined. Its log is written in pages, each commit with a flush. A figure of any other way
 * says nothing about it. */
#include "tuner/emit/snippet_template.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PAGE_BYTES       8192U
#define PAGE_KB          8U
#define COMBINE_STANDARD 128U
#define COMBINE_MOST_17  256U
#define COMBINE_MOST_18  1024U
/* The server's default, made for disks of which most random reads are served from memory. */
#define PAGE_COST_MOST    4.0
#define PAGE_COST_LEAST   1.1
#define COST_LEAST_RUNS   3
#define DELAY_SHARE       0.5 /* of a flush, as the server's manual advises */
#define DELAY_MOST_US     100000.0
#define COMMAND_TEXT_SIZE 200

enum role { ROLE_RANDOM, ROLE_SCAN, ROLE_LOG, ROLE_N };

static const struct {
    enum pattern_kind kind;
    const char *value;    /* name of what says that it fits */
    const char *settings; /* of the server */
    const char *command;
} roles[ROLE_N] = {
    [ROLE_RANDOM] = {PATTERN_RAND_READ, "random", "effective_io_concurrency",
                     "--pattern randread --request-size 8k --queue-depth 1..256 --direct 0 --api psync,pool"},
    [ROLE_SCAN] = {PATTERN_SEQ_READ, "scan", "io_combine_limit and random_page_cost",
                   "--pattern read --request-size 8k..256k --queue-depth 1 --direct 0 --api psync --current "
                   "request_size=8k"},
    [ROLE_LOG] = {PATTERN_SEQ_WRITE, "log", "commit_delay",
                  "--pattern write --request-size 8k --queue-depth 1 --direct 0 --api psync --sync each"},
};

/* ROLE_N: of a mixed load, or of random writes, which the server leaves to the kernel. */
static enum role role_of(const struct recommendation *answer)
{
    enum role role = ROLE_RANDOM;
    while (role < ROLE_N && answer->pattern.percent[roles[role].kind] != 100)
        role++;
    return role;
}

static const char *why_no_reads(const struct recommendation *answer)
{
    const char *cache = recommendation_fact_text(answer, "cache");
    if (answer->point.direct)
        return "it went past the page cache, and the server reads through it";
    if (cache != NULL && strcmp(cache, "warm") == 0)
        return "it was served from the page cache (--cache warm)";
    return answer->point.threads > 1 ? "it had several threads, and a session has one" : NULL;
}

static const char *why_no_random(const struct recommendation *answer, unsigned major)
{
    const struct point *point = &answer->point;
    if (why_no_reads(answer) != NULL)
        return why_no_reads(answer);
    if (point->request_size_bytes != PAGE_BYTES)
        return "its requests are no pages of 8 kB";
    if (point->api == API_IO_URING && major < 18)
        return "io_uring came with version 18 (--target-version 18)";
    return point->api == API_LIBAIO || point->api == API_PVEC ? "the server has no such API" : NULL;
}

static const char *why_no_scan(const struct recommendation *answer)
{
    const struct point *point = &answer->point;
    if (why_no_reads(answer) != NULL)
        return why_no_reads(answer);
    if (point->request_size_bytes % PAGE_BYTES != 0)
        return "its requests are no whole pages of 8 kB";
    return point->queue_depth > 1 ? "a scan has one read in flight, and the kernel reads ahead of it" : NULL;
}

static const char *why_no_log(const struct recommendation *answer)
{
    const struct point *point = &answer->point;
    if (point->sync != SYNC_EACH)
        return "its writes were not each durable";
    if (point->direct)
        return "it went past the page cache, and the server writes its log through it";
    if (point->request_size_bytes != PAGE_BYTES)
        return "its requests are no pages of 8 kB";
    return point->queue_depth > 1 || point->threads > 1 ? "the log has one write in flight" : NULL;
}

/* Why an answer says nothing about what the server does; NULL where it does. */
static const char *why_not(const struct recommendation *answer, unsigned major)
{
    switch (role_of(answer)) {
    case ROLE_RANDOM:
        return why_no_random(answer, major);
    case ROLE_SCAN:
        return why_no_scan(answer);
    case ROLE_LOG:
        return why_no_log(answer);
    default:
        return "its pattern is neither that of random reads, nor of scans, nor of the log";
    }
}

static void set_random(struct snippet_template *run, const struct point *point)
{
    snippet_value(run, "random_depth", "%u", point->queue_depth);
    snippet_value(run, "random_api", "%s", api_names[point->api]);
}

static void set_scan(struct snippet_template *run, const struct point *point)
{
    uint64_t most = run->request->version[0] >= 18 ? COMBINE_MOST_18 : COMBINE_MOST_17;
    uint64_t limit = point->request_size_bytes / 1024 / PAGE_KB * PAGE_KB;
    snippet_value(run, "most", "%llu", (unsigned long long)most);
    snippet_value(run, "cut_kb", "%d", limit > most);
    snippet_value(run, "joins_more", "%d", limit > COMBINE_STANDARD);
    snippet_value(run, "combine_kb", "%llu", (unsigned long long)(limit > most ? most : limit));
}

static void set_log(struct snippet_template *run, const struct recommendation *answer)
{
    double us = answer->latency_mean_ns / 1000;
    if (!isfinite(us))
        return;
    snippet_value(run, "flush_us", "%.0f", us);
    snippet_value(run, "commit_delay", "%.0f", fmin(ceil(DELAY_SHARE * us), DELAY_MOST_US));
}

/* Reads of single pages one after another through the page cache: {mean, low, high} in bytes/s from an answer
 * that measured them, whatever it recommends. NULL where it did not, or too seldom. */
static const json_t *find_page_reads(const struct recommendation *answer)
{
    const json_t *points = json_object_get(answer->document, "points"), *row;
    size_t i;
    json_array_foreach(points, i, row)
    {
        struct point point;
        if (journal_point(row, &point) == 0 && point.request_size_bytes == PAGE_BYTES &&
            point.queue_depth == 1 && point.threads == 1 && !point.direct && point.api == API_PSYNC &&
            json_read_number(row, "replays") >= COST_LEAST_RUNS && json_read_number(row, "ci_low") > 0)
            return row;
    }
    return NULL;
}

static void set_page_cost(struct snippet_template *run, const json_t *random, const json_t *scan)
{
    if (random == NULL || scan == NULL)
        return;
    double ratio = json_read_number(scan, "mean") / json_read_number(random, "mean");
    snippet_value(run, "page_ratio", "%.1f", ratio);
    snippet_value(run, "page_ratio_low", "%.1f",
                  json_read_number(scan, "ci_low") / json_read_number(random, "ci_high"));
    snippet_value(run, "page_ratio_high", "%.1f",
                  json_read_number(scan, "ci_high") / json_read_number(random, "ci_low"));
    if (ratio < PAGE_COST_MOST)
        snippet_value(run, "page_cost", "%.1f", fmax(ratio, PAGE_COST_LEAST));
}

static int refuse_postgresql(const struct recommendation *answer, const char *why, struct err *err)
{
    char size[UNITS_TEXT_SIZE];
    return err_set(err, -EINVAL, "the answer for %s at %s %s", answer->pattern.name,
                   units_format_size(answer->point.request_size_bytes, size), why);
}

static int take_answer(struct snippet_template *run, const struct recommendation *answer, bool taken[ROLE_N])
{
    enum role role = role_of(answer);
    const char *why = why_not(answer, run->request->version[0]);
    const struct recommendation *first = run->request->recommendation;
    if (strcmp(answer->hostname, first->hostname) != 0 || strcmp(answer->path, first->path) != 0)
        return refuse_postgresql(answer, "is of another machine or directory than the first", run->err);
    if (role < ROLE_N && taken[role])
        return refuse_postgresql(answer, "is the second of its pattern; leave one out", run->err);
    if (why != NULL) {
        snippet_comment(run->writer,
                        "not mapped: this answer was not measured as the server does its I/O: %s", why);
        return 0;
    }
    taken[role] = true;
    snippet_value(run, roles[role].value, "1");
    if (role == ROLE_RANDOM)
        set_random(run, &answer->point);
    else if (role == ROLE_SCAN)
        set_scan(run, &answer->point);
    else
        set_log(run, answer);
    return 0;
}

static void name_missing(struct snippet_template *run, const bool taken[ROLE_N])
{
    bool is_new = run->request->version[0] >= 18;
    for (enum role role = 0; role < ROLE_N; role++) {
        if (!taken[role])
            snippet_comment(
                run->writer, "for %s measure as the server does, here: fstune recommend %s%s --json",
                roles[role].settings, roles[role].command, is_new && role == ROLE_RANDOM ? ",io_uring" : "");
    }
}

/* What the template names and no answer gives is empty. */
static void clear_values(struct snippet_template *run)
{
    static const char *const names[] = {"random",          "scan",      "log",         "random_api",
                                        "random_depth",    "most",      "cut_kb",      "joins_more",
                                        "combine_kb",      "flush_us",  "page_ratio",  "page_ratio_low",
                                        "page_ratio_high", "page_cost", "commit_delay"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        snippet_value(run, names[i], "%s", "");
}

int snippet_own_postgresql(struct snippet_template *run)
{
    struct snippet_request one = *run->request;
    const json_t *random = NULL, *scan = NULL;
    bool taken[ROLE_N] = {false};
    int result = 0;
    clear_values(run);
    for (size_t i = 0; i <= run->request->n_more && result == 0; i++) {
        const struct recommendation *answer = snippet_answer(run->request, i);
        one.recommendation = answer;
        snippet_header(run->writer, &one);
        result = take_answer(run, answer, taken);
        random = role_of(answer) == ROLE_RANDOM ? find_page_reads(answer) : random;
        scan = role_of(answer) == ROLE_SCAN ? find_page_reads(answer) : scan;
    }
    if (result < 0)
        return result;
    set_page_cost(run, random, scan);
    name_missing(run, taken);
    return 0;
}
