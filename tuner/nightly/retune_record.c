/* tuner/nightly/retune_record: a merged history holds what other machines decided; here only our own counts.
 */
#include "tuner/nightly/retune_record.h"

#include "tuner/nightly/retune_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                struct history_change **ret_changes, size_t *ret_n, struct err *err)
{
    int result =
        history_list_changes(world->history, target, world->host, kinds, limit, ret_changes, ret_n, err);
    return retune_record_blame(world, result, err);
}

int retune_record_list(const struct retune_world *world, const char *target,
                       struct history_change **ret_changes, size_t *ret_n, struct err *err)
{
    return list(world, target, 0, RETUNE_RECORD_MOST, ret_changes, ret_n, err);
}

int retune_record_settled(const struct retune_world *world, const char *target, struct history_change *ret,
                          struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    *ret = (struct history_change){0};
    int result = list(world, target, RETUNE_RULES_SETTLED, 1, &changes, &n, err);
    if (result == 0 && n > 0)
        *ret = changes[0];
    free(changes);
    return result;
}

static int add_night_change(const struct retune_world *world, struct history_change *change, struct err *err)
{
    snprintf(change->host, sizeof change->host, "%s", world->host);
    return retune_record_blame(world, history_add_change(world->history, change, err), err);
}

int retune_record_add(const struct retune_world *world, const struct retune_outcome *outcome,
                      enum history_kind kind, int64_t run_id, const char *text, struct err *err)
{
    const struct retune_result *night = &outcome->night;
    struct history_change change = {.kind = kind, .run_ids = {run_id}};
    snprintf(change.target, sizeof change.target, "%s", outcome->target->name);
    snprintf(change.text, sizeof change.text, "%s", text);
    change.has_from = outcome->measured && night->has_in_force;
    change.has_to = outcome->measured && night->has_recommendation;
    change.from = change.has_from ? night->in_force : change.from;
    change.to = change.has_to ? night->recommendation : change.to;
    return add_night_change(world, &change, err);
}

int retune_record_add_rollback(const struct retune_world *world, const struct history_change *last,
                               struct err *err)
{
    struct history_change change = {.kind = HISTORY_CHANGE_ROLLBACK,
                                    .has_from = last->has_to,
                                    .has_to = last->has_from,
                                    .from = last->to,
                                    .to = last->from,
                                    .run_ids = {last->run_ids[0]},
                                    .text = "by hand: fstune retune rollback"};
    memcpy(change.target, last->target, sizeof change.target);
    return add_night_change(world, &change, err);
}
