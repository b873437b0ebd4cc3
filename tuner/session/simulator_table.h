/* tuner/session/simulator_table: the CSV files of a simulated surface, read strictly. */
#pragma once

#include "bench/base/err.h"
#include "tuner/session/simulator.h"

#include <stddef.h>

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
