/* tuner/report/rates: a setting under offered rates (--rate of `measure`): runs in which requests begin at
 * given times, whatever has come back. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/histogram.h"
#include "models/statistics/student.h"
#include "tuner/session/session.h"

#include <stdbool.h>
#include <stddef.h>

struct rates_step {
    double offered_bps;
    struct moments achieved_bps; /* of the runs */
    uint64_t n_requests, n_late; /* of all runs: that came back; that had not begun when their run ended */
    double *p99_ns;              /* of each run; achieved_bps.n of them; NaN where it has too few requests */
    struct histogram latency;    /* of all runs */
};

struct rates {
    struct rates_step *step;
    size_t n;
    bool random;     /* requests were due at random distances */
    double full_bps; /* the rate without an offered one, which shares refer to */
};

/* The requests a second of a rate in bytes. */
double rates_iops(const struct session *session, const struct point *point, double bps);

/* Offers each rate --replays times, in an order drawn by chance every time. full_bps: what the setting
 * reached by itself. 0, -EINTR or -EDQUOT (what was measured until then stands in the steps), or the failure
 * of a run. */
int rates_run(struct rates *rates, struct session *session, const struct point *point, double full_bps,
              struct err *err);

/* Whether the rate is served: its requests come back as fast as they are sent. */
bool rates_is_kept(const struct rates_step *step);

/* Accepts a zeroed one. */
void rates_done(struct rates *rates);
