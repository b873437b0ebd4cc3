/* tuner/nightly/retune_rules: what a night's new setting comes to, by what was decided before. Facts in, an
 * action out. */
#pragma once

#include "tuner/nightly/retune.h"

/* Fresh replays that a first tune has to rest on before it comes into force. */
#define RETUNE_RULES_MIN_REPLAYS 5
/* Nights that have to decide for the same setting after a rollback, `nights` of the target if that is more.
 */
#define RETUNE_RULES_NIGHTS_AFTER_ROLLBACK 2

struct retune_rules_past {
    const struct history_change *changes; /* of the target on this machine, the newest first; all kinds */
    size_t n;
    bool has_file; /* the snippet is there */
};

/* Kinds of decisions about what is in force: a set of 1 << enum history_kind. */
#define RETUNE_RULES_SETTLED                                                                                 \
    (1U << HISTORY_CHANGE_FIRST | 1U << HISTORY_CHANGE_MADE | 1U << HISTORY_CHANGE_ROLLBACK)

/* The newest of them; NULL: there is none. */
const struct history_change *retune_rules_settled(const struct history_change *changes, size_t n);

/* For the verdicts first and change. text: why it is spared or held back, else "". RETUNE_APPLIED: it should
 * be applied. */
enum retune_action retune_rules_intend(const struct retune_outcome *outcome,
                                       const struct retune_rules_past *past, char text[RETUNE_TEXT_SIZE]);
