/* tuner/picture/plot_slice: the part of the measured points that a picture shows: one or two factors vary,
 * the others are fixed. */
#pragma once

#include "tuner/picture/plot.h"

#define PLOT_SLICE_MAX_LEVELS 64

struct plot_axis {
    size_t factor;
    size_t n;
    uint16_t level[PLOT_SLICE_MAX_LEVELS]; /* those that occur, ascending */
};

struct plot_slice {
    const struct plot_data *data; /* borrowed */
    struct plot_axis axes[2];     /* x, y; the second has one level where one factor varies */
    size_t n_axes;
    const struct plot_point *cells[PLOT_SLICE_MAX_LEVELS * PLOT_SLICE_MAX_LEVELS]; /* [x * axes[1].n + y];
                                                                                     NULL: not measured */
    const struct plot_point *best; /* of the slice: the one recommended, else the fastest */
    double max_bps;                /* of means and upper bounds */
    size_t n_cells, n_left_out;    /* measured; and of them distrusted, which are not shown */
    char fixed[PLOT_TEXT_SIZE];    /* "randwrite, direct, io_uring, 1 thread" */
};

/* The factor's levels are numbers above 0, so that a log2 axis can hold them. */
bool plot_slice_is_number(size_t factor);

/* Chooses. Factors that the wish does not name: those with which the slice through the best point holds most
 * points. numbers: the first must be a number. 0; -EINVAL where the wish does not fit, -ENODATA where no
 * point is left. */
int plot_slice_make(struct plot_slice *slice, const struct plot_request *request,
                    const struct plot_data *data, size_t n_axes, bool numbers, struct err *err);

/* NULL or the point. */
const struct plot_point *plot_slice_at(const struct plot_slice *slice, size_t x, size_t y);
const struct plot_level *plot_slice_level(const struct plot_slice *slice, size_t axis, size_t i);

/* What --where asks for. Reading it: 0 or -EINVAL with the words. */
struct plot_where {
    uint16_t level[PLOT_FACTOR_N]; /* PLOT_NO_LEVEL: any */
};
int plot_where_read(struct plot_where *where, const char *text, const struct plot_data *data,
                    struct err *err);
bool plot_where_fits(const struct plot_where *where, const struct plot_point *point);

/* A point in words, without what all points of the data share: "64k x 8, direct, io_uring". */
const char *plot_slice_words(const struct plot_data *data, const struct plot_point *point,
                             char buffer[PLOT_TEXT_SIZE]);

/* Levels of some factors with what makes them readable alone: "64k, depth 8, 1 thread". */
const char *plot_slice_join(const struct plot_data *data, const struct plot_point *point,
                            const bool shown[PLOT_FACTOR_N], char buffer[PLOT_TEXT_SIZE]);

/* The trustworthy point that stands for the others: recommended, best by its file, or the fastest of those
 * that fit; NULL without one. */
const struct plot_point *plot_slice_anchor(const struct plot_data *data, const struct plot_where *where);
