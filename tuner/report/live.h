/* tuner/report/live: the view of `recommend` and `experiment` on a terminal - how far it is, the best so far,
 * and bars of the leading contenders - or one line where there is no room for it.
 *
 * A caller fills a zeroed view between two runs, offers what was measured, names the rows that stayed, and
 * shows it. Figures are geometric means over replays: those of the result may differ in the last digit. */
#ifndef FSTUNE_TUNER_REPORT_LIVE_H
#define FSTUNE_TUNER_REPORT_LIVE_H

#include "bench/base/factors.h"
#include "models/statistics/student.h"
#include "tuner/base/progress.h"

#include <stdbool.h>
#include <stddef.h>

#define LIVE_ROWS          5
#define LIVE_LINES         (3 + LIVE_ROWS)
#define LIVE_WIDEST        160 /* cells of a line */
#define LIVE_LEAST_COLUMNS 30  /* of a terminal */
#define LIVE_NAME_SIZE     (FACTORS_TEXT_SIZE + 64)
/* Three bytes a cell at most, and colours. */
#define LIVE_TEXT_SIZE ((size_t)LIVE_LINES * (3 * LIVE_WIDEST + 64))

enum live_unit { LIVE_BYTES_PER_S, LIVE_PER_S, LIVE_NS };

struct live_row {
    char name[LIVE_NAME_SIZE];
    size_t id;           /* the caller's */
    double worth;        /* higher is better */
    struct moments logs; /* of the figures of its replays, n > 0 */
};

struct live {
    char progress[96]; /* how far it is, in words */
    double done_share; /* 0..1; what lies outside is cut */
    char now[LIVE_NAME_SIZE];
    enum live_unit unit;
    double confidence; /* of the interval of the best, 0..1 */
    struct live_row rows[LIVE_ROWS];
    size_t n_rows; /* the best of those offered, the best of all first */
    bool has_best;
    struct live_row best; /* need not be among the rows */
};

/* Keeps the row when it is among the best LIVE_ROWS so far. Its name may follow later. */
void live_offer(struct live *live, const struct live_row *row);

/* The lines for this terminal, each ending in a line feed, none of more than form->columns - 1 cells; their
 * number, or 0 where they need more room than there is. */
size_t live_paint(const struct live *live, const struct progress_form *form, char ret_text[LIVE_TEXT_SIZE]);

/* On the terminal, as lines or as one. */
void live_show(const struct live *live, struct progress *progress);

#endif
