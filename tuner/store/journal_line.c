/* One run as an object of JSON, and back. */
#include "tuner/store/journal_line.h"

#include "tuner/base/json.h"
#include "tuner/session/warnings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LARGEST 1e18

static const char *const warmup_names[] = {
    [MEASURE_WARMUP_STABLE] = "stable", [MEASURE_WARMUP_LIMIT] = "limit", [MEASURE_WARMUP_NONE] = "none"};
#define N_WARMUPS (sizeof warmup_names / sizeof warmup_names[0])

static json_t *make_warnings(uint64_t warning_set)
{
    json_t *list = json_array();
    for (unsigned warning = 0; warning < WARNING_N && list != NULL; warning++) {
        if ((warning_set & WARNINGS_BIT(warning)) != 0)
            json_array_append_new(list, json_string(warnings_table[warning].code));
    }
    return list;
}

static json_t *make_latency(const struct sample *sample)
{
    const struct latency_quantiles *latency_quantiles = &sample->latency_quantiles;
    json_t *quantiles = json_array();
    for (size_t i = 0; i < LATENCY_QUANTILES_N && quantiles != NULL && latency_quantiles->n > 0; i++)
        json_array_append_new(quantiles, json_integer((json_int_t)latency_quantiles->ns[i]));
    return json_pack("{s:o, s:o, s:I, s:o}", "mean", json_number(sample->latency_mean_ns), "p99",
                     json_number(sample->latency_p99_ns), "requests", (json_int_t)latency_quantiles->n,
                     "quantiles", quantiles);
}

json_t *journal_line_make(const struct journal_run *run)
{
    const struct sample *sample = &run->sample;
    return json_pack("{s:I, s:f, s:o, s:f, s:f, s:o, s:o, s:f, s:f, s:I, s:I, s:s, s:b, s:b, s:o}", "run",
                     (json_int_t)run->number, "at_seconds", run->at_seconds, "point", json_point(&run->point),
                     "throughput", sample->throughput_bps, "iops", sample->iops, "latency_ns",
                     make_latency(sample), "achieved_depth", json_number(sample->achieved_depth), "seconds",
                     sample->seconds, "warmup_seconds", sample->warmup_seconds, "bytes",
                     (json_int_t)sample->bytes, "moved_bytes", (json_int_t)sample->moved_bytes, "warmup",
                     warmup_names[sample->warmup], "sampled", sample->sampled, "fresh", sample->confirming,
                     "doubts", make_warnings(sample->warning_set));
}

double journal_number(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    double value = json_is_number(member) ? json_number_value(member) : NAN;
    return value > 0 && value <= LARGEST ? value : NAN;
}

/* A number of 0 and above, or -1. */
static double read_number(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    double value = json_is_number(member) ? json_number_value(member) : -1;
    return value >= 0 && value <= LARGEST ? value : -1;
}

static int read_integer(const json_t *value, uint64_t largest, uint64_t *ret_value)
{
    json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < 0 || (uint64_t)integer > largest)
        return -EINVAL;
    *ret_value = (uint64_t)integer;
    return 0;
}

static int read_member(const json_t *object, const char *key, uint64_t largest, uint64_t *ret_value)
{
    return read_integer(json_object_get(object, key), largest, ret_value);
}

int journal_point(const json_t *object, struct point *ret_point)
{
    uint64_t size = 0, write_size = 0, depth = 0, direct = 0, threads = 0;
    struct point point = {0};
    const char *api = json_string_value(json_object_get(object, "api"));
    const char *sync = json_string_value(json_object_get(object, "sync"));
    if (api == NULL || sync == NULL || factors_parse_api(api, &point.api) < 0 ||
        factors_parse_sync(sync, &point.sync) < 0 ||
        read_member(object, "request_size", FACTORS_REQUEST_SIZE_MAX_BYTES, &size) < 0 ||
        read_member(object, "queue_depth", FACTORS_QUEUE_DEPTH_MAX, &depth) < 0 ||
        read_member(object, "direct", 1, &direct) < 0 ||
        read_member(object, "threads", FACTORS_THREADS_MAX, &threads) < 0)
        return -EINVAL;
    if (json_object_get(object, "write_request_size") != NULL &&
        read_member(object, "write_request_size", FACTORS_REQUEST_SIZE_MAX_BYTES, &write_size) < 0)
        return -EINVAL;
    point.request_size_bytes = size;
    factors_set_write_size(&point, write_size);
    point.queue_depth = (uint32_t)depth;
    point.direct = (uint32_t)direct;
    point.threads = (uint32_t)threads;
    if (factors_check(&point, NULL) < 0)
        return -EINVAL;
    *ret_point = point;
    return 0;
}

static int read_latency_quantiles(const json_t *latency, struct latency_quantiles *ret_latency_quantiles)
{
    const json_t *quantiles = json_object_get(latency, "quantiles");
    size_t n = json_array_size(quantiles);
    *ret_latency_quantiles = (struct latency_quantiles){0};
    if (read_member(latency, "requests", (uint64_t)LARGEST, &ret_latency_quantiles->n) < 0 ||
        n != (ret_latency_quantiles->n > 0 ? LATENCY_QUANTILES_N : 0))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (read_integer(json_array_get(quantiles, i), (uint64_t)LARGEST, &ret_latency_quantiles->ns[i]) <
                0 ||
            (i > 0 && ret_latency_quantiles->ns[i] < ret_latency_quantiles->ns[i - 1]))
            return -EINVAL;
    }
    return 0;
}

static int read_warnings(const json_t *list, uint64_t *ret_warnings)
{
    uint64_t warning_set = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *code = json_string_value(json_array_get(list, i));
        enum warning warning = code == NULL ? WARNING_N : warnings_find(code);
        if (warning == WARNING_N)
            return -EINVAL;
        warning_set |= WARNINGS_BIT(warning);
    }
    *ret_warnings = warning_set;
    return json_is_array(list) ? 0 : -EINVAL;
}

static int read_warmup(const json_t *object, enum measure_warmup *ret_warmup)
{
    const char *name = json_string_value(json_object_get(object, "warmup"));
    for (size_t i = 0; i < N_WARMUPS && name != NULL; i++) {
        if (strcmp(name, warmup_names[i]) == 0) {
            *ret_warmup = (enum measure_warmup)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* What has to be a number above 0; the latencies and the depth may be unknown. */
static int read_figures(const json_t *object, struct sample *sample)
{
    const json_t *latency = json_object_get(object, "latency_ns");
    sample->throughput_bps = journal_number(object, "throughput");
    sample->iops = journal_number(object, "iops");
    sample->seconds = journal_number(object, "seconds");
    sample->warmup_seconds = read_number(object, "warmup_seconds");
    sample->achieved_depth = journal_number(object, "achieved_depth");
    sample->latency_mean_ns = journal_number(latency, "mean");
    sample->latency_p99_ns = journal_number(latency, "p99");
    if (isnan(sample->throughput_bps) || isnan(sample->iops) || isnan(sample->seconds) ||
        sample->warmup_seconds < 0)
        return -EINVAL;
    return read_latency_quantiles(latency, &sample->latency_quantiles);
}

int journal_line_read(const json_t *object, struct journal_run *ret_run)
{
    struct journal_run run = {.at_seconds = read_number(object, "at_seconds")};
    struct sample *sample = &run.sample;
    const json_t *sampled = json_object_get(object, "sampled"),
                 *confirming = json_object_get(object, "fresh");
    if (run.at_seconds < 0 || !json_is_boolean(sampled) || !json_is_boolean(confirming) ||
        read_member(object, "run", (uint64_t)LARGEST, &run.number) < 0 ||
        journal_point(json_object_get(object, "point"), &run.point) < 0 || read_figures(object, sample) < 0 ||
        read_member(object, "bytes", (uint64_t)LARGEST, &sample->bytes) < 0 ||
        read_member(object, "moved_bytes", (uint64_t)LARGEST, &sample->moved_bytes) < 0 ||
        read_warmup(object, &sample->warmup) < 0 ||
        read_warnings(json_object_get(object, "doubts"), &sample->warning_set) < 0)
        return -EINVAL;
    sample->sampled = json_is_true(sampled);
    sample->confirming = json_is_true(confirming);
    *ret_run = run;
    return 0;
}
