/* tuner/session/surface: reads a simulated surface (interfaces, section 8) and answers what a point's true
 * throughput is. */
#ifndef FSTUNE_TUNER_SESSION_SURFACE_H
#define FSTUNE_TUNER_SESSION_SURFACE_H

#include "bench/base/err.h"
#include "bench/base/pattern.h"
#include "bench/io/ioapi_surface.h"

#include <stddef.h>
#include <stdint.h>

/* One tabulated point; rows of equal points are averaged. */
struct surface_cell {
    char pattern[PATTERN_NAME_SIZE]; /* normalised */
    struct point point;              /* sync is SYNC_END */
    double throughput_bps;
    size_t n_rows;
};

struct surface {
    char name[128];
    struct surface_cell *cells; /* sorted by pattern, direct, api, threads, size, depth */
    size_t n_cells;
    struct surface_trace_step *trace;
    struct surface_world world; /* world.trace borrows trace; world.now_ns points to now_ns */
    uint64_t now_ns;            /* the virtual clock's hand */
};

/* Reads the libconfig file and the CSV files it names (relative to it). 0, or a negative errno with
 * "FILE:LINE: what". The structure must not be moved afterwards. surface_close accepts a zeroed structure. */
int surface_open(struct surface *surface, const char *path, struct err *err);
void surface_close(struct surface *surface);

/* Cells of one pattern: [*ret_first, *ret_first + *ret_n). */
void surface_cells_of(const struct surface *surface, const struct pattern *pattern, size_t *ret_first,
                      size_t *ret_n);

/* Table's throughput, interpolated linearly in log throughput over (log2 request size, log2 queue depth);
 * everything else must match. Between two sizes, of reads and of writes, nothing is interpolated. 0, or
 * -ENODATA with a text that names the point. The signature is that of measure_env.truth_bps; context is the
 * surface. */
int surface_truth_bps(void *context, const struct pattern *pattern, const struct point *point,
                      double *ret_bps, struct err *err);

#endif
