/* tuner/nightly/retune_act: the snippet is written first and remembered then: a night that ends in between
 * does the same again, and nothing is remembered that was never in force. What is in force is read, changed
 * and remembered under one lock. */
#include "tuner/nightly/retune_act.h"

#include "bench/base/access.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/nightly/apply.h"
#include "tuner/nightly/retune_record.h"
#include "tuner/nightly/retune_rules.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_FACTS   9
#define FACT_SIZE (SETTINGS_TEXT_SIZE + 32)

const char *const retune_action_names[RETUNE_N_ACTIONS] = {"stays",  "advised", "repeated", "applied",
                                                           "spared", "held",    "failed"};

int retune_in_force(const struct retune_world *world, const struct retune_target *target, bool *ret_known,
                    struct point *ret_point, int64_t *ret_settled_id, struct err *err)
{
    struct history_change last;
    *ret_known = false;
    int result = retune_record_settled(world, target->name, &last, err);
    *ret_settled_id = last.id;
    /* Without a snippet a person applies the advice, and then writes it into the configuration. */
    if (target->snippet[0] == '\0' && target->settings.search.current_given)
        return 0;
    if (result < 0 || !last.has_to || factors_check(&last.to, NULL) < 0)
        return result;
    *ret_known = true;
    *ret_point = last.to;
    return 0;
}

int retune_act_skip(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    outcome->skipped = true;
    outcome->n_skipped = 1;
    int result = retune_record_add(world, outcome, HISTORY_CHANGE_SKIPPED, 0, outcome->text, err);
    if (result == 0)
        result = retune_record_list(world, outcome->target->name, &changes, &n, err);
    if (result == 0) {
        size_t row = 0;
        while (row < n && changes[row].kind == HISTORY_CHANGE_SKIPPED)
            row++;
        outcome->n_skipped = (unsigned)row;
    }
    free(changes);
    return result;
}

/* What commands get to know. */
struct facts {
    char lines[N_FACTS][FACT_SIZE];
    const char *list[N_FACTS + 1];
};

/* On the heap: paths are long. NULL when memory ran out; the caller frees it. */
static struct facts *make_facts(const struct retune_target *target, const char *verdict,
                                const struct point *point)
{
    struct facts *facts = calloc(1, sizeof *facts);
    if (facts == NULL)
        return NULL;
    char(*lines)[FACT_SIZE] = facts->lines;
    snprintf(lines[0], FACT_SIZE, "FSTUNE_TARGET=%s", target->name);
    snprintf(lines[1], FACT_SIZE, "FSTUNE_PATH=%s", target->settings.file.path);
    snprintf(lines[2], FACT_SIZE, "FSTUNE_VERDICT=%s", verdict);
    if (point != NULL) {
        snprintf(lines[3], FACT_SIZE, "FSTUNE_REQUEST_SIZE=%" PRIu64, point->request_size_bytes);
        snprintf(lines[4], FACT_SIZE, "FSTUNE_QUEUE_DEPTH=%" PRIu32, point->queue_depth);
        snprintf(lines[5], FACT_SIZE, "FSTUNE_DIRECT=%" PRIu32, point->direct);
        snprintf(lines[6], FACT_SIZE, "FSTUNE_API=%s", api_names[point->api]);
        snprintf(lines[7], FACT_SIZE, "FSTUNE_THREADS=%" PRIu32, point->threads);
        snprintf(lines[8], FACT_SIZE, "FSTUNE_SYNC=%s", sync_names[point->sync]);
    }
    for (size_t i = 0; i < N_FACTS && lines[i][0] != '\0'; i++)
        facts->list[i] = lines[i];
    return facts;
}

/* facts: NULL for an order that runs no command. */
static struct apply_order order_of(const struct retune_world *world, const struct retune_target *target,
                                   const struct facts *facts)
{
    return (struct apply_order){.path = target->snippet,
                                .check = target->check,
                                .apply = target->apply,
                                .rollback = target->rollback,
                                .timeout_ns = target->hook_timeout_ns,
                                .facts = facts != NULL ? facts->list : NULL,
                                .interrupted = world->interrupted};
}

static int make_text(const struct retune_outcome *outcome, char **ret_text, struct err *err)
{
    const struct settings *settings = &outcome->target->settings;
    struct recommendation recommendation;
    char *remarks = NULL;
    int result = recommendation_read(&recommendation, outcome->night.document, err);
    if (result < 0)
        return result;
    const struct snippet_request request = report_snippet_request(&settings->snippet, &recommendation, 1);
    result = snippet_make(snippet_find(settings->snippet.format), &request, ret_text, &remarks, err);
    free(remarks);
    return result < 0 ? err_prefix(err, "%s", settings->snippet.format) : 0;
}

/* What is remembered once the new setting is in force. */
struct settling {
    const struct retune_world *world;
    const struct retune_outcome *outcome;
    int64_t run_id;
};

static int settle_night(void *context, struct err *err)
{
    const struct settling *settling = context;
    const struct retune_result *night = &settling->outcome->night;
    return retune_record_add(settling->world, settling->outcome,
                             night->verdict == NIGHT_FIRST ? HISTORY_CHANGE_FIRST : HISTORY_CHANGE_MADE,
                             settling->run_id, night->evidence, err);
}

static int apply(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
                 struct err *err)
{
    const struct retune_target *target = outcome->target;
    struct settling settling = {.world = world, .outcome = outcome, .run_id = run_id};
    enum apply_state state = APPLY_OLD;
    char *text = NULL;
    struct facts *facts =
        make_facts(target, night_verdict_names[outcome->night.verdict], &outcome->night.recommendation);
    int result = facts != NULL ? make_text(outcome, &text, err) : err_set(err, -ENOMEM, "no memory");
    if (result == 0) {
        struct apply_order order = order_of(world, target, facts);
        order.text = text;
        order.settled = outcome->settled_id;
        order.settle = settle_night;
        order.context = &settling;
        result = apply_snippet(&order, &state, err);
    }
    outcome->action = result < 0 ? RETUNE_FAILED : RETUNE_APPLIED;
    if (result == 0)
        snprintf(outcome->text, sizeof outcome->text, "%.600s was written", target->snippet);
    free(text);
    free(facts);
    return result;
}

static int recover(const struct retune_world *world, const struct retune_target *target,
                   struct history_change *ret_last, struct err *err)
{
    const struct retune_outcome outcome = {.target = target};
    bool recovered = false;
    int result = retune_record_settled(world, target->name, ret_last, err);
    if (result < 0)
        return result;
    struct facts *facts = make_facts(target, "recover", NULL);
    if (facts == NULL)
        return err_set(err, -ENOMEM, "no memory");
    struct apply_order order = order_of(world, target, facts);
    order.settled = ret_last->id;
    result = apply_recover(&order, &recovered, err);
    free(facts);
    if (result < 0 || !recovered)
        return result;
    return retune_record_add(world, &outcome, HISTORY_CHANGE_NONE, 0,
                             "an earlier fstune was stopped while it applied a setting or took one back: the "
                             "file before it is back",
                             err);
}

/* From here on nobody else touches the snippet, until *ret_fd is closed; what a dead fstune left is put in
 * order. last: the newest decision. */
static int enter_snippet(const struct retune_world *world, const struct retune_target *target, int *ret_fd,
                         struct history_change *ret_last, struct err *err)
{
    const struct apply_order order = order_of(world, target, NULL);
    int result = apply_lock(&order, ret_fd, err);
    if (result < 0)
        return result;
    result = recover(world, target, ret_last, err);
    if (result < 0)
        close(*ret_fd);
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

/* What a new setting comes to, before anything is written. */
static int intend(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    const struct retune_target *target = outcome->target;
    struct history_change *changes = NULL;
    size_t n = 0;
    int result = retune_record_list(world, target->name, &changes, &n, err);
    if (result < 0)
        return result;
    const struct history_change *settled = retune_rules_settled(changes, n);
    const struct retune_rules_past past = {.changes = changes,
                                           .n = n,
                                           .has_file = target->snippet[0] != '\0' &&
                                                       access_name(AT_FDCWD, target->snippet) == 0};
    if ((settled != NULL ? settled->id : 0) != outcome->settled_id) {
        outcome->action = RETUNE_HELD;
        snprintf(outcome->text, sizeof outcome->text,
                 "another fstune changed the setting, or rolled it back, while this night measured");
    } else {
        outcome->action = retune_rules_intend(outcome, &past, outcome->text);
    }
    free(changes);
    return 0;
}

static int act_on_recommendation(const struct retune_world *world, struct retune_outcome *outcome,
                                 int64_t run_id, struct err *err)
{
    struct history_change last;
    int fd = -1, result = 0;
    if (outcome->target->snippet[0] != '\0')
        result = enter_snippet(world, outcome->target, &fd, &last, err);
    if (result < 0) {
        outcome->action = RETUNE_FAILED;
        return result;
    }
    result = intend(world, outcome, err);
    if (result == 0 && outcome->action == RETUNE_APPLIED)
        result = apply(world, outcome, run_id, err);
    if (fd >= 0)
        close(fd);
    return result;
}

static enum history_kind kind_of(const struct retune_outcome *outcome)
{
    if (outcome->action != RETUNE_ADVISED)
        return HISTORY_CHANGE_NONE;
    return outcome->night.verdict == NIGHT_FIRST ? HISTORY_CHANGE_FIRST : HISTORY_CHANGE_MADE;
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
        recorded = retune_record_add(world, outcome, kind_of(outcome), run_id,
                                     result < 0 ? err->text : night->evidence, &own);
    if (recorded == 0 && night->behind != 0)
        recorded = retune_record_add(world, outcome, HISTORY_CHANGE_ALARM, run_id, night->reason, &own);
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

struct going_back {
    const struct retune_world *world;
    const struct history_change *last;
};

static int settle_rollback(void *context, struct err *err)
{
    const struct going_back *going_back = context;
    return retune_record_add_rollback(going_back->world, going_back->last, err);
}

static int roll_back(const struct retune_world *world, const struct retune_target *target,
                     const struct history_change *last, struct err *err)
{
    struct going_back going_back = {.world = world, .last = last};
    enum apply_state state;
    struct facts *facts = make_facts(target, "rollback", last->has_from ? &last->from : NULL);
    if (facts == NULL)
        return err_set(err, -ENOMEM, "no memory");
    struct apply_order order = order_of(world, target, facts);
    order.settled = last->id;
    order.settle = settle_rollback;
    order.context = &going_back;
    int result = apply_rollback(&order, &state, err);
    free(facts);
    return result;
}

int retune_rollback(const struct retune_world *world, const struct retune_target *target,
                    struct history_change *ret_last, struct err *err)
{
    int fd;
    if (target->snippet[0] == '\0')
        return retune_can_roll_back(world, target, ret_last, err);
    int result = enter_snippet(world, target, &fd, ret_last, err);
    if (result < 0)
        return result;
    result = retune_can_roll_back(world, target, ret_last, err);
    if (result == 0)
        result = roll_back(world, target, ret_last, err);
    close(fd);
    return result;
}
