/* tuner/picture/plot_gnuplot: runs gnuplot over a script. What it drew is a text in memory;
 * tuner/base/publish keeps it.
 */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>
#include <stdio.h>

/* What gnuplot prints to its output for a script; the caller frees it. gnuplot has no name of a file: it
 * cannot leave half a picture. 0; -ENOENT: gnuplot is not installed; -EINTR: a signal came, and gnuplot was
 * killed; -EIO: it failed, with its first line; or a negative errno. */
int plot_gnuplot_run(const char *script, size_t size, char **ret_picture, size_t *ret_size, struct err *err);
