/* tuner/report/live: the status line of `recommend` and `experiment` on a terminal: the time left, the best
 * setting so far, and what runs now.
 *
 * A caller fills a status between two runs and shows it. Figures are geometric means over replays, so that
 * the result may differ in the last digit. */
#pragma once

#include "bench/base/factors.h"
#include "models/statistics/student.h"
#include "tuner/base/progress.h"
#include "tuner/search/tune.h"

#define LIVE_NAME_SIZE (FACTORS_TEXT_SIZE + 64)

enum live_unit { LIVE_BYTES_PER_S, LIVE_PER_S, LIVE_NS };

struct live {
    double seconds_left; /* below 0 counts as 0 */
    char now[LIVE_NAME_SIZE];
    enum live_unit unit;
    double confidence; /* of the interval of the best, 0..1 */
    char best[LIVE_NAME_SIZE];
    struct moments best_logs; /* of the figures of its replays; n = 0: no best yet */
};

/* Draws the line, cut at the terminal's width: the time left stands first. */
void live_show(const struct live *live, struct progress *progress);

/* Of a search: shows the line before a run; nothing where stderr is no terminal or was drawn on just now. */
extern const struct tune_observer live_tune;
