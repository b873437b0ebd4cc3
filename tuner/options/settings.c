/* tuner/options/settings: the defaults, which are those of the table of options, and what two sizes need. */
#include "tuner/options/settings.h"

#include "tuner/base/snippet_formats.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <string.h>

const char *const settings_objective_names[OBJECTIVE_N] = {"throughput", "iops", "latency", "p99"};
const char *const settings_format_names[FORMAT_N] = {"text",     "json",       "markdown", "csv",
                                                     "csv-wide", "csv-matrix", "erofeev"};

void settings_init(struct settings *settings)
{
    memset(settings, 0, sizeof(*settings));
    for (size_t i = 0; i < SETTINGS_MAX_OPERANDS; i++)
        settings->operands[i] = "";
    options_take_defaults(settings, 0);
    memcpy(settings->answers.path[0], "-", sizeof("-"));
    settings->runs.warmup_limit_ns = UINT64_MAX;
}

const char *settings_place(const struct settings *settings)
{
    return settings->file.existing[0] != '\0' ? settings->file.existing : settings->file.path;
}

static const struct settings_more *more_places(const struct settings *settings)
{
    return settings->file.existing[0] != '\0' ? &settings->file.more_existing : &settings->file.more_paths;
}

size_t settings_n_places(const struct settings *settings)
{
    return more_places(settings)->n + 1;
}

const char *settings_nth_place(const struct settings *settings, size_t i)
{
    return i == 0 ? settings_place(settings) : more_places(settings)->place[i - 1];
}

bool settings_wants_modern_ring(const struct settings *settings)
{
    if (settings->workload.io_uring_ring_given)
        return settings->workload.io_uring_ring == 0;
    for (size_t i = 0; i < SNIPPET_FORMATS_OF_MACHINES; i++) {
        if (strcmp(settings->snippet.format, snippet_formats[i]) == 0)
            return false;
    }
    return true;
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
