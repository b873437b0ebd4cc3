/* tuner/picture/plot_script: the words that all pictures' scripts for gnuplot share.
 *
 * A text from outside becomes a string in single quotes, inside which gnuplot substitutes nothing; data
 * blocks hold numbers only. */
#ifndef FSTUNE_TUNER_PICTURE_PLOT_SCRIPT_H
#define FSTUNE_TUNER_PICTURE_PLOT_SCRIPT_H

#include "tuner/picture/plot.h"
#include "tuner/picture/plot_slice.h"

/* Colours that people with any colour vision tell apart (Okabe and Ito 2008), and black. */
#define PLOT_BLUE     "#0072B2"
#define PLOT_ORANGE   "#E69F00"
#define PLOT_GREEN    "#009E73"
#define PLOT_RED      "#D55E00"
#define PLOT_GREY     "#8C8C8C"
#define PLOT_N_SERIES 8
extern const char *const plot_series_colours[PLOT_N_SERIES];

/* How intervals stand over a point: error bars of gnuplot 5.4 erase what is behind their middle. */
#define PLOT_WHISKERS "with vectors heads size screen 0.005,90"

/* A text as a string of gnuplot's; at most `limit` bytes of it, with "..." for the rest. */
void plot_script_text(FILE *script, const char *text, size_t limit);

/* Terminal, fonts, and the title: the user's, or `what` and, in a line of its own, `detail`. Anything may be
 * "". */
void plot_script_begin(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const char *what, const char *detail);

/* The same for a slice: what varies and what is fixed. */
void plot_script_begin_slice(FILE *script, const struct plot_request *request,
                             const struct plot_slice *slice);

/* Tics of the axis ("x", "y") at 0, 1, 2 ... with the levels as text; its title. */
void plot_script_levels(FILE *script, const struct plot_request *request, const struct plot_slice *slice,
                        size_t axis, const char *name, bool in_space);
void plot_script_title(FILE *script, const char *name, const char *title);

/* A unit in which the largest rate has one to three digits before the point. */
struct plot_unit {
    double bps;
    const char *name;
};
struct plot_unit plot_script_unit(double max_bps);

/* A rate in three digits without its unit, as "1.21" of GB/s; UNITS_TEXT_SIZE. */
const char *plot_script_rate(double bps, struct plot_unit unit, char *buffer);

/* Tics of a logarithmic axis of latencies in ns, with units. */
void plot_script_latency_tics(FILE *script, const char *name);

/* The key below the picture: its entries side by side, or one a line where they are long. */
void plot_script_key_below(FILE *script, const struct plot_request *request, bool side_by_side);

/* The title of a line in the key below. */
void plot_script_key(FILE *script, const struct plot_request *request, const char *text);

/* One number of a data block; an unknown one is what gnuplot leaves out. */
void plot_script_number(FILE *script, double value);

/* Letters only: no fills, no bands, no thickness. */
bool plot_script_is_text(const struct plot_request *request);

/* The classes of std as a share of the mean, and their colours, from the least to the largest; the last is
 * unknown. */
#define PLOT_N_SCATTERS 7
struct plot_scatter {
    double below_share; /* INFINITY: all others; NaN: unknown */
    const char *words, *colour;
};
extern const struct plot_scatter plot_scatters[PLOT_N_SCATTERS];
size_t plot_script_scatter(const struct plot_point *point);

#endif
