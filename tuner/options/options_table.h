/* tuner/options/options_table: the sections that the table of options is made of, each in a file of its own,
 * and the words that their rows are written in. Everyone else reads the rows through tuner/options/options.
 */
#ifndef FSTUNE_TUNER_OPTIONS_OPTIONS_TABLE_H
#define FSTUNE_TUNER_OPTIONS_OPTIONS_TABLE_H

#include "tuner/options/options.h"

#include <stddef.h>

#define BOTH       (OPTIONS_RECOMMEND | OPTIONS_MEASURE)
#define RUNS       (BOTH | OPTIONS_EXPERIMENT)
#define EVERY      (RUNS | OPTIONS_DOCTOR)
#define AT(member) offsetof(struct settings, member)

struct options_section {
    const struct option_row *rows;
    size_t n;
};

extern const struct options_section options_table_workload;
extern const struct options_section options_table_search;
extern const struct options_section options_table_runs;
extern const struct options_section options_table_emit;
extern const struct options_section options_table_history;
extern const struct options_section options_table_retune;
extern const struct options_section options_table_report;
extern const struct options_section options_table_plot;
extern const struct options_section options_table_experiment;
extern const struct options_section options_table_calibrate;
extern const struct options_section options_table_predict;
extern const struct options_section options_table_advise;
extern const struct options_section options_table_command;

#endif
