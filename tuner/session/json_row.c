/* Rows of figures and the recorded system as JSON. */
#include "tuner/session/json_row.h"

#include "tuner/base/json.h"
#include "tuner/options/skew_text.h"
#include "tuner/session/warnings.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>

static const char *correction_name(bool corrected, bool wanders)
{
    return wanders ? "wander" : corrected ? "skewness" : "none";
}

static void set_interval(json_t *object, const char *low_key, const char *high_key, struct interval interval)
{
    json_object_set_new(object, low_key, json_number(interval.low));
    json_object_set_new(object, high_key, json_number(interval.high));
}

json_t *json_latency(const struct latency_row *latency)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "mean", json_number(latency->mean),
                  "ci_low", json_number(latency->ci_low), "ci_high", json_number(latency->ci_high),
                  "ci_correction", correction_name(latency->ci_corrected, latency->ci_wanders), "p50",
                  json_number(latency->p50), "p99", json_number(latency->p99), "p999",
                  json_number(latency->p999), "max", json_number(latency->max), "sampled", latency->sampled);
    set_interval(object, "p50_ci_low", "p50_ci_high", latency->p50_ci);
    set_interval(object, "p99_ci_low", "p99_ci_high", latency->p99_ci);
    set_interval(object, "p999_ci_low", "p999_ci_high", latency->p999_ci);
    return object;
}

json_t *json_codes(uint64_t warning_set)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < WARNING_N && list != NULL; i++) {
        if ((warning_set & WARNINGS_BIT(i)) != 0)
            json_array_append_new(list, json_string(warnings_table[i].code));
    }
    return list;
}

json_t *json_row(const struct row *row)
{
    json_t *object = json_point(&row->point);
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "mean", json_number(row->mean_bps));
    json_object_set_new(object, "ci_low", json_number(row->ci_low_bps));
    json_object_set_new(object, "ci_high", json_number(row->ci_high_bps));
    json_object_set_new(object, "ci_correction",
                        json_string(correction_name(row->ci_corrected, row->ci_wanders)));
    json_object_set_new(object, "std", json_number(row->std_bps));
    json_object_set_new(object, "replays", json_integer((json_int_t)row->replays));
    json_object_set_new(object, "preliminary", json_boolean(row->replays < 5));
    json_object_set_new(object, "achieved_depth", json_number(row->achieved_depth));
    json_object_set_new(object, "latency_ns", json_latency(&row->latency_ns));
    json_object_set_new(object, "warnings", json_codes(row->warning_set));
    json_object_set_new(object, "disqualified_by", json_codes(row->disqualifying));
    return object;
}

json_t *json_throughput(const struct row *row, double confidence)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:I, s:f}", "unit", "bytes/s", "mean",
                     json_number(row->mean_bps), "ci_low", json_number(row->ci_low_bps), "ci_high",
                     json_number(row->ci_high_bps), "ci_correction",
                     correction_name(row->ci_corrected, row->ci_wanders), "std", json_number(row->std_bps),
                     "replays", (json_int_t)row->replays, "confidence", confidence);
}

static json_t *json_fact(const struct hostinfo_fact *fact)
{
    switch (fact->kind) {
    case HOSTINFO_TEXT:
        return json_text(fact->text);
    case HOSTINFO_FLAG:
        return json_boolean(fact->number != 0);
    default:
        return json_number(fact->number);
    }
}

/* Where and when: what an answer that is read later can be told apart by. */
static void set_origin(json_t *object, const struct session *session)
{
    char path[PATH_MAX], text[40];
    struct tm parts;
    time_t now = time(NULL);
    const char *given = settings_place(session->settings);
    /* Links of /dev are better names than what they lead to today. */
    bool is_kept =
        (given[0] == '/' && hostinfo_is_device(session->directory_fd)) || realpath(given, path) == NULL;
    json_object_set_new(object, "path", json_text(is_kept ? given : path));
    if (gmtime_r(&now, &parts) != NULL && strftime(text, sizeof text, "%FT%TZ", &parts) > 0)
        json_object_set_new(object, "measured_at", json_string(text));
}

json_t *json_host(const struct hostinfo *host)
{
    json_t *object = json_pack("{s:b}", "simulated", 0);
    for (size_t i = 0; i < host->n && object != NULL; i++)
        json_object_set_new(object, host->facts[i].key, json_fact(&host->facts[i]));
    return object;
}

json_t *json_system(const struct session *session)
{
    if (session->simulated)
        return json_pack("{s:b, s:o}", "simulated", 1, "surface", json_text(session->simulator.name));
    json_t *object = json_host(&session->host);
    if (object == NULL)
        return NULL;
    set_origin(object, session);
    if (session->target.fd < 0)
        return object;
    json_object_set_new(object, "test_file_bytes", json_integer((json_int_t)session->target.size_bytes));
    json_object_set_new(object, "test_file_fill_bps", json_number(session->target.fill_bps));
    json_object_set_new(object, "direct_read_proved",
                        json_boolean(session->target.direct_read == TARGET_DIRECT_PROVED));
    json_object_set_new(object, "direct_write_proved",
                        json_boolean(session->target.direct_write == TARGET_DIRECT_PROVED));
    json_object_set_new(object, "direct_alignment_bytes",
                        json_integer(session->target.direct_offset_align_bytes));
    char skew[SKEW_TEXT_SIZE];
    if (skew_text_format(&session->env.skew, skew)[0] != '\0')
        json_object_set_new(object, "skew", json_string(skew));
    if (session->env.content.zero_share > 0)
        json_object_set_new(object, "compressible_share", json_number(session->env.content.zero_share));
    if (session->env.content.repeat_share > 0)
        json_object_set_new(object, "dedupe_share", json_number(session->env.content.repeat_share));
    json_object_set_new(object, "cache",
                        json_string(session->env.cache == MEASURE_CACHE_COLD ? "cold" : "warm"));
    json_object_set_new(object, "io_uring_ring",
                        json_string(session->env.cooperative_ring ? "modern" : "plain"));
    return object;
}
