/* tuner/store/recommendation: reading an answer. */
#include "tuner/store/recommendation.h"

#include "tuner/base/json.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RECOMMENDATION_SCHEMA "fstune/recommendation/1"

static void copy_text(char *text, size_t size, const json_t *object, const char *key)
{
    snprintf(text, size, "%s", json_read_text(object, key, ""));
}

/* NaN where it is absent; false where it is no share. */
static bool read_share(const json_t *object, const char *key, double *ret_share)
{
    *ret_share = json_read_number(object, key);
    return isnan(*ret_share) || (*ret_share >= 0 && *ret_share <= 1);
}

static int read_evidence(struct recommendation *recommendation, const json_t *document, struct err *err)
{
    const json_t *rate = json_object_get(document, "throughput");
    const json_t *latency = json_object_get(document, "latency_ns");
    const json_t *speedup = json_object_get(json_object_get(document, "baseline"), "speedup");
    json_int_t replays = json_integer_value(json_object_get(rate, "replays"));
    recommendation->mean_bps = journal_number(rate, "mean");
    recommendation->ci_low_bps = journal_number(rate, "ci_low");
    recommendation->ci_high_bps = journal_number(rate, "ci_high");
    recommendation->replays = replays > 0 ? (uint64_t)replays : 0;
    recommendation->iops = journal_number(json_object_get(document, "iops"), "mean");
    recommendation->latency_mean_ns = journal_number(latency, "mean");
    recommendation->latency_p99_ns = journal_number(latency, "p99");
    recommendation->conclusive = json_is_true(json_object_get(document, "conclusive"));
    const json_t *offered = json_object_get(document, "objective");
    recommendation->offered_bps = journal_number(offered, "offered_bps");
    recommendation->offered_at_random = strcmp(json_read_text(offered, "process", ""), "poisson") == 0;
    recommendation->speedup = journal_number(speedup, "mean");
    recommendation->speedup_low = journal_number(speedup, "ci_low");
    recommendation->speedup_high = journal_number(speedup, "ci_high");
    if (!read_share(rate, "confidence", &recommendation->confidence_share) ||
        !read_share(document, "probability_within_tolerance", &recommendation->probability))
        return err_set(err, -EINVAL, "its probability or confidence is no share of 0 to 1");
    return 0;
}

static void read_origin(struct recommendation *recommendation, const json_t *document)
{
    const json_t *system = json_object_get(document, "system");
    recommendation->simulated = json_is_true(json_object_get(system, "simulated"));
    copy_text(recommendation->version, sizeof recommendation->version, document, "version");
    copy_text(recommendation->measured_at, sizeof recommendation->measured_at, system, "measured_at");
    copy_text(recommendation->hostname, sizeof recommendation->hostname, system, "hostname");
    copy_text(recommendation->kernel, sizeof recommendation->kernel, system, "kernel");
    copy_text(recommendation->file_system, sizeof recommendation->file_system, system, "file_system");
    copy_text(recommendation->device, sizeof recommendation->device, system, "device");
    copy_text(recommendation->path, sizeof recommendation->path, system, "path");
}

static int refuse_without_answer(const json_t *document, struct err *err)
{
    const char *reason = json_string_value(json_array_get(json_object_get(document, "reasons"), 0));
    return err_set(err, -ENODATA, "there is no recommendation in it%s%s", reason != NULL ? ": " : "",
                   reason != NULL ? reason : "");
}

int recommendation_read(struct recommendation *recommendation, const json_t *document, struct err *err)
{
    struct recommendation read = {.document = document};
    const char *pattern = json_read_text(json_object_get(document, "pattern"), "name", "");
    const json_t *point = json_object_get(document, "recommendation");
    if (strcmp(json_read_text(document, "schema", ""), RECOMMENDATION_SCHEMA) != 0)
        return err_set(err, -EINVAL, "it is no answer of `fstune recommend --json` (schema %s)",
                       RECOMMENDATION_SCHEMA);
    if (point == NULL || json_is_null(point))
        return refuse_without_answer(document, err);
    if (pattern_parse(pattern, &read.pattern, NULL) < 0)
        return err_set(err, -EINVAL, "its pattern is missing or damaged");
    if (journal_point(point, &read.point) < 0)
        return err_set(err, -EINVAL, "its recommendation is damaged");
    if (read_evidence(&read, document, err) < 0)
        return -EINVAL;
    read_origin(&read, document);
    *recommendation = read;
    return 0;
}

double recommendation_fact_number(const struct recommendation *recommendation, const char *key)
{
    return journal_number(json_object_get(recommendation->document, "system"), key);
}

const char *recommendation_fact_text(const struct recommendation *recommendation, const char *key)
{
    return json_string_value(json_object_get(json_object_get(recommendation->document, "system"), key));
}
