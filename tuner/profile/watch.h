/* tuner/profile/watch: slices of a running system's time, told one by one: which kind of load each had goes
 * into the history, and a line says when another kind of load has come. */
#pragma once

#include "bench/base/err.h"
#include "models/online/kind.h"

#include <stdint.h>
#include <stdio.h>

struct history;
struct recording;

/* A kind is there when it had so many slices in a row. */
#define WATCH_LEAST_SLICES 2

struct watch {
    struct history *history;
    const char *place; /* as history_watch.h has it */
    FILE *out;         /* for lines; NULL: there are none */
    unsigned kind;     /* that is there */
    unsigned next;     /* that the last slices had, and how many */
    unsigned n_next;
    uint64_t n_missed; /* slices that the history could not take, being busy, or its disk full */
    double before_seconds, before_s; /* how long `next` had been here before these, and when it ended */
};

/* Of a slice that began then, since 1970, the recording's store holds the requests, and is empty afterwards:
 * the next slice begins at now_ns of its clock. 0, also where the slice could not be kept and the next one
 * may be, which a line on standard error says; or a negative errno. */
int watch_slice(struct watch *watch, struct recording *recording, double start_s, double seconds,
                uint64_t now_ns, struct err *err);
