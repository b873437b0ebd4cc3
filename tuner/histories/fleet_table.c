/* tuner/histories/fleet_table: which setting is how far from its host's best. */
#include "tuner/histories/fleet_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run of fewer settings says little about which one is the best. */
#define LEAST_POINTS 4

size_t fleet_pattern_end(const struct fleet_data *data, size_t first)
{
    size_t end = first;
    while (end < data->n_runs && strcmp(data->runs[end].pattern, data->runs[first].pattern) == 0)
        end++;
    return end;
}

/* The newest run of each host that has enough settings; the runs of a host stand together. */
static void pick_hosts(struct fleet_table *table, const struct fleet_data *data, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct fleet_run *run = &data->runs[i];
        bool is_again = table->n_hosts > 0 && fleet_same_host(table->hosts[table->n_hosts - 1], run);
        if (run->n >= LEAST_POINTS)
            table->hosts[is_again ? table->n_hosts - 1 : table->n_hosts++] = run;
    }
}

static size_t place_of(struct fleet_table *table, const struct point *point)
{
    size_t i = 0;
    while (i < table->n_points && !factors_equal(&table->points[i], point))
        i++;
    if (i == table->n_points)
        table->points[table->n_points++] = *point;
    return i;
}

static int by_bytes_in_flight(const void *a, const void *b)
{
    uint64_t x = factors_bytes_in_flight(a), y = factors_bytes_in_flight(b);
    return (x > y) - (x < y);
}

static double best_of(const struct fleet_data *data, const struct fleet_run *run)
{
    double best = 0;
    for (size_t i = 0; i < run->n; i++)
        best = fmax(best, data->rates[run->first + i].bps);
    return best;
}

static void fill(struct fleet_table *table, const struct fleet_data *data, double tolerance)
{
    for (size_t i = 0; i < table->n_hosts * table->n_points; i++) {
        table->share[i] = NAN;
        table->within[i] = -1;
    }
    for (size_t host = 0; host < table->n_hosts; host++) {
        const struct fleet_run *run = table->hosts[host];
        double best = best_of(data, run);
        for (size_t i = 0; i < run->n; i++) {
            const struct fleet_rate *rate = &data->rates[run->first + i];
            size_t at = host * table->n_points + place_of(table, &rate->point);
            table->share[at] = rate->bps / best;
            table->within[at] = table->share[at] >= 1 - tolerance;
        }
        memcpy(table->values + host * FLEET_N_KINDS, run->values, FLEET_N_KINDS * sizeof *table->values);
    }
}

int fleet_table_make(struct fleet_table *table, const struct fleet_data *data, size_t first, size_t end,
                     double tolerance)
{
    size_t n_rates = 0;
    *table = (struct fleet_table){.hosts = calloc(end - first + 1, sizeof(struct fleet_run *))};
    if (table->hosts == NULL)
        return -ENOMEM;
    pick_hosts(table, data, first, end);
    for (size_t host = 0; host < table->n_hosts; host++)
        n_rates += table->hosts[host]->n;
    table->points = calloc(n_rates + 1, sizeof *table->points);
    for (size_t host = 0; host < table->n_hosts && table->points != NULL; host++) {
        for (size_t i = 0; i < table->hosts[host]->n; i++)
            place_of(table, &data->rates[table->hosts[host]->first + i].point);
    }
    /* Of settings that are right on as many hosts, rules take the first one. */
    if (table->points != NULL)
        qsort(table->points, table->n_points, sizeof *table->points, by_bytes_in_flight);
    size_t n = table->n_hosts * table->n_points + 1;
    table->share = calloc(n, sizeof *table->share);
    table->within = calloc(n, sizeof *table->within);
    table->values = calloc(table->n_hosts * FLEET_N_KINDS + 1, sizeof *table->values);
    if (table->points == NULL || table->share == NULL || table->within == NULL || table->values == NULL) {
        fleet_table_done(table);
        return -ENOMEM;
    }
    fill(table, data, tolerance);
    return 0;
}

void fleet_table_done(struct fleet_table *table)
{
    free(table->hosts);
    free(table->points);
    free(table->share);
    free(table->within);
    free(table->values);
    *table = (struct fleet_table){0};
}

struct rules_data fleet_table_rules(const struct fleet_table *table)
{
    return (struct rules_data){.n_hosts = table->n_hosts,
                               .n_settings = table->n_points,
                               .n_features = FLEET_N_KINDS,
                               .within = table->within,
                               .values = table->values};
}
