/* Options of loads that come in bursts: what `recommend` measures for them and `advise` predicts. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_table.h"

/* In the order of --help. */
static const struct option_row rows[] = {
    {.name = "burst",
     .argument = "SIZE",
     .range = "64k..1000t",
     .default_text = "none",
     .help = "of patterns that only write: the load comes in bursts of so many bytes. Bursts are measured "
             "through the page cache and past it, and the setting that serves them best is reported beside "
             "the answer for a steady load",
     .commands = OPTIONS_RECOMMEND,
     .in_config = true,
     .set = options_set_size,
     .place = offsetof(struct settings, burst) + offsetof(struct settings_burst, bytes)},
    {.name = "burst-interval",
     .argument = "DURATION",
     .range = "1ms..1h",
     .default_text = "none",
     .help = "time from the end of a burst to the beginning of the next, in which the kernel writes back",
     .commands = OPTIONS_RECOMMEND | OPTIONS_ADVISE,
     .in_config = true,
     .set = options_set_duration,
     .place = offsetof(struct settings, burst) + offsetof(struct settings_burst, interval_ns)},
};

const struct options_section options_table_advise = {rows, sizeof(rows) / sizeof(rows[0])};
