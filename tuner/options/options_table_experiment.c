/* Options of experiments: the design, how long a run is, the name. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_table.h"

/* In the order of --help. */
static const struct option_row rows[] = {
    {.name = "design",
     .argument = "full|sobol:N|random:N|lhs:N|fractional",
     .range = "",
     .default_text = "full",
     .help = "points to measure: every combination of the levels, N of them that are spread evenly (Sobol's "
             "sequence, a Latin hypercube) or drawn by chance, or the half whose level numbers have an even "
             "sum",
     .commands = OPTIONS_EXPERIMENT,
     .in_config = true,
     .set = options_set_design,
     .place = AT(experiment.design)},
    {.name = "batches",
     .argument = "N",
     .range = "1..1000000000",
     .default_text = "",
     .help = "a run ends after so many batches of --batch requests, and after --duration at the latest; "
             "without it a point's first run lasts --duration. The other replays make as many requests as "
             "the first",
     .commands = OPTIONS_EXPERIMENT,
     .in_config = true,
     .set = options_set_count,
     .place = AT(experiment.batches)},
    {.name = "ask",
     .argument = NULL,
     .range = "",
     .default_text = "",
     .help = "ask for everything, in the order of Erofeev's benchmark, and read the answers from standard "
             "input; with --dry-run only print the file that does the same",
     .commands = OPTIONS_EXPERIMENT,
     .in_config = false,
     .set = options_set_flag,
     .place = AT(experiment.ask)},
    {.name = "import",
     .argument = "erofeev",
     .range = "",
     .default_text = "",
     .help = "FILE holds results of that benchmark: measure nothing, report them",
     .commands = OPTIONS_EXPERIMENT,
     .in_config = false,
     .set = options_set_name,
     .place = AT(experiment.import)},
    {.name = "name",
     .argument = "TEXT",
     .range = "",
     .default_text = "",
     .help = "name of the experiment; without it, that of its file",
     .commands = OPTIONS_EXPERIMENT,
     .in_config = true,
     .set = options_set_text,
     .place = AT(experiment.name)},
};

const struct options_section options_table_experiment = {rows, sizeof(rows) / sizeof(rows[0])};
