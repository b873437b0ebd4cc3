/* tuner/profile/watch_report: what the history knows of the loads of a watched place: how long each was
 * there, when, and which is foretold. */
#pragma once

#include "bench/base/err.h"
#include "models/online/calendar.h"

#include <jansson.h>
#include <stdio.h>

struct history;

#define WATCH_DAYS      56 /* that are looked at: loads change, and eight weeks show what a week brings */
#define WATCH_TIME_SIZE 32
#define WATCH_LEAST_SHARE                                                                                    \
    (1.0 / 6) /* of an hour: less of it watched tells nothing, and a load needs so much */

struct watch_load {
    double seconds, last_s; /* that it was there; the end of the last slice that had it, since 1970 */
    double n_requests, n_bytes;
};

struct watch_report {
    const char *place; /* borrowed */
    double now_s, first_s;
    struct watch_load loads[KIND_N + 1]; /* by kind */
    double seconds;                      /* watched in all */
    struct calendar calendar;            /* in local time */
};

/* now_s: since 1970. 0 or a negative errno. */
int watch_report_make(struct watch_report *report, struct history *history, const char *place, double now_s,
                      struct err *err);

/* The kind that was there for most of the time; KIND_NONE: none was. */
unsigned watch_report_most(const struct watch_report *report);

/* The next time that a periodic kind is foretold, and until when, both whole hours; from_s: the hours before
 * are passed over. False: not within a week from now. */
struct watch_visit {
    unsigned kind;
    enum calendar_rule rule;
    double start_s, end_s;
};
bool watch_report_next(const struct watch_report *report, double from_s, struct watch_visit *ret_visit);

void watch_report_print(FILE *out, const struct watch_report *report);
json_t *watch_report_json(const struct watch_report *report);

/* All places of a history, in text, or as the document fstune/patterns/1. */
int watch_report_places(struct history *history, double now_s, bool json, struct err *err);

/* Local: "2026-11-01 02:00". */
const char *watch_report_time(double at_s, char buffer[static WATCH_TIME_SIZE]);
