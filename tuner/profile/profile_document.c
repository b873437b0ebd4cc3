/* tuner/profile/profile_document: the JSON of interfaces, section 10. */
#include "tuner/profile/profile_document.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "bench/profile/hardware_counters.h"
#include "tuner/base/json.h"
#include "tuner/profile/profile_advice.h"
#include "tuner/profile/profile_streams.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

static const char *const sync_kinds[] = {[SUMMARY_SYNC_NONE] = "none",
                                         [SUMMARY_SYNC_END] = "end",
                                         [SUMMARY_SYNC_EACH] = "each",
                                         [SUMMARY_SYNC_EVERY] = "every"};

/* The system counts what read, write and their kin move, from anywhere, but no asynchronous requests. */
double profile_document_seen_share(const struct recording *recording)
{
    const struct store *store = recording->store;
    if (!recording->end.has_transfers || recording->is_part)
        return NAN;
    double files = (double)store->bytes[PROFILE_READ] + (double)store->bytes[PROFILE_WRITE];
    double waited = fmax(0, files - (double)store->count[STORE_LATE_BYTES]);
    double told = (double)recording->end.read_bytes + (double)recording->end.written_bytes;
    double loaders = (double)STORE_LOADER_BYTES * (double)store->count[STORE_PROCESSES];
    double others = (double)store->count[STORE_OTHER_BYTES] + (double)store->count[STORE_PASSED_BYTES];
    double unseen = fmax(0, told - waited - others - loaders);
    return files + unseen > 0 ? files / (files + unseen) : NAN;
}

static json_t *command_json(const char *const *command)
{
    json_t *array = json_array();
    for (size_t i = 0; command != NULL && command[i] != NULL; i++)
        json_array_append_new(array, json_text(command[i]));
    return array;
}

static json_t *pattern_json(const struct summary *summary, const struct profile_advice *advice)
{
    const unsigned *percent = summary->percent;
    return json_pack(
        "{s:o, s:i, s:i, s:i, s:i}", "name", advice->has_pattern ? json_text(advice->pattern) : json_null(),
        "seq_read", (int)percent[SUMMARY_SEQ_READ], "seq_write", (int)percent[SUMMARY_SEQ_WRITE], "rand_read",
        (int)percent[SUMMARY_RAND_READ], "rand_write", (int)percent[SUMMARY_RAND_WRITE]);
}

static json_t *shares_json(const struct summary *summary)
{
    const double *share = summary->share;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "seq_read", json_number(share[SUMMARY_SEQ_READ]),
                     "seq_write", json_number(share[SUMMARY_SEQ_WRITE]), "rand_read",
                     json_number(share[SUMMARY_RAND_READ]), "rand_write",
                     json_number(share[SUMMARY_RAND_WRITE]), "margin", json_number(summary->margin));
}

/* Requests by the power of two of their size, up to the largest. */
static json_t *histogram_json(const struct bins *bins)
{
    uint64_t n[BINS_MAX_LOG2 + 1] = {0};
    size_t largest = 0;
    json_t *array = json_array();
    for (uint64_t log2 = 0; log2 < BINS_MAX_LOG2; log2++) {
        for (size_t i = bins_of(1ULL << log2); i < bins_of(2ULL << log2) && i < BINS_N; i++)
            n[log2] += bins->bin[i].n;
        largest = n[log2] > 0 ? log2 + 1 : largest;
    }
    for (size_t i = 0; i < largest; i++)
        json_array_append_new(array, json_integer((json_int_t)n[i]));
    return array;
}

#define CACHE_STEP_SHARE 0.01 /* of the uses, from a cache that is told to the next */

static json_t *caches_json(const struct store *store)
{
    struct blocks_cache curve[BINS_N];
    size_t n = blocks_curve(&store->blocks, curve);
    double told = 0, most = n > 0 ? curve[n - 1].served_share : 0;
    json_t *array = json_array();
    for (size_t i = 0; i < n && told < most; i++) {
        if (curve[i].served_share < told + CACHE_STEP_SHARE && curve[i].served_share < most)
            continue;
        told = curve[i].served_share;
        json_array_append_new(array, json_pack("{s:o, s:o}", "bytes", json_number(round(curve[i].n_bytes)),
                                               "served_share", json_number(told)));
    }
    return array;
}

static json_t *sizes_json(const struct summary_sizes *sizes, const struct bins *bins)
{
    json_t *modes = json_array();
    for (size_t i = 0; i < sizes->n_modes; i++)
        json_array_append_new(modes,
                              json_pack("{s:I, s:o}", "bytes", (json_int_t)sizes->modes[i].value, "share",
                                        json_number((double)sizes->modes[i].n / (double)sizes->n)));
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "n", (json_int_t)sizes->n, "p50", (json_int_t)sizes->p50,
                     "p99", (json_int_t)sizes->p99, "modes", modes, "histogram", histogram_json(bins));
}

static json_t *depth_json(const struct summary *summary)
{
    bool known = summary->depth_mean > 0;
    return json_pack("{s:o, s:o, s:o}", "mean", known ? json_number(summary->depth_mean) : json_null(), "p50",
                     known ? json_integer((json_int_t)summary->depth_p50) : json_null(), "max",
                     known ? json_integer((json_int_t)summary->depth_max) : json_null());
}

static json_t *sync_json(const struct recording *recording, const struct summary *summary)
{
    if (!recording->knows_flushes)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", sync_kinds[summary->sync], "requests_between_p50",
                     summary->between_p50 > 0 ? json_integer((json_int_t)summary->between_p50) : json_null(),
                     "requests_between_mean",
                     summary->between_mean > 0 ? json_number(summary->between_mean) : json_null(),
                     "flushed_share", json_number(summary->flushed_share));
}

/* What the wrappers cannot see, as far as it is known that it was there. */
static json_t *unseen_json(const struct recording *recording)
{
    const uint64_t *count = recording->store->count;
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I}", "seen_share", json_number(profile_document_seen_share(recording)),
        "maps", (json_int_t)count[STORE_MAPS], "mapped_bytes", (json_int_t)count[STORE_MAPPED_BYTES], "rings",
        (json_int_t)count[STORE_RINGS], "requests", (json_int_t)count[STORE_LOST_REQUESTS], "refused_lines",
        (json_int_t)recording->n_refused);
}

static json_t *fixed_json(const struct profile_advice *advice)
{
    json_t *fixed = json_object();
    char buffer[UNITS_TEXT_SIZE];
    for (int i = 0; i < FACTOR_WRITE_SIZE; i++) {
        if (advice->fixed[i])
            json_object_set_new(fixed, factors_keys[i],
                                json_string(profile_advice_level(advice, (enum factor)i, buffer)));
    }
    return fixed;
}

static json_t *free_json(const struct profile_advice *advice)
{
    json_t *names = json_array();
    for (int i = 0; i < FACTOR_WRITE_SIZE; i++) {
        if (!advice->fixed[i] && i != FACTOR_SYNC)
            json_array_append_new(names, json_string(factors_keys[i]));
    }
    return names;
}

/* What the source does not know is left to the default of --current. */
static json_t *current_json(const struct recording *recording, const struct profile_advice *advice)
{
    json_t *current = json_object();
    char buffer[UNITS_TEXT_SIZE];
    for (int i = 0; i < FACTOR_SYNC; i++) {
        if (i == FACTOR_REQUEST_SIZE || recording->knows_calls)
            json_object_set_new(current, factors_keys[i],
                                json_string(profile_advice_level(advice, (enum factor)i, buffer)));
    }
    return current;
}

/* The same as options: request_size is --request-size. */
static json_t *options_json(const struct profile_advice *advice)
{
    json_t *options = json_array();
    char buffer[UNITS_TEXT_SIZE], name[32];
    if (advice->has_pattern) {
        json_array_append_new(options, json_string("--pattern"));
        json_array_append_new(options, json_string(advice->pattern));
    }
    for (int i = 0; i < FACTOR_WRITE_SIZE; i++) {
        if (!advice->fixed[i])
            continue;
        snprintf(name, sizeof name, "--%s", factors_keys[i]);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        json_array_append_new(options, json_string(name));
        json_array_append_new(options, json_string(profile_advice_level(advice, (enum factor)i, buffer)));
    }
    return options;
}

/* theta is null where it is unknown, or no Zipf's law fits. */
static json_t *skew_json(const struct zipf *skew)
{
    bool fits = skew->is_known && skew->fits;
    return json_pack("{s:o, s:o, s:o}", "zipf_theta", fits ? json_number(skew->theta) : json_null(), "error",
                     fits ? json_number(skew->error) : json_null(), "share_of_hottest",
                     json_numbers(skew->share_of_hottest, 3));
}

static json_t *exit_json(const struct recording *recording)
{
    int status = recording->end.status;
    if (recording->command == NULL)
        return json_null();
    return json_integer(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void add_counts(json_t *document, const struct recording *recording, const struct summary *summary)
{
    const struct store *store = recording->store;
    uint64_t lost = summary->n_lost + summary->n_unjudged;
    json_object_set_new(document, "events", json_integer((json_int_t)summary->n_requests));
    json_object_set_new(document, "events_lost", json_integer((json_int_t)lost));
    json_object_set_new(document, "overhead_share", json_number(recording->overhead_share));
    json_object_set_new(document, "processes", json_integer((json_int_t)store->count[STORE_PROCESSES]));
    json_object_set_new(document, "threads",
                        recording->knows_calls ? json_integer((json_int_t)summary->n_threads) : json_null());
    json_object_set_new(document, "requests",
                        json_pack("{s:I, s:I, s:I}", "read", (json_int_t)summary->sizes[PROFILE_READ].n,
                                  "write", (json_int_t)summary->sizes[PROFILE_WRITE].n, "flush",
                                  (json_int_t)store->n_flushes));
    json_object_set_new(document, "bytes",
                        json_pack("{s:I, s:I}", "read", (json_int_t)store->bytes[PROFILE_READ], "write",
                                  (json_int_t)store->bytes[PROFILE_WRITE]));
}

static void add_judgement(json_t *document, const struct recording *recording, const struct summary *summary,
                          const struct profile_advice *advice)
{
    const struct bins *sizes = recording->store->sizes;
    json_object_set_new(document, "enough", json_boolean(summary->is_enough));
    json_object_set_new(document, "pattern", pattern_json(summary, advice));
    json_object_set_new(document, "shares", shares_json(summary));
    json_object_set_new(document, "request_size",
                        json_pack("{s:o, s:o}", "read",
                                  sizes_json(&summary->sizes[PROFILE_READ], &sizes[PROFILE_READ]), "write",
                                  sizes_json(&summary->sizes[PROFILE_WRITE], &sizes[PROFILE_WRITE])));
    json_object_set_new(document, "alignment_bytes", json_integer((json_int_t)summary->alignment_bytes));
    json_object_set_new(document, "queue_depth", depth_json(summary));
    json_object_set_new(document, "direct_share",
                        recording->knows_calls ? json_number(summary->direct_share) : json_null());
    json_object_set_new(document, "async_share",
                        recording->knows_calls ? json_number(summary->async_share) : json_null());
    json_object_set_new(document, "sync", sync_json(recording, summary));
    json_object_set_new(document, "footprint_bytes", json_number(round(summary->footprint_bytes)));
    json_object_set_new(document, "working_set_bytes",
                        summary->working_set_bytes > 0 ? json_number(round(summary->working_set_bytes))
                                                       : json_null());
    json_object_set_new(document, "caches", caches_json(recording->store));
    json_object_set_new(document, "reused_share", json_number(summary->reused_share));
    json_object_set_new(document, "skew", skew_json(&summary->skew));
    json_object_set_new(document, "rate",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean_bps", json_number(summary->mean_bps),
                                  "busy_share", json_number(summary->busy_share), "read_s",
                                  json_number(summary->spent_s[PROFILE_READ]), "write_s",
                                  json_number(summary->spent_s[PROFILE_WRITE]), "flush_s",
                                  json_number(summary->flush_s)));
}

static json_t *event_json(const struct hardware_count *count, const struct summary *summary, double seconds)
{
    bool is_known = count->is_known;
    double per_request = count->n / (double)summary->n_requests;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "event", count->name, "count",
                     is_known ? json_integer((json_int_t)count->n) : json_null(), "per_request",
                     json_number(is_known && summary->n_requests > 0 ? per_request : NAN), "per_second",
                     json_number(is_known && seconds > 0 ? count->n / seconds : NAN), "kernel",
                     json_boolean(count->has_kernel), "running_share", json_number(count->running_share));
}

static json_t *hardware_json(const struct recording *recording, const struct summary *summary)
{
    const struct hardware_count *count;
    json_t *events = json_array();
    if (recording->hardware == NULL) {
        json_decref(events);
        return json_null();
    }
    for (size_t i = 0; (count = hardware_counters_get(recording->hardware, i)) != NULL; i++)
        json_array_append_new(events,
                              event_json(count, summary, hardware_counters_seconds(recording->hardware)));
    return events;
}

json_t *profile_document_make(const struct recording *recording, const struct summary *summary)
{
    struct profile_advice advice;
    profile_advice_make(&advice, summary);
    json_t *document =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "schema", "fstune/profile/1", "version",
                  FSTUNE_VERSION, "source", recording->source, "command", command_json(recording->command),
                  "exit_status", exit_json(recording), "seconds", json_number(summary->seconds), "paused_s",
                  json_number(summary->paused_s));
    if (document == NULL)
        return NULL;
    add_counts(document, recording, summary);
    add_judgement(document, recording, summary, &advice);
    json_object_set_new(document, "streams", profile_streams_json(recording->store));
    json_object_set_new(document, "phases", profile_phases_json(recording->store));
    json_object_set_new(document, "marks", profile_phases_marks_json(recording->store));
    json_object_set_new(document, "marks_lost", json_integer((json_int_t)recording->store->marks.n_lost));
    json_object_set_new(document, "over_time", profile_phases_over_time_json(recording->store));
    json_object_set_new(document, "unseen", unseen_json(recording));
    json_object_set_new(document, "hardware", hardware_json(recording, summary));
    json_object_set_new(document, "fixed", fixed_json(&advice));
    json_object_set_new(document, "free", free_json(&advice));
    json_object_set_new(document, "current", current_json(recording, &advice));
    json_object_set_new(document, "options", options_json(&advice));
    return document;
}
