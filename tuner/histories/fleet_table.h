/* tuner/histories/fleet_table: hosts by settings, from the newest run of each host under one pattern. */
#pragma once

#include "models/fleet/rules.h"
#include "tuner/histories/fleet_data.h"

struct fleet_table {
    size_t n_hosts, n_points;
    const struct fleet_run **hosts; /* the run of each */
    struct point *points;
    double *share;       /* [host][point]: its rate by the best of the host; NaN: not measured */
    signed char *within; /* [host][point], as models/fleet/rules.h has it */
    uint32_t *values;    /* [host][FLEET_N_KINDS] */
};

/* Of the runs [first, end) of one pattern that have several settings; tolerance: how far below the best is
 * within. 0 or -ENOMEM; fleet_table_done accepts a zeroed one. */
int fleet_table_make(struct fleet_table *table, const struct fleet_data *data, size_t first, size_t end,
                     double tolerance);
void fleet_table_done(struct fleet_table *table);

struct rules_data fleet_table_rules(const struct fleet_table *table);

/* Where the runs of the pattern that begins at `first` end. */
size_t fleet_pattern_end(const struct fleet_data *data, size_t first);
