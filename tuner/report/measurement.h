/* tuner/report/measurement: the replays of `measure`, or its rounds until the rate is steady. */
#pragma once

#include "bench/base/err.h"
#include "models/statistics/steady.h"
#include "tuner/report/cross_check.h"
#include "tuner/report/rates.h"
#include "tuner/report/report_inside.h"
#include "tuner/session/members_study.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"
#include "tuner/session/sustained.h"

#include <stdbool.h>

struct measurement {
    struct session *session;
    const struct settings *settings;
    struct record record;           /* all replays or rounds; record.point is set by the caller */
    struct sustained sustained;     /* the same, as a trace; its point number is 0 */
    struct report_inside inside;    /* the longest run, for batch_means */
    struct cross_check cross_check; /* opened by the caller, closed by measurement_done */
    struct rates rates;             /* of --rate; zeroed without */
    struct members_study members;   /* each alone, where there are several targets */
    bool interrupted;

    /* --until-steady: */
    const struct steady_rule *rule; /* NULL without it */
    double start_s;                 /* of the first round */
    struct steady_state state;      /* of the last rounds */
    struct histogram *latency;      /* of each round */
    struct record steady;           /* the last state.n_rounds rounds */
    const char *ended;              /* why the rounds ended; NULL: steady */
};

/* One run of a point, as the settings ask for it. */
struct measure_plan measurement_plan(const struct settings *settings, const struct point *point);

/* Runs all replays or rounds. 0, also when interrupted or when the write budget ends it after the first; or
 * the failure of a run. */
int measurement_run(struct measurement *measurement, struct err *err);

/* The replays that the figures are about: the steady rounds where they were looked for, else all. */
const struct record *measurement_figures(const struct measurement *measurement);

void measurement_done(struct measurement *measurement);
