/* Options of `report`: what the page is written to. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_table.h"

/* In the order of --help. */
static const struct option_row rows[] = {
    {.name = "html",
     .argument = "FILE",
     .range = "",
     .default_text = "",
     .help = "the page, one file that needs no other; an older one is replaced",
     .commands = OPTIONS_REPORT,
     .in_config = false,
     .set = options_set_text,
     .place = AT(report.html)},
    {.name = "journal",
     .argument = "FILE",
     .range = "",
     .default_text = "",
     .help = "journal that the search wrote (--resume): the page shows how the search went",
     .commands = OPTIONS_REPORT,
     .in_config = false,
     .set = options_set_text,
     .place = AT(report.journal)},
};

const struct options_section options_table_report = {rows, sizeof(rows) / sizeof(rows[0])};
