/* tuner/session/simulator: reads a simulated surface (interfaces, section 8) and answers what a point's true
 * throughput is. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/pattern.h"
#include "bench/io/ioapi_simulator.h"

#include <stddef.h>
#include <stdint.h>

/* One tabulated point; rows of equal points are averaged. */
struct simulator_cell {
    char pattern[PATTERN_NAME_SIZE]; /* normalised */
    struct point point;              /* sync is SYNC_END */
    double throughput_bps;
    size_t n_rows;
};

struct simulator {
    char name[128];
    struct simulator_cell *cells; /* sorted by pattern, direct, api, threads, size, depth */
    size_t n_cells;
    struct simulator_trace_step *trace;
    struct simulator_world world; /* world.trace borrows trace; world.now_ns points to now_ns */
    uint64_t now_ns;              /* the virtual clock's hand */
};

/* Reads the libconfig file and the CSV files it names (relative to it). 0, or a negative errno with
 * "FILE:LINE: what". The structure must not be moved afterwards. simulator_close accepts a zeroed structure.
 */
int simulator_open(struct simulator *simulator, const char *path, struct err *err);
void simulator_close(struct simulator *simulator);

/* Cells of one pattern: [*ret_first, *ret_first + *ret_n). */
void simulator_cells_of(const struct simulator *simulator, const struct pattern *pattern, size_t *ret_first,
                        size_t *ret_n);

/* Table's throughput, interpolated linearly in log throughput over (log2 request size, log2 queue depth);
 * everything else must match. Between two sizes, of reads and of writes, nothing is interpolated. 0, or
 * -ENODATA with a text that names the point. The signature is that of measure_env.truth_bps; context is the
 * surface. */
int simulator_truth_bps(void *context, const struct pattern *pattern, const struct point *point,
                        double *ret_bps, struct err *err);

/* --- the CSV files, read strictly: simulator_table.c --- */

/* Header "pattern,request_size,queue_depth,direct,api,threads,throughput_bps", or the same and
 * ",write_request_size": the size of writes, empty for that of reads. Rows of one point are averaged; cells
 * come sorted. Throughput is 1 .. 1e15 bytes/s. The caller frees *ret_cells. 0; -EINVAL with "FILE:LINE:
 * what"; other negative errno when unreadable. */
int simulator_table_read(const char *path, struct simulator_cell **ret_cells, size_t *ret_n, struct err *err);

/* Order of cells, for qsort and bsearch: pattern, direct, api, threads, sizes, depth. */
int simulator_table_compare(const void *left, const void *right);

/* Header "seconds,factor"; seconds ascending from 0 or later, factors 1e-6 .. 1e6. The caller frees
 * *ret_steps. */
int simulator_trace_read(const char *path, struct simulator_trace_step **ret_steps, size_t *ret_n,
                         struct err *err);
