/* tuner/nightly/retune_act: the snippet is written first and remembered then: a night that ends in between
 * does the same again, and nothing is remembered that was never used. The current setting is read, changed
 * and remembered under one lock. */
#include "tuner/emit/apply.h"
#include "tuner/nightly/retune_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What commands get to know: a path, and what is short. */
#define FACTS_SIZE (SETTINGS_TEXT_SIZE + 512)

const char *const retune_action_names[RETUNE_N_ACTIONS] = {"stays",  "advised", "repeated", "applied",
                                                           "spared", "held",    "failed"};

int retune_in_force(const struct retune_world *world, const struct retune_target *target,
                    struct retune_request *request, int64_t *ret_settled_id, struct err *err)
{
    struct history_change last;
    int result = retune_record_settled(world, target->name, &last, err);
    *ret_settled_id = last.id;
    /* Without a snippet a person applies the advice, and then writes it into the configuration. */
    if (target->snippet[0] == '\0' && target->settings.search.current_given)
        return 0;
    if (result < 0 || !last.has_to || factors_check(&last.to, NULL) < 0)
        return result;
    request->in_force_given = true;
    request->in_force = last.to;
    return 0;
}

/* facts: place for what its commands get to know. point: NULL where it is not known. */
static struct apply_order order_of(const struct retune_world *world, const struct retune_target *target,
                                   const char *verdict, const struct point *point, char facts[FACTS_SIZE])
{
    int n = snprintf(facts, FACTS_SIZE, "FSTUNE_TARGET=%s%cFSTUNE_PATH=%s%cFSTUNE_VERDICT=%s%c", target->name,
                     '\0', target->settings.file.path, '\0', verdict, '\0');
    if (point != NULL)
        n +=
            snprintf(facts + n, FACTS_SIZE - (size_t)n,
                     "FSTUNE_REQUEST_SIZE=%" PRIu64 "%cFSTUNE_QUEUE_DEPTH=%" PRIu32 "%cFSTUNE_DIRECT=%" PRIu32
                     "%cFSTUNE_API=%s%cFSTUNE_THREADS=%" PRIu32 "%cFSTUNE_SYNC=%s%c",
                     point->request_size_bytes, '\0', point->queue_depth, '\0', point->direct, '\0',
                     api_names[point->api], '\0', point->threads, '\0', sync_names[point->sync], '\0');
    return (struct apply_order){.path = target->snippet,
                                .check = target->check,
                                .apply = target->apply,
                                .rollback = target->rollback,
                                .timeout_ns = target->hook_timeout_ns,
                                .facts = facts,
                                .n_facts = (size_t)n,
                                .interrupted = world->interrupted};
}

/* What is remembered once the new setting is the current one. */
struct settling {
    const struct retune_world *world;
    struct history_change change;
};

static int settle(void *context, struct err *err)
{
    const struct settling *settling = context;
    return retune_record_add(settling->world, settling->change, err);
}

static enum history_kind kind_of(const struct retune_outcome *outcome)
{
    if (outcome->action != RETUNE_ADVISED && outcome->action != RETUNE_APPLIED)
        return HISTORY_CHANGE_NONE;
    return outcome->night.verdict == NIGHT_FIRST ? HISTORY_CHANGE_FIRST : HISTORY_CHANGE_MADE;
}

static int apply(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
                 struct err *err)
{
    const struct retune_target *target = outcome->target;
    const struct retune_result *night = &outcome->night;
    char facts[FACTS_SIZE], *text = NULL;
    struct settling settling = {world,
                                retune_record_change(outcome, kind_of(outcome), run_id, night->evidence)};
    struct apply_order order =
        order_of(world, target, night_verdict_names[night->verdict], &night->recommendation, facts);
    int result = retune_snippet_make(target, night->document, &text, err);
    if (result < 0)
        return err_prefix(err, "%s", target->settings.snippet.format);
    order.text = text;
    order.settled = outcome->settled_id;
    order.settle = settle;
    order.context = &settling;
    result = apply_snippet(&order, err);
    if (result == 0)
        snprintf(outcome->text, sizeof outcome->text, "%.600s was written", target->snippet);
    free(text);
    return result;
}

/* From here on nobody else touches the snippet, until *ret_fd is closed; what a dead fstune left is put in
 * order. last: the newest decision. */
static int enter_snippet(const struct retune_world *world, const struct retune_target *target, int *ret_fd,
                         struct history_change *ret_last, struct err *err)
{
    const struct retune_outcome outcome = {.target = target};
    char facts[FACTS_SIZE];
    bool recovered = false;
    struct apply_order order = order_of(world, target, "recover", NULL, facts);
    int result = apply_lock(&order, ret_fd, err);
    if (result < 0)
        return result;
    result = retune_record_settled(world, target->name, ret_last, err);
    order.settled = ret_last->id;
    if (result == 0)
        result = apply_recover(&order, &recovered, err);
    if (result == 0 && recovered)
        result = retune_record_add(
            world,
            retune_record_change(&outcome, HISTORY_CHANGE_NONE, 0,
                                 "an earlier fstune was stopped while it applied a setting or took one "
                                 "back: the file before it is back"),
            err);
    if (result < 0) {
        close(*ret_fd);
        *ret_fd = -1;
    }
    return result;
}

int retune_act_recover(const struct retune_world *world, const struct retune_target *target, struct err *err)
{
    struct history_change last;
    int fd;
    if (target->snippet[0] == '\0')
        return 0;
    int result = enter_snippet(world, target, &fd, &last, err);
    if (result == 0)
        close(fd);
    return result;
}

static int act_on_recommendation(const struct retune_world *world, struct retune_outcome *outcome,
                                 int64_t run_id, struct err *err)
{
    struct history_change last;
    int fd = -1, result = 0;
    if (outcome->target->snippet[0] != '\0')
        result = enter_snippet(world, outcome->target, &fd, &last, err);
    if (result == 0)
        result = retune_record_intend(world, outcome, err);
    if (result == 0 && outcome->action == RETUNE_APPLIED)
        result = apply(world, outcome, run_id, err);
    if (result < 0)
        outcome->action = RETUNE_FAILED;
    if (fd >= 0)
        close(fd);
    return result;
}

int retune_act(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
               struct err *err)
{
    const struct retune_result *night = &outcome->night;
    struct err own = {0};
    int result = 0, recorded = 0;
    if (night->verdict == NIGHT_FIRST || night->verdict == NIGHT_CHANGE)
        result = act_on_recommendation(world, outcome, run_id, err);
    /* What was applied is remembered already. */
    if (result < 0 || outcome->action != RETUNE_APPLIED)
        recorded = retune_record_add(
            world,
            retune_record_change(outcome, kind_of(outcome), run_id, result < 0 ? err->text : night->evidence),
            &own);
    if (recorded == 0 && night->behind != 0)
        recorded = retune_record_add(
            world, retune_record_change(outcome, HISTORY_CHANGE_ALARM, run_id, night->reason), &own);
    if (recorded < 0 && result == 0)
        result = err_set(err, recorded, "%s", own.text);
    return result;
}

int retune_can_roll_back(const struct retune_world *world, const struct retune_target *target,
                         struct history_change *ret_last, struct err *err)
{
    if (target->snippet[0] == '\0')
        return err_set(err, -ENOENT, "it has no snippet, so fstune never changed anything for it");
    int result = retune_record_settled(world, target->name, ret_last, err);
    if (result == 0 && ret_last->id == 0)
        result =
            err_set(err, -ENOENT, "no change of it is in the history, so there is nothing to go back to");
    return result < 0 ? result : apply_can_roll_back(target->snippet, err);
}

int retune_rollback(const struct retune_world *world, const struct retune_target *target,
                    struct history_change *ret_last, struct err *err)
{
    char facts[FACTS_SIZE];
    int fd;
    if (target->snippet[0] == '\0')
        return retune_can_roll_back(world, target, ret_last, err);
    int result = enter_snippet(world, target, &fd, ret_last, err);
    if (result < 0)
        return result;
    result = retune_can_roll_back(world, target, ret_last, err);
    if (result == 0) {
        struct apply_order order =
            order_of(world, target, "rollback", ret_last->has_from ? &ret_last->from : NULL, facts);
        struct settling settling = {world,
                                    {.kind = HISTORY_CHANGE_ROLLBACK,
                                     .has_from = ret_last->has_to,
                                     .has_to = ret_last->has_from,
                                     .from = ret_last->to,
                                     .to = ret_last->from,
                                     .run_ids = {ret_last->run_ids[0]},
                                     .text = "by hand: fstune retune rollback"}};
        memcpy(settling.change.target, ret_last->target, sizeof settling.change.target);
        order.settled = ret_last->id;
        order.settle = settle;
        order.context = &settling;
        result = apply_rollback(&order, err);
    }
    close(fd);
    return result;
}
