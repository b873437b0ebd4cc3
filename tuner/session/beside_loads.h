/* tuner/session/beside_loads: the loads of --beside in a session: their files, what they reach alone, and
 * what they reached beside each setting. */
#pragma once

#include "bench/run/beside.h"
#include "tuner/session/session.h"

#include <stddef.h>

#define BESIDE_LOADS_ALONE_SECONDS 5 /* at most */

struct beside_record {
    struct point point;
    struct beside_figures *figures; /* of each load, over all runs of this setting */
};

struct beside_loads {
    struct beside beside;
    struct beside_figures before[BESIDE_MOST]; /* without the load that is measured */
    struct beside_record *records;
    size_t n, capacity;
};

/* For the thread that prepares the session, behind its target: makes and fills the files, and lets the loads
 * run alone for a while. Nothing without --beside. */
int beside_loads_open(struct session *session, struct err *err);

/* After a run, also one that failed: counts the bytes of the loads. */
void beside_loads_count(struct session *session);

/* After a run that counts: keeps what the loads reached. 0; -ENOMEM; or -EDQUOT with
 * wrote_out: the loads reached what they were allowed to write, so that the run does not count. */
int beside_loads_note(struct session *session, const struct point *point, struct err *err);

/* What requests say of a limit on their p99: over it, or within it, where that holds with 95 %; else nothing
 * yet. One-sided bounds on the number of requests above the limit, as rare events (Poisson). */
enum beside_verdict { BESIDE_UNSETTLED, BESIDE_WITHIN, BESIDE_OVER };
enum beside_verdict beside_loads_judge(const struct histogram *latency, uint64_t limit_ns);

/* Whether a load is over --beside-limit in all runs of this setting together. */
bool beside_loads_over_limit(const struct session *session, const struct point *point);

/* What they write at most in so many seconds. */
double beside_loads_write_bytes(const struct session *session, double seconds);

/* What they may write in the next run; nothing without --beside. */
void beside_loads_allow(struct session *session, double bytes);

/* Of each load, beside this setting; NULL: none was measured. */
const struct beside_figures *beside_loads_during(const struct session *session, const struct point *point);

/* Accepts a session without any. */
void beside_loads_close(struct session *session);
