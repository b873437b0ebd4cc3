/* Options of the nightly command: its targets stand in a file, so there are few. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_table.h"

/* In the order of --help. */
static const struct option_row rows[] = {
    {.name = "target",
     .argument = "NAME",
     .range = "",
     .default_text = "",
     .help = "only this target of the configuration; rollback needs it; plot history: else the newest",
     .commands = OPTIONS_RETUNE | OPTIONS_PLOT,
     .in_config = false,
     .set = options_set_text,
     .place = AT(retune.target)},
    {.name = "prometheus",
     .argument = "FILE",
     .range = "",
     .default_text = "",
     .help = "write the figures of the night for node-exporter's textfile collector, as NAME.prom",
     .commands = OPTIONS_RETUNE,
     .in_config = true,
     .set = options_set_text,
     .place = AT(retune.prometheus)},
    {.name = "force",
     .argument = NULL,
     .range = "",
     .default_text = "",
     .help = "measure although the machine is busy, on battery, or was just started",
     .commands = OPTIONS_RETUNE,
     .in_config = false,
     .set = options_set_flag,
     .place = AT(retune.force)},
};

const struct options_section options_table_retune = {rows, sizeof(rows) / sizeof(rows[0])};
