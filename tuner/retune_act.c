/* tuner/retune_act: the snippet is written first and remembered then: a night that ends in between does the
 * same again, and nothing is remembered that was never in force. */
#include "tuner/retune_act.h"

#include "tuner/advice.h"
#include "tuner/apply.h"
#include "tuner/report_snippet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND(kind)  (1U << (kind))
#define SETTLED     (KIND(HISTORY_CHANGE_FIRST) | KIND(HISTORY_CHANGE_MADE) | KIND(HISTORY_CHANGE_ROLLBACK))
#define MAX_SKIPPED 100
#define N_FACTS     9
#define FACT_SIZE   (SETTINGS_TEXT_SIZE + 32)

const char *const retune_action_names[RETUNE_N_ACTIONS] = {"stays",   "advised", "repeated",
                                                           "applied", "spared",  "failed"};

/* The newest decision about what is in force; false: there is none. */
static int last_settled(struct history *history, const char *name, bool *ret_found,
                        struct history_change *ret, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    int result = history_list_changes(history, name, SETTLED, 1, &changes, &n, err);
    *ret_found = result == 0 && n > 0;
    if (*ret_found)
        *ret = changes[0];
    free(changes);
    return result;
}

int retune_in_force(struct history *history, const struct retune_target *target, bool *ret_known,
                    struct point *ret_point, struct err *err)
{
    struct history_change change;
    bool found;
    *ret_known = false;
    /* Without a snippet a person applies the advice, and then writes it into the configuration. */
    if (target->snippet[0] == '\0' && target->settings.current_given)
        return 0;
    int result = last_settled(history, target->name, &found, &change, err);
    if (result < 0 || !found || !change.has_to || factors_check(&change.to, NULL) < 0)
        return result;
    *ret_known = true;
    *ret_point = change.to;
    return 0;
}

static int record(const struct retune_world *world, const struct retune_outcome *outcome,
                  enum history_kind kind, int64_t run_id, const char *text, struct err *err)
{
    const struct night_result *night = &outcome->night;
    struct history_change change = {.kind = kind, .run_ids = {run_id}};
    snprintf(change.target, sizeof change.target, "%s", outcome->target->name);
    snprintf(change.text, sizeof change.text, "%s", text);
    change.has_from = outcome->measured && night->has_in_force;
    change.has_to = outcome->measured && night->has_advice;
    change.from = change.has_from ? night->in_force : change.from;
    change.to = change.has_to ? night->advice : change.to;
    return history_add_change(world->history, &change, err);
}

int retune_act_skip(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    const char *name = outcome->target->name;
    outcome->skipped = true;
    outcome->n_skipped = 1;
    int result = record(world, outcome, HISTORY_CHANGE_SKIPPED, 0, outcome->text, err);
    if (result == 0)
        result = history_list_changes(world->history, name, 0, MAX_SKIPPED, &changes, &n, err);
    if (result == 0) {
        size_t row = 0;
        while (row < n && changes[row].kind == HISTORY_CHANGE_SKIPPED)
            row++;
        outcome->n_skipped = (unsigned)row;
    }
    free(changes);
    return result;
}

/* The facts that commands get, in `lines`. */
static void write_facts(const struct retune_target *target, const char *verdict, const struct point *point,
                        char lines[N_FACTS][FACT_SIZE], const char *facts[N_FACTS + 1])
{
    snprintf(lines[0], FACT_SIZE, "FSTUNE_TARGET=%s", target->name);
    snprintf(lines[1], FACT_SIZE, "FSTUNE_PATH=%s", target->settings.path);
    snprintf(lines[2], FACT_SIZE, "FSTUNE_VERDICT=%s", verdict);
    size_t n = 3;
    if (point != NULL) {
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_REQUEST_SIZE=%" PRIu64, point->request_size_bytes);
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_QUEUE_DEPTH=%" PRIu32, point->queue_depth);
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_DIRECT=%" PRIu32, point->direct);
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_API=%s", api_names[point->api]);
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_THREADS=%" PRIu32, point->threads);
        snprintf(lines[n++], FACT_SIZE, "FSTUNE_SYNC=%s", sync_names[point->sync]);
    }
    for (size_t i = 0; i < n; i++)
        facts[i] = lines[i];
    facts[n] = NULL;
}

static struct apply_order order_of(const struct retune_world *world, const struct retune_target *target,
                                   const char *const *facts)
{
    return (struct apply_order){.path = target->snippet,
                                .check = target->check,
                                .apply = target->apply,
                                .rollback = target->rollback,
                                .timeout_ns = target->hook_timeout_ns,
                                .facts = facts,
                                .interrupted = world->interrupted};
}

static int make_text(const struct retune_outcome *outcome, char **ret_text, struct err *err)
{
    const struct settings *settings = &outcome->target->settings;
    struct advice advice;
    char *remarks = NULL;
    int result = advice_read(&advice, outcome->night.document, err);
    if (result < 0)
        return result;
    const struct snippet_request request = report_snippet_request(settings, &advice, 1);
    result = snippet_make(snippet_find(settings->emit), &request, ret_text, &remarks, err);
    free(remarks);
    return result < 0 ? err_prefix(err, "%s", settings->emit) : 0;
}

/* What is remembered once the new setting is in force. */
struct settling {
    const struct retune_world *world;
    const struct retune_outcome *outcome;
    int64_t run_id;
};

static int settle(void *context, struct err *err)
{
    const struct settling *settling = context;
    const struct night_result *night = &settling->outcome->night;
    return record(settling->world, settling->outcome,
                  night->verdict == NIGHT_FIRST ? HISTORY_CHANGE_FIRST : HISTORY_CHANGE_MADE,
                  settling->run_id, night->evidence, err);
}

static int apply(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
                 struct err *err)
{
    const struct retune_target *target = outcome->target;
    struct settling settling = {.world = world, .outcome = outcome, .run_id = run_id};
    const char *facts[N_FACTS + 1];
    enum apply_state state = APPLY_OLD;
    char *text = NULL;
    char(*lines)[FACT_SIZE] = malloc(sizeof(char[N_FACTS][FACT_SIZE]));
    int result = lines != NULL ? make_text(outcome, &text, err) : err_set(err, -ENOMEM, "no memory");
    if (result == 0) {
        write_facts(target, night_verdict_names[outcome->night.verdict], &outcome->night.advice, lines,
                    facts);
        struct apply_order order = order_of(world, target, facts);
        order.text = text;
        order.settle = settle;
        order.context = &settling;
        result = apply_snippet(&order, &state, err);
    }
    outcome->action = result < 0 ? RETUNE_FAILED : RETUNE_APPLIED;
    if (result == 0)
        snprintf(outcome->text, sizeof outcome->text, "%.600s was written", target->snippet);
    free(text);
    free(lines);
    return result;
}

/* What a new setting comes to, before anything is written. */
static enum retune_action intend(const struct retune_outcome *outcome, bool found,
                                 const struct history_change *last)
{
    const struct point *advice = &outcome->night.advice;
    if (found && last->kind == HISTORY_CHANGE_ROLLBACK && last->has_from &&
        factors_equal(&last->from, advice))
        return RETUNE_SPARED;
    if (outcome->target->snippet[0] != '\0')
        return RETUNE_APPLIED;
    return found && last->has_to && factors_equal(&last->to, advice) ? RETUNE_REPEATED : RETUNE_ADVISED;
}

static int act_on_advice(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
                         struct err *err)
{
    struct history_change last;
    bool found;
    int result = last_settled(world->history, outcome->target->name, &found, &last, err);
    if (result < 0)
        return result;
    outcome->action = intend(outcome, found, &last);
    if (outcome->action == RETUNE_SPARED)
        snprintf(
            outcome->text, sizeof outcome->text,
            "it was rolled back before, so it is not applied again; set it as current, or wait for another");
    return outcome->action == RETUNE_APPLIED ? apply(world, outcome, run_id, err) : 0;
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
    const struct night_result *night = &outcome->night;
    struct err own = {0};
    int result = 0, recorded = 0;
    if (night->verdict == NIGHT_FIRST || night->verdict == NIGHT_CHANGE)
        result = act_on_advice(world, outcome, run_id, err);
    /* What was applied is remembered already. */
    if (result < 0 || outcome->action != RETUNE_APPLIED)
        recorded =
            record(world, outcome, kind_of(outcome), run_id, result < 0 ? err->text : night->evidence, &own);
    if (recorded == 0 && night->behind != 0)
        recorded = record(world, outcome, HISTORY_CHANGE_ALARM, run_id, night->reason, &own);
    if (recorded < 0 && result == 0)
        result = err_set(err, recorded, "%s", own.text);
    return result;
}

static int recover(const struct retune_world *world, const struct retune_target *target, double settled_s,
                   bool *ret_recovered, struct err *err)
{
    const char *facts[N_FACTS + 1];
    char(*lines)[FACT_SIZE] = malloc(sizeof(char[N_FACTS][FACT_SIZE]));
    if (lines == NULL)
        return err_set(err, -ENOMEM, "no memory");
    write_facts(target, "recover", NULL, lines, facts);
    const struct apply_order order = order_of(world, target, facts);
    int result = apply_recover(&order, settled_s, ret_recovered, err);
    free(lines);
    return result;
}

int retune_act_recover(const struct retune_world *world, const struct retune_target *target, struct err *err)
{
    struct retune_outcome outcome = {.target = target};
    struct history_change last;
    bool found, recovered = false;
    if (target->snippet[0] == '\0')
        return 0;
    int result = last_settled(world->history, target->name, &found, &last, err);
    if (result == 0)
        result = recover(world, target, found ? last.at_s : 0, &recovered, err);
    if (result < 0 || !recovered)
        return result;
    return record(world, &outcome, HISTORY_CHANGE_NONE, 0,
                  "an earlier night was stopped while it applied a setting: the file before it is back", err);
}

static int record_rollback(const struct retune_world *world, const char *name,
                           const struct history_change *last, struct err *err)
{
    struct history_change change = {.kind = HISTORY_CHANGE_ROLLBACK,
                                    .has_from = last->has_to,
                                    .has_to = last->has_from,
                                    .from = last->to,
                                    .to = last->from,
                                    .text = "by hand: fstune retune rollback"};
    snprintf(change.target, sizeof change.target, "%s", name);
    return history_add_change(world->history, &change, err);
}

int retune_rollback(const struct retune_world *world, const struct retune_target *target, struct err *err)
{
    struct history_change last;
    const char *facts[N_FACTS + 1];
    enum apply_state state;
    bool found;
    if (target->snippet[0] == '\0')
        return err_set(err, -ENOENT, "it has no snippet, so fstune never changed anything for it");
    int result = retune_act_recover(world, target, err);
    if (result == 0)
        result = last_settled(world->history, target->name, &found, &last, err);
    if (result == 0 && !found)
        result =
            err_set(err, -ENOENT, "no change of it is in the history, so there is nothing to go back to");
    if (result < 0)
        return result;
    char(*lines)[FACT_SIZE] = malloc(sizeof(char[N_FACTS][FACT_SIZE]));
    if (lines == NULL)
        return err_set(err, -ENOMEM, "no memory");
    write_facts(target, "rollback", last.has_from ? &last.from : NULL, lines, facts);
    const struct apply_order order = order_of(world, target, facts);
    result = apply_rollback(&order, &state, err);
    free(lines);
    return result < 0 ? result : record_rollback(world, target->name, &last, err);
}
