/* A night's search whose cost is bytes written, not seconds. */
#include "tuner/search/tune_writes.h"

#include "tuner/search/tune.h"

#include <math.h>

/* Kept for the replays after the choice; more where a contender of the last night waits for its verdict. */
#define FINAL_SHARE   0.4
#define WATCHED_SHARE 0.75
#define MOST_KEPT     0.8
/* The session refuses a run that could write twice what the fastest rate makes likely. */
#define LOOK_AHEAD 2
/* The first run is of the current setting or the default; what the search finds may be faster. */
#define FASTER_THAN_FIRST 2

bool tune_writes_are_limited(const struct tune *tune)
{
    const struct session *session = tune->session;
    return tune->policy.limits_writes && pattern_writes(&tune->settings->workload.pattern) &&
           (!session->simulated || tune->settings->limits.max_write_given);
}

static double left_bytes(const struct tune *tune, uint64_t limit_bytes)
{
    double left = (double)limit_bytes - (double)tune->session->bytes_written;
    return fmax(left, 0);
}

static double look_ahead_bytes(const struct tune *tune)
{
    return LOOK_AHEAD * (double)tune->duration_ns / 1e9 * tune->session->fastest_bps;
}

static double write_share(const struct pattern *pattern)
{
    return (pattern->percent[PATTERN_SEQ_WRITE] + pattern->percent[PATTERN_RAND_WRITE]) / 100.0;
}

/* A full queue is written once before it counts, about once while a run closes, and once when it drains. */
double tune_writes_of_run(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    const struct pattern *pattern = &tune->settings->workload.pattern;
    double size = measure_request_bytes(pattern, &record->point), seconds = (double)tune->duration_ns / 1e9;
    double in_flight = size * record->point.queue_depth * record->point.threads;
    double bytes = fmax(MEASURE_MIN_REQUESTS * size, tune->session->fastest_bps * seconds + 3 * in_flight);
    if (record->n > 0 && !record->samples[0].cut) {
        bytes = 0;
        for (size_t i = 0; i < record->n; i++) {
            const struct sample *sample = &record->samples[i];
            double warmup = sample->warmup_seconds * sample->throughput_bps;
            bytes = fmax(bytes, (double)sample->moved_bytes + (warmup > 0 ? warmup + 2 * in_flight : 0));
        }
    }
    return bytes * write_share(pattern);
}

static double block_bytes(const struct tune *tune, const size_t *points, size_t n)
{
    double bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += tune_writes_of_run(tune, points[i]);
    return bytes;
}

/* Points that are among the replays after the choice for sure, and the best so far. */
static size_t list_judged(const struct tune *tune, size_t ret_points[3 + ENGINE_MAX_WATCHED])
{
    size_t n = 0, best = belief_best(&tune->engine.belief, 1);
    ret_points[n++] = tune->engine.baseline;
    if (tune->engine.default_setting != ENGINE_NONE)
        ret_points[n++] = tune->engine.default_setting;
    for (size_t i = 0; i < tune->engine.n_watched; i++)
        ret_points[n++] = tune->engine.watched[i];
    if (best < tune->space.n_points)
        ret_points[n++] = best;
    return n;
}

void tune_writes_reserve(struct tune *tune)
{
    size_t judged[3 + ENGINE_MAX_WATCHED];
    uint64_t max_bytes = tune->settings->limits.max_write_bytes;
    double all = (double)max_bytes - (double)tune->search_from_bytes;
    double wanted = ENGINE_CONFIRMING_LEAST * block_bytes(tune, judged, list_judged(tune, judged));
    double share = tune->engine.n_watched > 0 ? WATCHED_SHARE : FINAL_SHARE;
    double kept = fmax(wanted + look_ahead_bytes(tune), share * all);
    if (!tune->writes_are_scarce || all <= 0)
        return;
    tune->session->write_limit_bytes = max_bytes - (uint64_t)fmin(kept, MOST_KEPT * all);
}

void tune_writes_tell(struct tune *tune)
{
    if (!tune->writes_are_scarce)
        return;
    tune->engine.writes_left_bytes =
        left_bytes(tune, tune->settings->limits.max_write_bytes) - look_ahead_bytes(tune);
    for (size_t i = 0; i < tune->n_records; i++)
        tune->engine.points[i].write_bytes = tune_writes_of_run(tune, i);
}

double tune_writes_longest_seconds(const struct tune *tune, size_t n_runs)
{
    double bps = tune->session->fastest_bps * write_share(&tune->settings->workload.pattern);
    if (!tune_writes_are_limited(tune) || !(bps > 0))
        return INFINITY;
    return left_bytes(tune, tune->session->write_limit_bytes) / ((double)n_runs * bps);
}

/* Few runs of few points, and nothing beside them. A warm-up that nobody asked for is left out; buffered
 * writes have none in any case. */
static void save_bytes(struct tune *tune)
{
    struct engine_policy *policy = &tune->engine.policy;
    tune->writes_are_scarce = true;
    tune->policy.has_pilot = tune->policy.has_counterpart = false;
    policy->weighs_chances = policy->chooses_again = false;
    policy->has_runner_up = true;
    policy->sentinel_runs = policy->sentinel_runs > 0;
    if (tune->settings->runs.duration_ns == 0)
        tune->length.why = "the write budget allows few runs; the shortest";
    if (tune->settings->runs.warmup_limit_ns == UINT64_MAX)
        tune->length.warmup_limit_ns = 0;
}

int tune_writes_look(struct tune *tune, struct err *err)
{
    uint64_t warmup_limit_ns = tune->length.warmup_limit_ns;
    size_t first = tune->engine.baseline;
    tune->search_from_bytes = tune->session->bytes_written;
    if (!tune_writes_are_limited(tune))
        return 0;
    tune->length.discarded = true;
    tune->length.warmup_limit_ns = 0;
    int result = tune_measure(tune, &first, 1, tune->engine.end_seconds, err);
    tune->length.discarded = false;
    tune->length.warmup_limit_ns = warmup_limit_ns;
    double seconds = (double)tune->duration_ns / 1e9 * FASTER_THAN_FIRST;
    if (result == 0 && seconds > tune_writes_longest_seconds(tune, TUNE_WRITES_SCARCE_RUNS))
        save_bytes(tune);
    return result;
}
