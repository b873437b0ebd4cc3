/* Options of `calibrate` alone. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_table.h"

/* In the order of --help. */
static const struct option_row rows[] = {
    {.name = "set-dirty-limits",
     .argument = "BACKGROUND,HARD",
     .range = "64k..1024t",
     .default_text = "",
     .help = "for the time of the command, as 256m,512m: vm.dirty_background_bytes and vm.dirty_bytes (root)",
     .commands = OPTIONS_CALIBRATE,
     .in_config = false,
     .set = options_set_dirty_limits,
     .place = AT(calibrate.limits_bytes),
     .given = AT(calibrate.limits_given)},
};

const struct options_section options_table_calibrate = {rows, sizeof(rows) / sizeof(rows[0])};
