/* tuner/session/members_study: one setting on several targets, together and each alone.
 *
 * A block is a run of all members together and a run of each alone, one after the other; in each block the
 * joint rate is compared with the sum of the rates alone, so that a drift of the machine falls out. What the
 * members reach together, as a share of that sum, is the geometric mean over the blocks. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "models/statistics/student.h"
#include "tuner/session/samples.h"
#include "tuner/session/session.h"

#include <stdbool.h>
#include <stdint.h>

/* Members that reach a smaller share together share something that limits them. */
#define MEMBERS_STUDY_SHARED_SHARE 0.9

#define MEMBERS_STUDY_LEAST 3 /* blocks of an interval */
#define MEMBERS_STUDY_MOST  20

enum members_verdict { MEMBERS_UNSETTLED, MEMBERS_INDEPENDENT, MEMBERS_SHARED };

struct members_study {
    struct session *session; /* NULL: none was made */
    struct record together[MEMBERS_MOST], alone[MEMBERS_MOST];
    double joint_bps;         /* of the last run of all */
    struct moments log_share; /* of the blocks */
    struct rng rng;           /* of the order of the runs alone */
};

/* Nothing is done, by this and by what follows, where the session has one target. */
void members_study_open(struct members_study *study, struct session *session);
bool members_study_is_on(const struct members_study *study);

/* After a run of all members: keeps what each did. 0 or -ENOMEM. */
int members_study_note(struct members_study *study, const struct measure_plan *plan,
                       const struct measure_result *result, struct err *err);

/* Behind members_study_note: each alone, which ends the block. 0 or the failure of a run. */
int members_study_alone(struct members_study *study, const struct measure_plan *plan, struct err *err);

/* As many whole blocks, MEMBERS_STUDY_MOST at most, as end before so many seconds of the session; but so many
 * at least. */
int members_study_blocks(struct members_study *study, const struct measure_plan *plan, size_t least,
                         double end_seconds, struct err *err);

/* exp of the mean; and of its interval, NaN below MEMBERS_STUDY_LEAST blocks. */
double members_study_share(const struct members_study *study);
struct interval members_study_interval(const struct members_study *study);
enum members_verdict members_study_verdict(const struct members_study *study);

/* What a member keeps of its rate alone while all are loaded; NaN without runs. */
double members_study_kept(const struct members_study *study, uint32_t member);

void members_study_done(struct members_study *study);
