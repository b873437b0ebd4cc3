/* One run as an object of JSON, and back. */
#include "tuner/store/journal_line.h"

#include "tuner/base/json.h"
#include "tuner/session/json_row.h"
#include "tuner/session/warnings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LARGEST 1e18

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
                     measure_warmup_names[sample->warmup], "sampled", sample->sampled, "fresh",
                     sample->confirming, "doubts", json_codes(sample->warning_set));
}

double journal_number(const json_t *object, const char *key)
{
    double value = json_read_number(object, key);
    return value > 0 && value <= LARGEST ? value : NAN;
}

/* A number of 0 and above, or -1. */
static double read_number(const json_t *object, const char *key)
{
    double value = json_read_number(object, key);
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

static int read_level(const json_t *member, enum factor factor, uint64_t *ret_level)
{
    const char *name = json_string_value(member);
    enum api api = API_N;
    enum sync sync = SYNC_N;
    if (factor != FACTOR_API && factor != FACTOR_SYNC)
        return read_integer(member, INT64_MAX, ret_level);
    if (name == NULL ||
        (factor == FACTOR_API ? factors_parse_api(name, &api) : factors_parse_sync(name, &sync)) < 0)
        return -EINVAL;
    *ret_level = factor == FACTOR_API ? (uint64_t)api : (uint64_t)sync;
    return 0;
}

int journal_point(const json_t *object, struct point *ret_point)
{
    uint64_t levels[FACTOR_N] = {0};
    for (enum factor factor = 0; factor < FACTOR_N; factor++) {
        const json_t *member = json_object_get(object, factors_keys[factor]);
        bool may_lack = factor == FACTOR_WRITE_SIZE && member == NULL;
        if (!may_lack && read_level(member, factor, &levels[factor]) < 0)
            return -EINVAL;
    }
    return factors_read(levels, ret_point);
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
    for (size_t i = 0; i < MEASURE_WARMUP_N && name != NULL; i++) {
        if (strcmp(name, measure_warmup_names[i]) == 0) {
            *ret_warmup = (enum measure_warmup)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* What has to be a number above 0; the latencies and the depth may be unknown. */
static int read_run_figures(const json_t *object, struct sample *sample)
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
        journal_point(json_object_get(object, "point"), &run.point) < 0 ||
        read_run_figures(object, sample) < 0 ||
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
