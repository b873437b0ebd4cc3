/* tuner/picture/plot: pictures of results, drawn by gnuplot. A kind of picture is one file plot_NAME.c,
 * one template and one row.
 *
 * A kind writes variables and data blocks, from data that tuner/picture/plot_data read, with the words of
 * tuner/picture/plot_script; a template, plot_assets/NAME.gp, draws them; tuner/picture/plot_deliver runs the
 * whole. No text of the data reaches the script unquoted. */
#pragma once

#include "bench/base/err.h"
#include "tuner/picture/plot_data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum plot_terminal { PLOT_PNG, PLOT_SVG, PLOT_PDF, PLOT_SIXEL, PLOT_DUMB };

/* What the user asked for. */
struct plot_request {
    enum plot_terminal terminal;
    unsigned width, height; /* pixels; of PLOT_DUMB: characters */
    bool colours;           /* of PLOT_DUMB; the others always have them */
    const char *title;      /* "": made from the data */
    const char *x, *y;      /* keys of factors; "": the two with most points */
    const char *where;      /* "KEY=VALUE,...": the others; where nothing is said, as at the best point */
};

struct plot_ops {
    const char *name, *summary;
    /* 0; -EINVAL where the wish does not fit the data, -ENODATA where the data do not hold what this kind
     * shows: the text says what does; -ENOMEM. */
    int (*draw)(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err);
};

/* plot_history draws data of plot_data_history, the others what plot_data_load reads. */

/* The kinds one by one, NULL behind the last; NULL or the one of that name. */
const struct plot_ops *plot_row(size_t i);
const struct plot_ops *plot_find(const char *name);

extern const struct plot_ops plot_bars, plot_bars3d, plot_lines, plot_heatmap, plot_percentiles, plot_time,
    plot_convergence, plot_pareto, plot_rate, plot_history, plot_prediction, plot_atoms, plot_cost,
    plot_profile;
