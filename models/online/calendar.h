/* models/online/calendar: which kind of load comes at which hour of the day or of the week, and how often it
 * was right to say so beforehand.
 *
 * Three rules know what each of them has seen: the commonest kind of all hours, of this hour of the day, of
 * this hour of the week. Before each hour is told, each rule that has seen enough says what it expects, and
 * is scored (Dawid's prequential principle, 1984): the scores are of forecasts that were made a day ahead or
 * more, never of a fit to the past. What is foretold is what the rule with the best score so far says. All
 * zero: nothing is known. */
#pragma once

#include "models/online/kind.h"

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_DAY_HOURS  24U
#define CALENDAR_WEEK_HOURS (7 * CALENDAR_DAY_HOURS)
#define CALENDAR_CLASSES    (KIND_N + 1) /* the last: KIND_NONE, nothing was asked for, or too little */

enum calendar_rule { CALENDAR_ALWAYS, CALENDAR_DAILY, CALENDAR_WEEKLY, CALENDAR_N_RULES };

struct calendar_score {
    uint32_t n_said, n_right;
};

struct calendar {
    uint32_t daily[CALENDAR_DAY_HOURS][CALENDAR_CLASSES], weekly[CALENDAR_WEEK_HOURS][CALENDAR_CLASSES];
    uint32_t always[CALENDAR_CLASSES];
    struct calendar_score rules[CALENDAR_N_RULES];
    struct calendar_score foretold, plain;         /* plain: what CALENDAR_ALWAYS said of the same hours */
    struct calendar_score kinds[CALENDAR_CLASSES]; /* of the hours for which this one was foretold */
    uint32_t n_came[CALENDAR_CLASSES]; /* hours that had it, of those for which any was foretold */
    uint32_t n_hours;
};

/* hour: of the week, the first of Sunday is 0. False: too little is known to say anything. */
bool calendar_foretell(const struct calendar *calendar, unsigned hour, unsigned *ret_kind,
                       enum calendar_rule *ret_rule);

/* What the hour had; hours are told in the order of time, and those that nobody watched are left out. */
void calendar_tell(struct calendar *calendar, unsigned hour, unsigned kind);

/* Share of its forecasts that were right, and the lower end of its interval of 95 % on one side (Wilson
 * 1927); NaN where none was made. */
double calendar_share(const struct calendar_score *score, double *ret_low);

/* The kind comes at its hours: even the lower end is above the share of all hours that had it. */
bool calendar_is_periodic(const struct calendar *calendar, unsigned kind);
