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
    memcpy(settings->path, ".", sizeof("."));
    memcpy(settings->from[0], "-", sizeof("-"));
    settings->prepare_timeout_ns = 60 * CLOCK_NS_PER_S;
    settings->file_size_bytes = TARGET_SIZE_DEFAULT_BYTES;
    settings->cache = MEASURE_CACHE_COLD;
    settings->budget_ns = 60 * CLOCK_NS_PER_S;
    settings->tolerance_share = 0.03;
    settings->confidence_share = 0.95;
    settings->objective = OBJECTIVE_THROUGHPUT;
    settings->profile = PROFILE_MAX_THROUGHPUT;
    settings->rate_floor_share = 0.25;
    settings->max_write_bytes = 64ULL << 30;
    memcpy(settings->method, "auto", sizeof("auto"));
    settings->files = 1;
    settings->replays = 5;
    memcpy(settings->steady_rule, "fstune", sizeof("fstune"));
    settings->max_duration_ns = 600 * CLOCK_NS_PER_S;
    settings->warmup_coef_share = WARMUP_COEF_DEFAULT;
    settings->warmup_limit_ns = UINT64_MAX;
    settings->warmup_window = WARMUP_WINDOW_DEFAULT;
    settings->batch_requests = WARMUP_BATCH_DEFAULT;
    memcpy(settings->experiment.design, "full", sizeof("full"));
    settings->prediction.mode = CAWL_NOSYNC;
    settings->prediction.repetitions = SETTINGS_REPETITIONS_DEFAULT;
}

bool settings_splits_sizes(const struct settings *settings)
{
    return settings->split_sizes || settings->levels[FACTOR_WRITE_SIZE].n > 0;
}

int settings_check_split(const struct settings *settings, struct err *err)
{
    const char *option = settings->split_sizes ? "split-sizes" : "write-request-size";
    bool reads = pattern_reads(&settings->pattern);
    if (!settings_splits_sizes(settings) || (reads && pattern_writes(&settings->pattern)))
        return 0;
    return err_set(err, -EINVAL,
                   "--%s: pattern %s only %s, so there is one request size; leave the option out, or give a "
                   "mix such as randrw:70",
                   option, settings->pattern.name, reads ? "reads" : "writes");
}
