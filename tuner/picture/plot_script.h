/* tuner/picture/plot_script: how variables, texts and data of all kinds of pictures come into a script for
 * gnuplot, before the templates (tuner/picture/plot_assets) that draw them.
 *
 * A text from outside becomes a string in single quotes, inside which gnuplot substitutes nothing; data
 * blocks hold numbers only. */
#pragma once

#include "tuner/picture/plot.h"
#include "tuner/picture/plot_slice.h"

/* A text as a string of gnuplot's; at most `limit` bytes of it, with "..." for the rest. */
void plot_script_text(FILE *script, const char *text, size_t limit);

/* A variable of the script with such a string. */
void plot_script_string(FILE *script, const char *name, const char *text, size_t limit);

/* An array of strings, item by item. percent: they label tics, which are formats to gnuplot. */
void plot_script_begin_array(FILE *script, const char *name, size_t n);
void plot_script_item(FILE *script, size_t i, const char *text, size_t limit, bool percent);
void plot_script_end_array(FILE *script);

/* An item that is the title of a line in the key below. */
void plot_script_key(FILE *script, size_t i, const struct plot_request *request, const char *text);

/* What plot_assets/head.gp needs: terminal, size, and the headline: the user's title, or `what` and, in a
 * line of its own, `detail`. Anything may be "". */
void plot_script_begin(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const char *what, const char *detail);

/* The same for a slice: what varies and what is fixed. */
void plot_script_begin_slice(FILE *script, const struct plot_request *request,
                             const struct plot_slice *slice);

/* One number of a data block; an unknown one is what gnuplot leaves out. */
void plot_script_number(FILE *script, double value);

/* A row of a data block that may have no other: gnuplot warns of an empty one. */
#define PLOT_NOTHING "NaN NaN 0\n\n"

/* Letters only: no fills, no bands, no thickness. */
bool plot_script_is_text(const struct plot_request *request);
