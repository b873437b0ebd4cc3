/* tuner/histories/fleet_prior: means over hosts, as rows of settings. */
#include "tuner/histories/fleet_prior.h"

#include "models/statistics/student.h"
#include "tuner/base/json.h"
#include "tuner/histories/fleet_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* NULL where too few hosts measured it. A host is one observation, whose spread is that between hosts. */
static json_t *mean_over_hosts(const struct fleet_table *table, size_t point)
{
    struct moments moments = {0};
    for (size_t host = 0; host < table->n_hosts; host++) {
        double share = table->share[host * table->n_points + point];
        if (!isnan(share))
            moments_add(&moments, log(share));
    }
    if (moments.n < FLEET_PRIOR_LEAST_HOSTS)
        return NULL;
    json_t *row = json_point(&table->points[point]);
    double mean = exp(moments.mean);
    json_object_set_new(row, "mean", json_number(mean));
    json_object_set_new(row, "std", json_number(mean * moments.std));
    json_object_set_new(row, "replays", json_integer((json_int_t)moments.n));
    return row;
}

int fleet_prior_make(const struct fleet_data *data, const char *pattern, json_t **ret_document,
                     struct err *err)
{
    struct fleet_table table;
    size_t first = 0;
    while (first < data->n_runs && strcmp(data->runs[first].pattern, pattern) != 0)
        first++;
    if (first == data->n_runs)
        return err_set(err, -ENODATA, "no host of the fleet has measured %.60s", pattern);
    if (fleet_table_make(&table, data, first, fleet_pattern_end(data, first), 0) < 0)
        return err_set(err, -ENOMEM, "no memory");
    json_t *rows = json_array();
    for (size_t point = 0; point < table.n_points; point++) {
        json_t *row = mean_over_hosts(&table, point);
        if (row != NULL)
            json_array_append_new(rows, row);
    }
    size_t n_hosts = table.n_hosts;
    fleet_table_done(&table);
    if (json_array_size(rows) == 0) {
        json_decref(rows);
        return err_set(err, -ENODATA, "no setting of %.60s was measured on %d hosts", pattern,
                       FLEET_PRIOR_LEAST_HOSTS);
    }
    *ret_document = json_pack("{s:s, s:s, s:I, s:o}", "schema", "fstune/fleet-prior/1", "pattern", pattern,
                              "hosts", (json_int_t)n_hosts, "points", rows);
    return *ret_document != NULL ? 0 : err_set(err, -ENOMEM, "no memory");
}
