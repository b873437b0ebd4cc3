/* tuner/nightly/retune_rules: a person's rollback weighs more than a night, and a file that a person wrote
 * more than a guess. */
#include "tuner/nightly/retune_rules.h"

#include <stdio.h>

const struct history_change *retune_rules_settled(const struct history_change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((1U << changes[i].kind & RETUNE_RULES_SETTLED) != 0)
            return &changes[i];
    }
    return NULL;
}

/* Nights since the newest decision that decided for this setting, and did not bring it into force. */
static unsigned nights_agreed(const struct retune_rules_past *past, const struct history_change *settled,
                              const struct point *recommendation)
{
    unsigned n = 0;
    for (size_t i = 0; i < past->n && &past->changes[i] != settled; i++) {
        const struct history_change *change = &past->changes[i];
        bool stayed = change->has_from && change->has_to && factors_equal(&change->from, &change->to);
        n += change->kind == HISTORY_CHANGE_NONE && change->run_ids[0] != 0 && change->has_to && !stayed &&
             factors_equal(&change->to, recommendation);
    }
    return n;
}

/* True where this setting was last rolled back; a second rollback brings it into force again.
 */
static bool was_rolled_back(const struct retune_rules_past *past, const struct point *recommendation)
{
    for (size_t i = 0; i < past->n; i++) {
        const struct history_change *change = &past->changes[i];
        if (change->kind == HISTORY_CHANGE_ROLLBACK && change->has_from &&
            factors_equal(&change->from, recommendation))
            return true;
        bool in_force = change->kind != HISTORY_CHANGE_NONE && change->kind != HISTORY_CHANGE_ALARM;
        if (in_force && change->has_to && factors_equal(&change->to, recommendation))
            return false;
    }
    return false;
}

static enum retune_action after_rollback(const struct retune_outcome *outcome,
                                         const struct retune_rules_past *past,
                                         const struct history_change *settled, char text[RETUNE_TEXT_SIZE])
{
    unsigned needed = outcome->target->nights;
    unsigned night = 1 + nights_agreed(past, settled, &outcome->night.recommendation);
    if (needed < RETUNE_RULES_NIGHTS_AFTER_ROLLBACK)
        needed = RETUNE_RULES_NIGHTS_AFTER_ROLLBACK;
    if (outcome->night.verdict == NIGHT_FIRST) {
        snprintf(text, RETUNE_TEXT_SIZE,
                 "the first one was rolled back by hand, and the setting since then is not known; set it as "
                 "current in the configuration");
        return RETUNE_HELD;
    }
    if (night >= needed)
        return RETUNE_APPLIED;
    snprintf(text, RETUNE_TEXT_SIZE,
             "the last change was rolled back by hand, so %u nights have to decide for the same setting; "
             "this is number %u",
             needed, night);
    return RETUNE_HELD;
}

/* "" where it may be applied. */
static void warning_first(const struct retune_outcome *outcome, const struct retune_rules_past *past,
                          char text[RETUNE_TEXT_SIZE])
{
    const struct retune_result *night = &outcome->night;
    bool has_snippet = outcome->target->snippet[0] != '\0';
    text[0] = '\0';
    if (night->throughput.n < RETUNE_RULES_MIN_REPLAYS)
        snprintf(text, RETUNE_TEXT_SIZE,
                 "it rests on %zu fresh replays, and %d are needed; a larger max_write or first_budget gives "
                 "more",
                 night->throughput.n, RETUNE_RULES_MIN_REPLAYS);
    else if (has_snippet && past->has_file && !night->conclusive)
        snprintf(text, RETUNE_TEXT_SIZE,
                 "%.400s is there already and not by fstune, and the night is inconclusive; remove the file, "
                 "or set what it says as current",
                 outcome->target->snippet);
}

enum retune_action retune_rules_intend(const struct retune_outcome *outcome,
                                       const struct retune_rules_past *past, char text[RETUNE_TEXT_SIZE])
{
    const struct point *recommendation = &outcome->night.recommendation;
    const struct history_change *settled = retune_rules_settled(past->changes, past->n);
    text[0] = '\0';
    if (was_rolled_back(past, recommendation)) {
        snprintf(text, RETUNE_TEXT_SIZE,
                 "it was rolled back by hand, so it is not applied again by itself; a second `retune "
                 "rollback` takes the rollback back");
        return RETUNE_SPARED;
    }
    if (settled != NULL && settled->kind == HISTORY_CHANGE_ROLLBACK)
        return after_rollback(outcome, past, settled, text);
    if (outcome->night.verdict == NIGHT_FIRST)
        warning_first(outcome, past, text);
    if (text[0] != '\0')
        return RETUNE_HELD;
    if (outcome->target->snippet[0] != '\0')
        return RETUNE_APPLIED;
    return settled != NULL && settled->has_to && factors_equal(&settled->to, recommendation) ? RETUNE_REPEATED
                                                                                             : RETUNE_ADVISED;
}
