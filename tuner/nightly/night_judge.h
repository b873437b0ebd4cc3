/* tuner/nightly/night_judge: from the replays of tonight and of earlier nights to a verdict. */
#ifndef FSTUNE_TUNER_NIGHTLY_NIGHT_JUDGE_H
#define FSTUNE_TUNER_NIGHTLY_NIGHT_JUDGE_H

#include "models/statistics/nights.h"
#include "tuner/nightly/night_memory.h"
#include "tuner/search/tune.h"

/* A point that tonight's fresh replays compare with the one in force. */
struct night_contender {
    size_t point; /* index of tune */
    struct nights_estimate tonight;
    struct nights_pooled pooled;
    enum nights_decision decision;
};

struct night_judgement {
    struct night_contender contenders[NIGHT_MEMORY_MAX_FRESH];
    size_t n_contenders;
    size_t
        lead; /* among them: what is changed to, else the best by what is pooled; SIZE_MAX: there is none */
    bool change;            /* to it */
    size_t n_changes;       /* of what is in force, in the newest NIGHT_CHANGES_NIGHTS nights */
    double tolerance_share; /* the gain that a change needed tonight */
    unsigned behind;
    struct moments in_force_log_bps; /* fresh */
    struct nights_expected expected; /* n 0: nothing is known */
    bool drifted;                    /* down by many small steps; expected is then the best level held */
};

/* Compares with tune->baseline, which is in force and has at least TUNE_MIN_REPLAYS fresh replays. Has
 * nothing to say about a first night. */
void night_judge(const struct night_request *request, struct tune *tune, const struct night_memory *memory,
                 struct night_judgement *ret_judgement);

/* What is to be remembered of tonight. judgement: NULL for a night without one. */
void night_judge_record(const struct tune *tune, const struct night_judgement *judgement,
                        struct night_record *ret_record);

/* Moments of the response over the fresh replays of a point. */
struct moments night_judge_moments(const struct tune *tune, size_t point);

#endif
