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
    return memcmp(values, context, sizeof(struct online_setting)) == 0 ? 1 : 2;
}

static void settle(struct online_mind *mind)
{
    online_mind_clear(mind);
    mind->is_settled = true;
    mind->next_check = mind->n_slices + ONLINE_CHECK_SLICES;
    mind->check = (struct moments){0};
}

/* The first search counts the settings, and the second one has the time for them. */
static struct fst_search *open_search(struct online *online, const struct fst_space *space, double seconds)
{
    struct fst_options options = FST_OPTIONS;
    options.tolerance = TOLERANCE;
    options.confidence = CONFIDENCE;
    options.seed = online->options.seed + online->kind;
    options.run_seconds = SLICES_A_TRIAL * seconds;
    options.price = price_of;
    options.context = mind_of(online)->best.values;
    options.baseline = mind_of(online)->best.values;
    options.budget_seconds = options.run_seconds * TRIALS;
    struct fst_search *search = fst_search_new(space, &options);
    if (search == NULL)
        return NULL;
    options.budget_seconds = options.run_seconds * (double)(TRIALS + TRIALS_EACH * fst_search_size(search));
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
    if (mind->search != NULL)
        mind->ratios = calloc(fst_search_size(mind->search), sizeof(*mind->ratios));
    mind->trial_seconds = 0;
    mind->has_run = false;
    return mind->ratios != NULL;
}

/* Ratios are over the running setting, which is the first in a search. */
static bool is_proved(const struct moments *ratios)
{
    return ratios->n >= LEAST_PROOF &&
           ratios->mean > student_quantile(CONFIDENCE, (double)ratios->n - 1) * ratios->std /
                              sqrt((double)ratios->n);
}

static void conclude(struct online *online)
{
    struct online_mind *mind = mind_of(online);
    struct fst_answer answer;
    if (fst_answer(mind->search, &answer) == 0 && is_proved(&mind->ratios[answer.recommended.setting])) {
        memcpy(mind->best.values, answer.recommended.values, sizeof(mind->best.values));
        mind->gain = exp(mind->ratios[answer.recommended.setting].mean);
    }
    settle(mind);
}

/* The next setting that can be taken; false: the search is over. */
static bool ask(struct online *online)
{
    struct online_mind *mind = mind_of(online);
    while (!mind->has_run) {
        if (fst_ask(mind->search, mind->trial_seconds, &mind->run) != 1)
            return false;
        struct online_setting setting = setting_of(&mind->run);
        mind->has_run = online->options.may_use(online->options.context, &setting);
        if (!mind->has_run && fst_fail(mind->search, &mind->run) < 0)
            return false;
    }
    return true;
}

static bool begin_check(struct online *online)
{
    struct online_mind *mind = mind_of(online);
    if (online_is_same(&mind->best, &online->options.first) || mind->n_slices < mind->next_check)
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
    if (mind->search == NULL && !begin_search(online, slice->seconds)) {
        settle(mind);
        return false;
    }
    if (!ask(online)) {
        conclude(online);
        return false;
    }
    online->is_check = false;
    online->tried = setting_of(&mind->run);
    return true;
}

/* The best is given up where the first setting proves to be faster by now, and looked for anew. */
static void end_check(struct online_mind *mind, const struct online_setting *first, double log_ratio)
{
    moments_add(&mind->check, log_ratio);
    if (is_proved(&mind->check)) {
        mind->best = *first;
        mind->gain = 1;
        mind->is_settled = false;
        return;
    }
    bool is_enough = mind->check.n >= CHECK_TRIALS || (mind->check.n >= LEAST_PROOF && mind->check.mean < 0);
    if (!is_enough)
        return;
    mind->gain = exp(-mind->check.mean);
    mind->check = (struct moments){0};
    mind->next_check = mind->n_slices + ONLINE_CHECK_SLICES;
}

void online_trial_end(struct online *online, const struct online_slice *after)
{
    struct online_mind *mind = mind_of(online);
    double log_ratio = log(online->tried_bps) - (log(online->before_bps) + log(online_rate(after))) / 2;
    online->n_trials++;
    mind->n_trials++;
    if (online->is_check) {
        end_check(mind, &online->options.first, log_ratio);
        return;
    }
    double seconds = SLICES_A_TRIAL * after->seconds;
    mind->trial_seconds += seconds;
    if (mind->run.confirming)
        moments_add(&mind->ratios[mind->run.setting], log_ratio);
    mind->has_run = false;
    if (fst_tell(mind->search, &mind->run, exp(log_ratio), seconds) < 0)
        fst_stop(mind->search);
}
