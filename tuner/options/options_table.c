/* tuner/options/options_table: every option, declared once, in the order of --help. */
#include "tuner/options/options_table.h"

static const struct options_section *const sections[] = {
    &options_table_workload,   &options_table_search,    &options_table_runs,    &options_table_emit,
    &options_table_history,    &options_table_retune,    &options_table_plot,    &options_table_report,
    &options_table_experiment, &options_table_calibrate, &options_table_predict, &options_table_advise,
    &options_table_command};

const struct option_row *options_row(size_t i)
{
    for (size_t section = 0; section < sizeof(sections) / sizeof(sections[0]); section++) {
        if (i < sections[section]->n)
            return &sections[section]->rows[i];
        i -= sections[section]->n;
    }
    return NULL;
}
