/* tuner/picture/plot_deliver: the way of a picture from a wish to a file or to the terminal. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot.h"

#include <stdio.h>

/* The wish for a picture that goes to `output`: NAME.png, .svg or .pdf, or "" for standard output, where
 * settings->terminal counts. 0, or -EINVAL for another name: the text begins with the name alone. */
int plot_deliver_request(const struct settings_plot *settings, const char *output,
                         struct plot_request *ret_request, struct err *err);

/* What gnuplot prints to its output for a script; the caller frees it. gnuplot has no name of a file: it
 * cannot leave half a picture. 0; -ENOENT: gnuplot is not installed; -EINTR: a signal came, and gnuplot was
 * killed; -EIO: it failed, with its first line; or a negative errno. */
int plot_gnuplot_run(const char *script, char **ret_picture, size_t *ret_size, struct err *err);

/* Runs gnuplot over the script; the picture goes where the wish was made for. 0 or as plot_gnuplot_run and
 * publish_file. */
int plot_deliver(const struct plot_request *request, const char *output, const char *script, struct err *err);

/* Wish, script and delivery in one: `draw` writes the script. */
int plot_deliver_drawn(const struct settings_plot *settings, const char *output,
                       int (*draw)(FILE *script, const struct plot_request *request, const void *context,
                                   struct err *err),
                       const void *context, struct err *err);
