/* fio as a child process. */
#include "tuner/report/cross_check_fio.h"

#include "tuner/base/child.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_TIMEOUT_NS 20000000000ULL
#define ROUNDED_UP_MS      0.5 /* of a run time, on average */

/* The first line that says something; fio's own name before it is not repeated. */
static int first_line(const char *text, const char **ret_line)
{
    text += strspn(text, "\r\n \t");
    if (strncmp(text, "fio: ", 5) == 0)
        text += 5;
    *ret_line = text;
    size_t length = strcspn(text, "\r\n");
    return length < 300 ? (int)length : 300;
}

static int report_failure(const struct child_result *result, struct err *err)
{
    const char *line;
    int length = first_line(result->errors, &line);
    if (length == 0 && result->output[strspn(result->output, "\r\n \t")] != '{')
        length = first_line(result->output, &line);
    if (length > 0)
        return err_set(err, -EIO, "fio failed: %.*s", length, line);
    if (result->code < 0)
        return err_set(err, -EIO, "fio died of signal %d", -result->code);
    return err_set(err, -EIO, "fio failed with exit code %d and without a word", result->code);
}

int cross_check_fio_version(const atomic_int *interrupted, char *ret_version, size_t size, struct err *err)
{
    static const char *const arguments[] = {"fio", "--version", NULL};
    struct child child = {
        .arguments = arguments, .timeout_ns = VERSION_TIMEOUT_NS, .interrupted = interrupted};
    struct child_result result = {0};
    int code = child_run(&child, &result, err);
    if (code == -ENOENT)
        return err_set(err, code, "--cross-check: fio is not installed; install the package fio");
    if (code < 0)
        return code;
    const char *text = result.output;
    if (result.code != 0 || strncmp(text, "fio-", 4) != 0)
        code = report_failure(&result, err);
    else
        snprintf(ret_version, size, "%.*s", (int)strcspn(text + 4, "\r\n"), text + 4);
    child_free(&result);
    return code;
}

static double number_in_fio_json(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* One side of one job: its bytes, and the run time that fio rounded up. */
static int add_side(const json_t *job, const char *name, uint64_t *bytes, double *ms, struct err *err)
{
    const json_t *side = json_object_get(job, name);
    if (!json_is_integer(json_object_get(side, "io_bytes")) ||
        !json_is_integer(json_object_get(side, "runtime")))
        return err_set(err, -EPROTO, "fio's JSON lacks the bytes or the run time of its job");
    uint64_t moved = (uint64_t)number_in_fio_json(side, "io_bytes");
    *bytes += moved;
    if (moved > 0)
        *ms = fmax(*ms, number_in_fio_json(side, "runtime"));
    return 0;
}

/* What all jobs say of the time that they share, in milliseconds. */
struct job_times {
    bool starts_known;
    double first_start, last_end, longest;
};

static void add_times(const json_t *job, double ms, struct job_times *times)
{
    const json_t *start = json_object_get(job, "job_start"); /* since 1970; not of older versions */
    times->starts_known &= json_is_integer(start);
    times->first_start = fmin(times->first_start, json_number_value(start));
    times->last_end = fmax(times->last_end, json_number_value(start) + ms);
    times->longest = fmax(times->longest, ms);
}

static int add_job(const json_t *job, struct fio_figures *figures, struct job_times *times, struct err *err)
{
    uint64_t read = 0, written = 0;
    double ms = 0;
    int error = (int)number_in_fio_json(job, "error");
    if (error != 0)
        return err_sys(err, -EIO, "fio's job failed with error %d", error);
    int result = add_side(job, "read", &read, &ms, err);
    if (result == 0)
        result = add_side(job, "write", &written, &ms, err);
    if (result < 0)
        return result;
    add_times(job, ms, times);
    figures->bytes_read += read;
    figures->bytes_written += written;
    return 0;
}

int cross_check_fio_parse(const char *text, uint64_t bytes, uint64_t excess_bytes, struct fio_figures *ret,
                          struct err *err)
{
    struct fio_figures figures = {0};
    struct job_times times = {.starts_known = true, .first_start = INFINITY};
    const char *start = strchr(text, '{'); /* fio prints its notes before it */
    json_t *document = start != NULL ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    const json_t *jobs = json_object_get(document, "jobs");
    int result = 0;
    if (json_array_size(jobs) == 0)
        result = err_set(err, -EPROTO, "fio printed no JSON with jobs in it");
    for (size_t i = 0; i < json_array_size(jobs) && result == 0; i++)
        result = add_job(json_array_get(jobs, i), &figures, &times, err);
    uint64_t moved = figures.bytes_read + figures.bytes_written;
    if (result == 0 && (moved < bytes || moved - bytes > excess_bytes))
        result =
            err_set(err, -EIO, "fio moved %" PRIu64 " bytes where it was to move %" PRIu64, moved, bytes);
    figures.span_known = times.starts_known || json_array_size(jobs) == 1;
    figures.span_ms = times.starts_known ? times.last_end - times.first_start : times.longest;
    if (figures.span_ms > 0)
        figures.throughput_bps = (double)moved / (figures.span_ms - ROUNDED_UP_MS) * 1e3;
    if (result == 0)
        *ret = figures;
    json_decref(document);
    return result;
}

/* setpriv lets fio die with the thread that waits for it, also where fstune gets no chance to end it. */
static int run_fio(struct child *child, const char *const *arguments, struct child_result *ret,
                   struct err *err)
{
    child->arguments = arguments;
    int code = child_run(child, ret, err);
    if (code != -ENOENT)
        return code;
    child->arguments = arguments + 3;
    return child_run(child, ret, err);
}

int cross_check_fio_run(const struct fio_job *job, uint64_t timeout_ns, const atomic_int *interrupted,
                        struct fio_figures *ret, struct err *err)
{
    /* --readonly goes with no job that writes: with it fio refuses such a job. */
    const char *readonly = pattern_writes(job->pattern) ? NULL : "--readonly";
    const char *const arguments[] = {
        "setpriv", "--pdeathsig", "KILL", "fio", "--output-format=json", "-", readonly, NULL,
    };
    char *text = NULL;
    struct child_result result = {0};
    int code = fio_job_text(job, &text);
    if (code < 0)
        return err_set(err, code, "no memory for fio's job");
    struct child child = {.input = text, .timeout_ns = timeout_ns, .interrupted = interrupted};
    code = run_fio(&child, arguments, &result, err);
    free(text);
    if (code < 0)
        return code;
    code = result.code != 0 ? report_failure(&result, err)
                            : cross_check_fio_parse(result.output, fio_job_bytes(job),
                                                    fio_job_excess_bytes(job), ret, err);
    child_free(&result);
    return code;
}
