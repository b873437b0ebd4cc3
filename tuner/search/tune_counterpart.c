/* Measures the chosen setting of a random pattern with the sequential counterpart of that pattern as well.
 * Random access that is faster was probably not served by the device. */
#include "tuner/search/tune.h"

#include <stdio.h>

/* The pattern with its random kinds made sequential; false where it is not random throughout. */
static bool make_sequential(const struct pattern *pattern, struct pattern *ret_pattern)
{
    unsigned reads = pattern->percent[PATTERN_RAND_READ];
    char name[16];
    if (reads + pattern->percent[PATTERN_RAND_WRITE] != 100)
        return false;
    snprintf(name, sizeof name, "rw:%u", reads);
    const char *text = reads == 100 ? "read" : reads == 0 ? "write" : name;
    return pattern_parse(text, ret_pattern, NULL) == 0;
}

/* It must not cost the replays of the confirmation: these come first in time and in the write budget. */
static bool is_affordable(const struct tune *tune)
{
    const struct session *session = tune->session;
    size_t n_runs = tune->engine.confirm.n * ENGINE_CONFIRMING_LEAST + ENGINE_COUNTERPART_REPLAYS;
    double seconds = 2 * (double)tune->duration_ns / 1e9;
    double bytes = pattern_writes(&tune->settings->workload.pattern)
                       ? (double)n_runs * seconds * session->fastest_bps
                       : 0;
    return tune_has_time(tune, tune->engine.confirm.deadline_seconds, n_runs) &&
           (double)session->bytes_written + bytes <= (double)session->write_limit_bytes;
}

void tune_set_counterpart(struct tune *tune)
{
    const struct point *point = &tune->records[tune->engine.chosen].point;
    bool cold = tune->session->env.cache == MEASURE_CACHE_COLD;
    if (tune->engine.counterpart != ENGINE_NONE)
        record_done(&tune->records[tune->engine.counterpart]);
    tune->engine.counterpart = ENGINE_NONE;
    if (!tune->policy.has_counterpart || tune->session->simulated || (!cold && point->direct == 0) ||
        !make_sequential(&tune->settings->workload.pattern, &tune->sequential) || !is_affordable(tune))
        return;
    tune->engine.counterpart = tune->n_records;
    tune->records[tune->n_records] = (struct record){.point = *point};
    engine_forget(&tune->engine, tune->n_records);
    tune_set_point(tune, tune->n_records);
}

void tune_weigh_counterpart(struct tune *tune)
{
    if (tune->engine.counterpart == ENGINE_NONE)
        return;
    struct record *chosen = &tune->records[tune->engine.chosen];
    const struct record *counterpart = &tune->records[tune->engine.counterpart];
    if (warnings_random_faster(record_log_moments(chosen, true), record_log_moments(counterpart, true)))
        chosen->warning_set |= WARNINGS_BIT(WARNING_RANDOM_FASTER_THAN_SEQUENTIAL);
}
