/* tuner/nightly/retune_record: a merged history holds what other machines decided; here only our own counts.
 * A person's rollback weighs more than a night, and a file that a person wrote more than a guess. */
#include "bench/base/access.h"
#include "bench/base/units.h"
#include "tuner/nightly/retune_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest that are looked at: two years of nights. */
#define MOST_CHANGES 800
/* Fresh replays that a first tune has to rest on before it comes into force. */
#define MIN_REPLAYS 5
/* Nights that have to decide for the same setting after a rollback; the target's `nights` if that is more. */
#define NIGHTS_AFTER_ROLLBACK 2

/* Kinds of decisions about the current setting: a set of 1 << enum history_kind. */
#define SETTLED (1U << HISTORY_CHANGE_FIRST | 1U << HISTORY_CHANGE_MADE | 1U << HISTORY_CHANGE_ROLLBACK)

/* Decisions about a target, the newest first; all kinds. */
struct past {
    struct history_change *changes;
    size_t n;
    const struct history_change *settled; /* the newest about the current setting; NULL: there is none */
};

int retune_record_blame(const struct retune_world *world, int result, struct err *err)
{
    if (result >= 0 || err == NULL)
        return result;
    struct err own = *err;
    bool is_full = own.code == -ENOSPC || own.code == -EDQUOT;
    return err_set(err, own.code, "history %.200s: %.250s%s", world->db, own.text,
                   is_full ? "; make room there, or name another one with --db" : "");
}

static int list(const struct retune_world *world, const char *target, uint32_t kinds, size_t limit,
                struct past *past, struct err *err)
{
    *past = (struct past){0};
    int result = history_list_changes(world->history, target, world->host, kinds, limit, &past->changes,
                                      &past->n, err);
    for (size_t i = 0; i < past->n && past->settled == NULL; i++) {
        if ((1U << past->changes[i].kind & SETTLED) != 0)
            past->settled = &past->changes[i];
    }
    return retune_record_blame(world, result, err);
}

int retune_record_settled(const struct retune_world *world, const char *target, struct history_change *ret,
                          struct err *err)
{
    struct past past;
    int result = list(world, target, SETTLED, 1, &past, err);
    *ret = past.settled != NULL ? *past.settled : (struct history_change){0};
    free(past.changes);
    return result;
}

struct history_change retune_record_change(const struct retune_outcome *outcome, enum history_kind kind,
                                           int64_t run_id, const char *text)
{
    const struct retune_result *night = &outcome->night;
    struct history_change change = {.kind = kind, .run_ids = {run_id}};
    char time[UNITS_TEXT_SIZE];
    snprintf(change.target, sizeof change.target, "%s", outcome->target->name);
    snprintf(change.text, sizeof change.text, "%s", text);
    size_t used = strlen(change.text);
    if (outcome->waited_ns > 0 && outcome->measured)
        snprintf(change.text + used, sizeof change.text - used, "%swaited %s for other hosts' nights on %s",
                 used > 0 ? "; " : "", units_format_duration(outcome->waited_ns, time), outcome->backend);
    change.has_from = outcome->measured && night->has_in_force;
    change.has_to = outcome->measured && night->has_recommendation;
    change.from = change.has_from ? night->in_force : change.from;
    change.to = change.has_to ? night->recommendation : change.to;
    return change;
}

int retune_record_add(const struct retune_world *world, struct history_change change, struct err *err)
{
    snprintf(change.host, sizeof change.host, "%s", world->host);
    return retune_record_blame(world, history_add_change(world->history, &change, err), err);
}

int retune_record_skip(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    struct past past = {0};
    outcome->skipped = true;
    outcome->n_skipped = 1;
    int result = retune_record_add(
        world, retune_record_change(outcome, HISTORY_CHANGE_SKIPPED, 0, outcome->text), err);
    if (result == 0)
        result = list(world, outcome->target->name, 0, MOST_CHANGES, &past, err);
    while (outcome->n_skipped < past.n && past.changes[outcome->n_skipped].kind == HISTORY_CHANGE_SKIPPED)
        outcome->n_skipped++;
    free(past.changes);
    return result;
}

/* Nights since the newest decision that decided for this setting, and did not bring it into force. */
static unsigned nights_agreed(const struct past *past, const struct point *recommendation)
{
    unsigned n = 0;
    for (const struct history_change *change = past->changes; change != past->settled; change++) {
        bool stayed = change->has_from && change->has_to && factors_equal(&change->from, &change->to);
        n += change->kind == HISTORY_CHANGE_NONE && change->run_ids[0] != 0 && change->has_to && !stayed &&
             factors_equal(&change->to, recommendation);
    }
    return n;
}

/* True where this setting was last rolled back; a second rollback brings it into force again. */
static bool was_rolled_back(const struct past *past, const struct point *recommendation)
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

static enum retune_action after_rollback(const struct retune_outcome *outcome, const struct past *past,
                                         char text[RETUNE_TEXT_SIZE])
{
    unsigned needed = outcome->target->nights;
    unsigned night = 1 + nights_agreed(past, &outcome->night.recommendation);
    if (needed < NIGHTS_AFTER_ROLLBACK)
        needed = NIGHTS_AFTER_ROLLBACK;
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
static void warning_first(const struct retune_outcome *outcome, char text[RETUNE_TEXT_SIZE])
{
    const struct retune_result *night = &outcome->night;
    const char *snippet = outcome->target->snippet;
    if (night->throughput.n < MIN_REPLAYS)
        snprintf(text, RETUNE_TEXT_SIZE,
                 "it rests on %zu fresh replays, and %d are needed; a larger max_write or first_budget gives "
                 "more",
                 night->throughput.n, MIN_REPLAYS);
    else if (snippet[0] != '\0' && !night->conclusive && access_name(AT_FDCWD, snippet) == 0)
        snprintf(text, RETUNE_TEXT_SIZE,
                 "%.400s is there already and not by fstune, and the night is inconclusive; remove the file, "
                 "or set what it says as current",
                 snippet);
}

static enum retune_action intend(const struct retune_outcome *outcome, const struct past *past,
                                 char text[RETUNE_TEXT_SIZE])
{
    const struct point *recommendation = &outcome->night.recommendation;
    const struct history_change *settled = past->settled;
    text[0] = '\0';
    if ((settled != NULL ? settled->id : 0) != outcome->settled_id) {
        snprintf(text, RETUNE_TEXT_SIZE,
                 "another fstune changed the setting, or rolled it back, while this night measured");
        return RETUNE_HELD;
    }
    if (was_rolled_back(past, recommendation)) {
        snprintf(text, RETUNE_TEXT_SIZE,
                 "it was rolled back by hand, so it is not applied again by itself; a second `retune "
                 "rollback` takes the rollback back");
        return RETUNE_SPARED;
    }
    if (settled != NULL && settled->kind == HISTORY_CHANGE_ROLLBACK)
        return after_rollback(outcome, past, text);
    if (outcome->night.verdict == NIGHT_FIRST)
        warning_first(outcome, text);
    if (text[0] != '\0')
        return RETUNE_HELD;
    if (outcome->target->snippet[0] != '\0')
        return RETUNE_APPLIED;
    return settled != NULL && settled->has_to && factors_equal(&settled->to, recommendation) ? RETUNE_REPEATED
                                                                                             : RETUNE_ADVISED;
}

int retune_record_intend(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    struct past past;
    int result = list(world, outcome->target->name, 0, MOST_CHANGES, &past, err);
    if (result == 0)
        outcome->action = intend(outcome, &past, outcome->text);
    free(past.changes);
    return result;
}
