/* tests/tuner/experiment/report_experiment_rig: documents of experiments made to order, and what is printed
 * of them. */
#pragma once

#include "tests/tuner/json_check.h"
#include "tuner/experiment/report_experiment.h"

static struct err err;

/* Scatter of the runs of a point, in percent; the same for all, and 0 on average in logarithms or nearly. */
static const double scatter[] = {-1.0, 0.6, 1.0, -0.6, 0.0};

/* request_size 4k, 16k, 64k x queue_depth 1, 4, 16: the depth counts up to 4 and no further. */
static inline double shape_bps(size_t size, size_t depth)
{
    static const double of_size[] = {1e8, 3e8, 9e8}, of_depth[] = {1, 2, 2.001};
    return of_size[size] * of_depth[depth];
}

static inline json_t *point_json(json_t *levels, double bps, size_t n_runs, double latency_ns, size_t *number)
{
    double sum = 0, squares = 0;
    json_t *runs = json_array();
    for (size_t i = 0; i < n_runs; i++) {
        double own = bps * (1 + scatter[i % 5] / 100);
        sum += own;
        squares += own * own;
        json_array_append_new(runs, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "number",
                                              (int)(*number)++, "throughput_bps", own, "iops", own / 4096,
                                              "latency_mean_ns", latency_ns, "latency_p99_ns", 2 * latency_ns,
                                              "seconds", 2.0, "bytes", 2 * own, "batches", 100));
    }
    double n = (double)n_runs, mean = sum / n;
    json_t *std = n_runs > 1 ? json_real(sqrt((squares - n * mean * mean) / (n - 1))) : json_null();
    return json_pack("{s:o, s:f, s:f, s:f, s:o, s:f, s:i, s:{s:f, s:f}, s:[], s:n, s:o}", "levels", levels,
                     "mean", mean, "ci_low", mean * 0.99, "ci_high", mean * 1.01, "std", std, "iops",
                     mean / 4096, "replays", (int)n_runs, "latency_ns", "mean", latency_ns, "p99",
                     2 * latency_ns, "warnings", "failed", "runs", runs);
}

static inline json_t *document_of(json_t *factors, json_t *points)
{
    return json_pack(
        "{s:s, s:s, s:b, s:s, s:{s:s, s:I}, s:i, s:i, s:o, s:{s:s, s:i, s:s, s:i, s:s}, s:o, s:[], "
        "s:[], s:{s:b, s:s}, s:f, s:i, s:i}",
        "schema", "fstune/experiment/1", "version", "0.1.0", "interrupted", 0, "name", "made up", "design",
        "name", "full", "points", (json_int_t)json_array_size(points), "replays_asked", 5, "seed", 1,
        "factors", factors, "fixed", "pattern", "randwrite", "direct", 1, "api", "io_uring", "threads", 1,
        "sync", "end", "points", points, "dropped", "warnings", "system", "simulated", 1, "surface", "none",
        "seconds", 90.0, "bytes_written", 1000000, "bytes_read", 0);
}

static inline json_t *size_factor(void)
{
    return json_pack("{s:s, s:s, s:b, s:[iii], s:[sss]}", "name", "request_size", "unit", "bytes", "ordered",
                     1, "levels", 4096, 16384, 65536, "texts", "4k", "16k", "64k");
}

static inline json_t *depth_factor(void)
{
    return json_pack("{s:s, s:s, s:b, s:[iii], s:[sss]}", "name", "queue_depth", "unit", "", "ordered", 1,
                     "levels", 1, 4, 16, "texts", "1", "4", "16");
}

/* Sizes and depths of above; points in an order of their own, the last level of the size first. */
static inline json_t *shape_document(size_t n_runs)
{
    size_t number = 0;
    json_t *points = json_array();
    for (size_t size = 3; size-- > 0;) {
        for (size_t depth = 0; depth < 3; depth++) {
            json_t *levels =
                json_pack("{s:i, s:i}", "request_size", 4096 << (2 * size), "queue_depth", 1 << (2 * depth));
            json_array_append_new(points, point_json(levels, shape_bps(size, depth), n_runs,
                                                     1e5 * (double)(1 + depth), &number));
        }
    }
    return document_of(json_pack("[o, o]", size_factor(), depth_factor()), points);
}

static inline json_t *shape_point(const json_t *document, size_t point)
{
    return json_array_get(json_object_get(document, "points"), point);
}

/* What is printed, or "" with a failure in err and *ret_result. The caller frees it; the document is
 * released. */
static inline char *printed(json_t *document, enum settings_format format, int *ret_result)
{
    char *text = NULL;
    err = (struct err){0};
    FILE *out = memory_stream(&text);
    *ret_result = report_experiment(out, document, format, &err);
    fclose(out);
    json_decref(document);
    return text;
}

static inline char *text_of_document(json_t *document)
{
    int result;
    char *text = printed(document, FORMAT_TEXT, &result);
    if (result != 0)
        fail_msg("%s", err.text);
    return text;
}

/* Releases the document. */
static inline void check_text(json_t *document, const char *const *parts)
{
    AUTO(auto_free) char *text = text_of_document(document);
    check_has(text, parts);
}

#define CHECK_TEXT(document, ...) check_text(document, (const char *const[]){__VA_ARGS__, NULL})
