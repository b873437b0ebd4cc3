/* tuner/report/cross_check: does another program measure the same? (measure --cross-check fio)
 *
 * fio runs once per replay, on the same file, prepared in the same way and moving the bytes that the replay
 * moved; which of the two goes first changes by chance within balanced blocks (AB BA or BA AB). */
#pragma once

#include "bench/base/rng.h"
#include "models/statistics/student.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CROSS_CHECK_AGREES_SHARE 0.03

struct cross_check {
    struct session *session; /* NULL: not asked for; every function then does nothing */
    struct point point;
    char version[32];
    double *bps; /* of fio's runs, one for a replay at most */
    size_t n;
    struct rng rng;
    bool second_first;   /* in the current pair fio goes first */
    bool block_first;    /* the order of the first pair of the current block */
    bool ended;          /* --max-write leaves no room for further runs */
    bool starts_unknown; /* fio did not tell when its jobs began: its rate may be too high */
};

/* What can be refused before anything is done: fio cannot do what pvec does, nor run on a surface. 0 or
 * -EINVAL. */
int cross_check_plan(const struct settings *settings, const struct point *point, struct err *err);

/* Asks fio for its version, before a byte is written. 0; -ENOENT when it is not installed; -ENOMEM. */
int cross_check_open(struct cross_check *check, struct session *session, const struct point *point,
                     struct err *err);
void cross_check_close(struct cross_check *check);

/* To be called right before and right after each replay; runs fio when it is its turn. `record` holds the
 * replays so far. 0; -EINTR; -EIO with fio's own first line; other negative errno. */
int cross_check_before(struct cross_check *check, const struct record *record, struct err *err);
int cross_check_after(struct cross_check *check, const struct record *record, struct err *err);

/* What the runs say. Figures that they do not support are NaN. */
struct cross_check_result {
    double mean_bps;
    double ratio;             /* fstune / fio: of the geometric means */
    struct interval interval; /* Welch's, on logarithms; needs 3 runs of both */
    bool coarse;         /* the interval is missing or wider than 10 % to a side: agreement says little */
    bool known, agrees;  /* the interval covers 1, or the ratio is within 3 % of it */
    const char *why_not; /* NULL where they agree */
};

/* Of throughputs > 0. */
struct cross_check_result cross_check_judge(struct moments own_logs, const double *bps, size_t n,
                                            double confidence);

/* A new reference, for "cross_check"; NULL when memory ran out. */
json_t *cross_check_json(const struct cross_check *check, const struct record *record);
void cross_check_print(FILE *out, const struct cross_check *check, const struct record *record);
