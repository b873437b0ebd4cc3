/* models/online/phases: when the load will become another one, where that comes at regular times.
 *
 * For each kind of load after each other one two rules expect its end: after its usual length, and at the
 * usual distance from its last end. Both follow their times as TCP follows its round trips (Jacobson 1988): a
 * mean that follows, and a mean deviation, four of which are the window around what is expected. A rule says
 * something only when its window is a quarter of the phase or less, so that a change at any time would be in
 * it once in four times at most. It is scored by what it said beforehand (Dawid 1984): right is the kind that
 * came, within the window. It is believed while it is shown to be right more often than wrong (Wilson's
 * bound, 95 % on one side, 1927).
 *
 * Times are seconds of any clock that never goes back. */
#pragma once

#include "models/online/calendar.h"

enum phases_rule_name { PHASES_LENGTH, PHASES_DISTANCE, PHASES_N_RULES };

struct phases_rule {
    double mean, deviation;
    uint32_t n;
    struct calendar_score score;
};

/* A kind of load after another one. */
struct phases_place {
    struct phases_rule rules[PHASES_N_RULES];
    double last_end;
    unsigned next; /* the kind that came after it the last time */
    uint32_t n_ends;
};

struct phases {
    struct phases_place places[KIND_N + 1][KIND_N]; /* by the kind before it, then by its own */
    unsigned before, kind;                          /* KIND_NONE: not known yet */
    double begin;                                   /* of the phase that goes on */
};

struct phases_forecast {
    unsigned kind;
    double seconds, within; /* when it comes, give or take */
    struct calendar_score score;
};

void phases_init(struct phases *phases);

/* Another kind than that which goes on has begun; times are told in their order. */
void phases_change(struct phases *phases, unsigned kind, double seconds);

/* False: nothing is foreseen. */
bool phases_foresee(const struct phases *phases, struct phases_forecast *ret_forecast);

/* Whether the phase is foreseen to end within these times. */
bool phases_may_end(const struct phases *phases, double from, double to);
