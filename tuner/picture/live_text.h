/* tuner/picture/live_text: a recording's figures as lines. */
#pragma once

#include "models/profile/look.h"
#include "models/profile/look_streams.h"

#include <stdbool.h>
#include <stddef.h>

#define LIVE_SECONDS 60 /* of the rate's small picture */

struct live_figures {
    const char *what;                       /* is recorded */
    const struct look *last;                /* counts since the beginning */
    double seconds;                         /* since then */
    const struct look_rates *now, *mean;    /* of the last second, and since the beginning */
    const double *kind_bps, *kind_mean_bps; /* the same of the bytes of each kind */
    const double *history_bps;              /* second by second, the last one last */
    size_t n_history;                       /* at most LIVE_SECONDS */
    const struct look_stream *busiest;      /* of the last second */
    char (*busiest_name)[STORE_NAME_SIZE];  /* of each; "" where it is not known */
    size_t n_busiest;
    bool has_ended;  /* the line tells of all of it, with the sums */
    bool has_blocks; /* the terminal shows the block characters of UTF-8 */
};

/* As many lines as a terminal has room for, the least important left out, each cut at 80 columns or what the
 * terminal has, each with its line feed. */
void live_text_view(const struct live_figures *figures, size_t rows, size_t columns, char *text, size_t size);

/* One line, without its end, cut where the terminal ends. */
void live_text_line(const struct live_figures *figures, size_t columns, char *text, size_t size);
