/* tuner/nightly/retune_decide: from the replays of tonight and of earlier nights to a verdict. */
#pragma once

#include "models/statistics/nights.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/search/tune.h"

/* A point that tonight's confirming replays compare with the one in force. */
struct retune_contender {
    size_t point; /* index of tune */
    struct nights_estimate tonight;
    struct nights_pooled pooled;
    enum nights_decision decision;
};

struct retune_decision {
    struct retune_contender contenders[RETUNE_STATE_MAX_CONFIRMING];
    size_t n_contenders;
    size_t
        lead; /* among them: what is changed to, else the best by what is pooled; SIZE_MAX: there is none */
    bool change;            /* to it */
    size_t n_changes;       /* of what is in force, in the newest NIGHT_CHANGES_NIGHTS nights */
    double tolerance_share; /* the gain that a change needed tonight */
    unsigned behind;
    struct moments in_force_log_bps; /* after the choice */
    struct nights_expected expected; /* n 0: nothing is known */
    bool drifted;                    /* down by many small steps; expected is then the best level held */
};

/* Compares with tune->baseline, which is in force and has at least TUNE_MIN_REPLAYS confirming replays. Has
 * nothing to say about a first night. */
void retune_decide(const struct retune_request *request, struct tune *tune, const struct retune_state *memory,
                   struct retune_decision *ret_judgement);

/* What is to be remembered of tonight. judgement: NULL for a night without one. */
void retune_decide_record(const struct tune *tune, const struct retune_decision *judgement,
                          struct retune_record *ret_record);

/* Moments of the response over the confirming replays of a point. */
struct moments retune_decide_moments(const struct tune *tune, size_t point);
