/* fstune emit seastar: io_properties.yaml of Seastar, ScyllaDB and Redpanda, of four answers. */
#include "bench/base/units.h"
#include "tuner/base/utf8.h"
#include "tuner/emit/snippet_template.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALL_MOST_BYTES  16384U
#define LARGE_LEAST_BYTES 65536U
#define FIGURE_MOST       1e15 /* beyond any disk: a damaged answer */
#define MISSING_SIZE      400

enum figure { READ_IOPS, READ_BANDWIDTH, WRITE_IOPS, WRITE_BANDWIDTH, FIGURE_N };

static const struct {
    const char *key;
    enum pattern_kind kind;
    const char *pattern, *size; /* what to measure for it */
} figures[FIGURE_N] = {
    [READ_IOPS] = {"read_iops", PATTERN_RAND_READ, "randread", "4k"},
    [READ_BANDWIDTH] = {"read_bandwidth", PATTERN_SEQ_READ, "read", "1m"},
    [WRITE_IOPS] = {"write_iops", PATTERN_RAND_WRITE, "randwrite", "4k"},
    [WRITE_BANDWIDTH] = {"write_bandwidth", PATTERN_SEQ_WRITE, "write", "1m"},
};

static bool is_iops(enum figure figure)
{
    return figure == READ_IOPS || figure == WRITE_IOPS;
}

/* FIGURE_N: it supplies none. */
static enum figure seastar_figure_of(const struct recommendation *recommendation)
{
    for (enum figure i = 0; i < FIGURE_N; i++) {
        uint64_t bytes = recommendation->point.request_size_bytes;
        if (recommendation->pattern.percent[figures[i].kind] == 100 &&
            (is_iops(i) ? bytes <= SMALL_MOST_BYTES : bytes >= LARGE_LEAST_BYTES))
            return i;
    }
    return FIGURE_N;
}

static int refuse_seastar(const struct recommendation *recommendation, const char *why, struct err *err)
{
    char size[UNITS_TEXT_SIZE];
    return err_set(err, -EINVAL, "the answer for %s at %s %s", recommendation->pattern.name,
                   units_format_size(recommendation->point.request_size_bytes, size), why);
}

/* Seastar's I/O is direct; a rate of the page cache would promise it what it never sees. */
static int check_answer(const struct recommendation *recommendation, const struct recommendation *first,
                        double value, struct err *err)
{
    if (!recommendation->point.direct)
        return refuse_seastar(recommendation,
                              "is buffered, and Seastar's I/O never is; measure with --direct 1", err);
    if (recommendation->simulated != first->simulated ||
        strcmp(recommendation->hostname, first->hostname) != 0 ||
        strcmp(recommendation->path, first->path) != 0)
        return refuse_seastar(
            recommendation, "is of another machine or directory than the first; four of one disk are needed",
            err);
    if (!(value >= 1 && value < FIGURE_MOST))
        return refuse_seastar(recommendation, "has no figure; measure it again", err);
    return 0;
}

static int collect_seastar_figures(const struct snippet_request *request, double values[FIGURE_N],
                                   struct err *err)
{
    for (size_t i = 0; i <= request->n_more; i++) {
        const struct recommendation *recommendation = snippet_answer(request, i);
        enum figure figure = seastar_figure_of(recommendation);
        if (figure == FIGURE_N)
            return refuse_seastar(
                recommendation,
                "supplies none of the figures: they are IOPS of randread and randwrite up to 16k, "
                "bandwidth of read and write from 64k",
                err);
        double value = is_iops(figure) ? recommendation->iops : recommendation->mean_bps;
        int result = check_answer(recommendation, request->recommendation, value, err);
        if (result < 0)
            return result;
        if (!isnan(values[figure]))
            return refuse_seastar(recommendation,
                                  "supplies a figure that another one supplied before; leave one out", err);
        values[figure] = value;
    }
    return 0;
}

static int check_complete(const double values[FIGURE_N], struct err *err)
{
    char missing[MISSING_SIZE] = "";
    for (enum figure i = 0; i < FIGURE_N; i++) {
        size_t length = strlen(missing);
        if (isnan(values[i]))
            snprintf(missing + length, sizeof missing - length, "%s%s (--pattern %s --request-size %s)",
                     length > 0 ? ", " : "", figures[i].key, figures[i].pattern, figures[i].size);
    }
    if (missing[0] == '\0')
        return 0;
    return err_set(
        err, -EINVAL,
        "all four figures are needed, and %s missing: measure with --direct 1, and give each answer with "
        "a --from of its own",
        missing);
}

/* A text of JSON in UTF-8 is one of YAML, unless it holds C1 controls (U+0080 to U+009F). */
static int check_path(const char *path, struct err *err)
{
    int result = snippet_check_path(path, "", err);
    bool is_text = true;
    for (const char *c = path; *c != '\0' && is_text; c += utf8_length(c))
        is_text = utf8_length(c) > 0 && !(c[0] == '\xc2' && (unsigned char)c[1] < 0xa0);
    if (result == 0 && !is_text)
        return err_set(err, -EINVAL,
                       "the path is no plain text in UTF-8, which YAML needs; rename or link it");
    return result;
}

int snippet_own_seastar(struct snippet_template *run)
{
    const struct snippet_request *request = run->request;
    struct snippet_request one = *request;
    double values[FIGURE_N] = {NAN, NAN, NAN, NAN};
    const char *path = request->image[0] != '\0' ? request->image : request->recommendation->path;
    path = path[0] != '\0' ? path : "/path/to/directory";
    int result = collect_seastar_figures(request, values, run->err);
    if (result == 0)
        result = check_complete(values, run->err);
    if (result == 0)
        result = check_path(path, run->err);
    if (result < 0)
        return result;
    snippet_value(run, "mount_point", "%s", path);
    for (enum figure i = 0; i < FIGURE_N; i++)
        snippet_value(run, figures[i].key, "%.0f", floor(values[i]));
    for (size_t i = 0; i <= request->n_more; i++) {
        one.recommendation = snippet_answer(request, i);
        snippet_header(run->writer, &one);
    }
    return 0;
}
