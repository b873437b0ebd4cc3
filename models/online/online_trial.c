/* What is tried, and what follows from it. */
#include "models/online/online_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE   0.03
#define CONFIDENCE  0.95
#define LEAST_PROOF 4 /* trials on which a setting is taken or given up */
/* How many trials a search may take. */
#define TRIALS         20
#define TRIALS_EACH    8 /* more for each setting */
#define SLICES_A_TRIAL 3.0
/* A comparison with the first setting that has said nothing after so many trials begins anew. */
#define CHECK_TRIALS 12

_Static_assert(ONLINE_FACTORS <= FST_MAX_FACTORS, "a setting is one of libfstune's");

static struct online_mind *mind_of(struct online *online)
{
    return &online->mind[online->kind];
}

static struct online_setting setting_of(const struct fst_run *run)
{
    struct online_setting setting;
    memcpy(setting.values, run->values, sizeof(setting.values));
    return setting;
}

/* Of settings that are as good, the one that runs stays. */
static double price_of(const double *values, void *context)
{
    const struct online *online = context;
    struct online_setting setting = {{0}};
    memcpy(setting.values, values, online->options.n_factors * sizeof(*values));
    return online_is_same(&setting, &online->mind[online->kind].best) ? 1 : 2;
}

static void begin_comparing(struct online_mind *mind)
{
    mind->next_check = mind->n_slices + ONLINE_CHECK_SLICES;
    mind->check = (struct moments){0};
    mind->check_waits = (struct waits){0};
}

static void settle(struct online_mind *mind)
{
    online_mind_clear(mind);
    mind->is_settled = true;
    begin_comparing(mind);
}

/* The first search counts the settings, and the second one has the time for them. */
static struct fst_search *open_search(struct online *online, const struct fst_space *space, double seconds)
{
    struct fst_options options = FST_OPTIONS;
    options.tolerance = TOLERANCE;
    options.confidence = CONFIDENCE;
    options.seed = online->options.seed + online->kind;
    options.run_cost = SLICES_A_TRIAL * seconds;
    options.price = price_of;
    options.context = online;
    options.baseline = mind_of(online)->best.values;
    options.budget = options.run_cost * TRIALS;
    struct fst_search *search = fst_search_new(space, &options);
    if (search == NULL)
        return NULL;
    options.budget = options.run_cost * (double)(TRIALS + TRIALS_EACH * fst_search_size(search));
    fst_search_free(search);
    return fst_search_new(space, &options);
}

/* False: there is nothing to choose from. */
static bool begin_search(struct online *online, double seconds)
{
    struct online_mind *mind = mind_of(online);
    struct fst_space *space = online->options.space(online->options.context, online->kind);
    if (space == NULL)
        return false;
    mind->search = open_search(online, space, seconds);
    fst_space_free(space);
    if (mind->search != NULL) {
        mind->ratios = calloc(fst_search_size(mind->search), sizeof(*mind->ratios));
        mind->waits = calloc(fst_search_size(mind->search), sizeof(*mind->waits));
    }
    mind->trial_seconds = 0;
    mind->has_run = false;
    mind->is_due = mind->ratios != NULL && mind->waits != NULL;
    mind->thought.has_result = false;
    return mind->is_due;
}

/* Ratios are over the running setting, which is the first in a search. */
static bool is_proved(const struct moments *ratios)
{
    return ratios->n >= LEAST_PROOF && ratios->mean > student_quantile(CONFIDENCE, (double)ratios->n - 1) *
                                                          ratios->std / sqrt((double)ratios->n);
}

static void conclude(struct online_mind *mind, const struct online_thought *thought, bool is_timed)
{
    const struct fst_estimate *recommended = &thought->answer.recommended;
    if (thought->answered == 0 && is_proved(&mind->ratios[recommended->setting]) &&
        (!is_timed || waits_are_known(&mind->waits[recommended->setting], WAITS_LEAST_REQUESTS, 1))) {
        memcpy(mind->best.values, recommended->values, sizeof(mind->best.values));
        mind->gain = exp(mind->ratios[recommended->setting].mean);
    }
    settle(mind);
}

bool online_thought_take(struct online *online, struct online_thought *ret_thought)
{
    unsigned kind = 0;
    while (kind < KIND_N && (!online->mind[kind].is_due || online->mind[kind].is_away))
        kind++;
    if (kind == KIND_N)
        return false;
    struct online_mind *mind = &online->mind[kind];
    *ret_thought = mind->thought;
    ret_thought->kind = kind;
    ret_thought->generation = online->generation;
    ret_thought->search = mind->search;
    ret_thought->run = mind->run;
    ret_thought->trial_seconds = mind->trial_seconds;
    mind->search = NULL;
    mind->is_away = true;
    return true;
}

void online_think(struct online_thought *thought)
{
    int told = 0;
    if (thought->has_result && thought->is_failed)
        told = fst_fail(thought->search, &thought->run, thought->seconds);
    else if (thought->has_result)
        told = fst_tell(thought->search, &thought->run, thought->value, thought->seconds);
    if (told < 0)
        fst_stop(thought->search);
    thought->asked = fst_ask(thought->search, thought->trial_seconds, &thought->run);
    if (thought->asked != 1)
        thought->answered = fst_answer(thought->search, &thought->answer);
}

/* A run that cannot be made has failed. */
static void fail_if_impossible(const struct online *online, struct online_mind *mind)
{
    struct online_setting setting = setting_of(&mind->run);
    mind->has_run = online->options.may_use(online->options.context, &setting) &&
                    !(mind->has_slow && online_is_same(&setting, &mind->slow));
    mind->thought.has_result = mind->thought.is_failed = mind->is_due = !mind->has_run;
}

bool online_thought_give(struct online *online, const struct online_thought *thought)
{
    struct online_mind *mind = &online->mind[thought->kind];
    if (thought->generation != online->generation) {
        fst_search_free(thought->search);
        return false;
    }
    mind->search = thought->search;
    mind->is_away = mind->is_due = false;
    if (thought->asked != 1) {
        conclude(mind, thought, online->options.is_timed);
        return true;
    }
    mind->run = thought->run;
    fail_if_impossible(online, mind);
    return false;
}

static bool begin_check(struct online *online)
{
    struct online_mind *mind = mind_of(online);
    bool runs =
        online_is_other(online, mind) && online->options.may_use(online->options.context, &mind->best);
    if (!runs || mind->n_slices < mind->next_check)
        return false;
    online->is_check = true;
    online->tried = online->options.first;
    return true;
}

bool online_trial_begin(struct online *online, const struct online_slice *slice)
{
    struct online_mind *mind = mind_of(online);
    if (mind->is_settled)
        return begin_check(online);
    if (mind->search == NULL && !mind->is_away && !begin_search(online, slice->seconds))
        settle(mind);
    if (mind->has_run)
        fail_if_impossible(online, mind);
    if (!mind->has_run || (online->options.is_timed && !latency_limits_are_known(&online->limits)))
        return false;
    online->is_check = false;
    online->tried = setting_of(&mind->run);
    return true;
}

/* The first setting runs, and another one is looked for. */
static void give_up(struct online_mind *mind, const struct online_setting *first)
{
    mind->best = *first;
    mind->gain = 1;
    mind->is_settled = false;
}

/* The best is given up where the first setting proves to be faster by now, or to keep nobody waiting so long.
 */
static void end_check(struct online *online, struct online_mind *mind, double log_ratio)
{
    moments_add(&mind->check, log_ratio);
    waits_add(&mind->check_waits, &online->beside_share, &online->tried_share);
    if (waits_are_long(&mind->check_waits)) {
        mind->has_slow = true;
        mind->slow = mind->best;
        online->n_refused++;
        give_up(mind, &online->options.first);
        return;
    }
    if (is_proved(&mind->check)) {
        give_up(mind, &online->options.first);
        return;
    }
    bool knows_waits = !online->options.is_timed || waits_are_known(&mind->check_waits, 1, LEAST_PROOF);
    bool is_enough = mind->check.n >= CHECK_TRIALS ||
                     (mind->check.n >= LEAST_PROOF && mind->check.mean < 0 && knows_waits);
    if (!is_enough)
        return;
    mind->gain = exp(-mind->check.mean);
    begin_comparing(mind);
}

/* A setting that makes requests wait too long is out, whatever its rate. */
static bool is_refused(struct online *online, struct online_mind *mind)
{
    struct waits *waits = &mind->waits[mind->run.setting];
    waits_add(waits, &online->tried_share, &online->beside_share);
    bool is_long = !online_is_same(&online->tried, &online->options.first) && waits_are_long(waits);
    online->n_refused += is_long;
    return is_long;
}

void online_trial_end(struct online *online, const struct online_slice *after)
{
    struct online_mind *mind = mind_of(online);
    double log_ratio = log(online->tried_bps) - (log(online->before_bps) + log(online_rate(after))) / 2;
    online->n_trials++;
    mind->n_trials++;
    if (online->is_check) {
        end_check(online, mind, log_ratio);
        return;
    }
    /* It ended for its waits, maybe before what it wrote was paid for. */
    if (waits_are_clearly_long(&online->tried_share))
        log_ratio = fmin(log_ratio, 0);
    double seconds = SLICES_A_TRIAL * after->seconds;
    mind->trial_seconds += seconds;
    if (mind->run.confirming)
        moments_add(&mind->ratios[mind->run.setting], log_ratio);
    mind->has_run = false;
    mind->thought = (struct online_thought){.has_result = true,
                                            .is_failed = is_refused(online, mind),
                                            .value = exp(log_ratio),
                                            .seconds = seconds};
    mind->is_due = true;
}
