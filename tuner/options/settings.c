/* tuner/options/settings: the defaults; a test holds them against the texts in the table of options. */
#include "tuner/options/settings.h"

#include "bench/base/clock.h"
#include "bench/io/warmup.h"
#include "bench/target/target.h"
#include "models/cawl/cawl.h"

#include <errno.h>
#include <string.h>

const char *const settings_objective_names[OBJECTIVE_N] = {"throughput", "iops", "latency", "p99"};

void settings_init(struct settings *settings)
{
    memset(settings, 0, sizeof(*settings));
    memcpy(settings->file.path, ".", sizeof("."));
    memcpy(settings->answers.path[0], "-", sizeof("-"));
    settings->file.prepare_timeout_ns = 60 * CLOCK_NS_PER_S;
    settings->file.size_bytes = TARGET_SIZE_DEFAULT_BYTES;
    settings->workload.cache = MEASURE_CACHE_COLD;
    settings->limits.budget_ns = 60 * CLOCK_NS_PER_S;
    settings->search.tolerance_share = 0.03;
    settings->runs.confidence_share = 0.95;
    settings->search.objective = OBJECTIVE_THROUGHPUT;
    settings->search.profile = PROFILE_MAX_THROUGHPUT;
    settings->search.rate_floor_share = 0.25;
    settings->limits.max_write_bytes = 64ULL << 30;
    memcpy(settings->search.method, "auto", sizeof("auto"));
    settings->file.n = 1;
    settings->runs.replays = 5;
    memcpy(settings->runs.steady_rule, "fstune", sizeof("fstune"));
    settings->runs.max_duration_ns = 600 * CLOCK_NS_PER_S;
    settings->runs.warmup_coef_share = WARMUP_COEF_DEFAULT;
    settings->runs.warmup_limit_ns = UINT64_MAX;
    settings->runs.warmup_window = WARMUP_WINDOW_DEFAULT;
    settings->runs.batch_requests = WARMUP_BATCH_DEFAULT;
    memcpy(settings->experiment.design, "full", sizeof("full"));
    settings->prediction.mode = CAWL_NOSYNC;
    settings->prediction.repetitions = SETTINGS_REPETITIONS_DEFAULT;
}

bool settings_splits_sizes(const struct settings *settings)
{
    return settings->workload.split_sizes || settings->workload.levels[FACTOR_WRITE_SIZE].n > 0;
}

int settings_check_split(const struct settings *settings, struct err *err)
{
    const char *option = settings->workload.split_sizes ? "split-sizes" : "write-request-size";
    bool reads = pattern_reads(&settings->workload.pattern);
    if (!settings_splits_sizes(settings) || (reads && pattern_writes(&settings->workload.pattern)))
        return 0;
    return err_set(err, -EINVAL,
                   "--%s: pattern %s only %s, so there is one request size; leave the option out, or give a "
                   "mix such as randrw:70",
                   option, settings->workload.pattern.name, reads ? "reads" : "writes");
}
