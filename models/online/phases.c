/* Ends of phases. */
#include "models/online/phases.h"

#include <math.h>

#define LEAST_SEEN     2  /* times, so that they have a deviation */
#define LEAST_SAID     4  /* forecasts, before a rule is believed */
#define MOST_SAID      32 /* then each counts half, so that old ones fade */
#define MEAN_SLOWNESS  8  /* Jacobson's gains are one over these */
#define DEV_SLOWNESS   4
#define DEVIATIONS     4.0 /* half a window */
#define LEAST_WITHIN   0.1 /* seconds; the end of a phase is known to a slice or two */
#define WITHIN_LENGTHS 8.0 /* half a window is this part of the phase at most */

void phases_init(struct phases *phases)
{
    *phases = (struct phases){.before = KIND_NONE, .kind = KIND_NONE};
}

static void follow(struct phases_rule *rule, double seconds)
{
    double error = seconds - rule->mean;
    rule->n++;
    if (rule->n > 1)
        rule->deviation += (fabs(error) - rule->deviation) / fmin(rule->n - 1, DEV_SLOWNESS);
    rule->mean += error / fmin(rule->n, MEAN_SLOWNESS);
}

/* False: the rule says nothing. */
static bool say(const struct phases *phases, const struct phases_place *place, enum phases_rule_name name,
                struct phases_forecast *ret_forecast)
{
    const struct phases_rule *rule = &place->rules[name];
    double from = name == PHASES_LENGTH ? phases->begin : place->last_end;
    *ret_forecast = (struct phases_forecast){.kind = place->next,
                                             .seconds = from + rule->mean,
                                             .within = fmax(DEVIATIONS * rule->deviation, LEAST_WITHIN),
                                             .score = rule->score};
    return rule->n >= LEAST_SEEN &&
           ret_forecast->within * WITHIN_LENGTHS <= ret_forecast->seconds - phases->begin;
}

static void score(struct phases_rule *rule, bool is_right)
{
    if (rule->score.n_said >= MOST_SAID) {
        rule->score.n_said /= 2;
        rule->score.n_right /= 2;
    }
    rule->score.n_said++;
    rule->score.n_right += is_right;
}

/* What was said is scored before it is learnt from. */
static void end_phase(struct phases *phases, struct phases_place *place, unsigned next, double seconds)
{
    for (enum phases_rule_name name = 0; name < PHASES_N_RULES; name++) {
        struct phases_forecast said;
        if (say(phases, place, name, &said))
            score(&place->rules[name], said.kind == next && fabs(seconds - said.seconds) <= said.within);
    }
    follow(&place->rules[PHASES_LENGTH], seconds - phases->begin);
    if (place->n_ends++ > 0)
        follow(&place->rules[PHASES_DISTANCE], seconds - place->last_end);
    place->last_end = seconds;
    place->next = next;
}

void phases_change(struct phases *phases, unsigned kind, double seconds)
{
    if (phases->kind != KIND_NONE)
        end_phase(phases, &phases->places[phases->before][phases->kind], kind, seconds);
    phases->before = phases->kind;
    phases->kind = kind;
    phases->begin = seconds;
}

static bool is_believed(const struct phases_rule *rule)
{
    double low;
    calendar_share(&rule->score, &low);
    return rule->score.n_said >= LEAST_SAID && low > 0.5;
}

/* Of rules that are right as often, the one with the smaller window. */
static bool is_better(const struct phases_forecast *a, const struct phases_forecast *b)
{
    double low_a, low_b;
    calendar_share(&a->score, &low_a);
    calendar_share(&b->score, &low_b);
    return low_a > low_b || (low_a >= low_b && a->within < b->within);
}

bool phases_foresee(const struct phases *phases, struct phases_forecast *ret_forecast)
{
    if (phases->kind == KIND_NONE)
        return false;
    const struct phases_place *place = &phases->places[phases->before][phases->kind];
    bool is_foreseen = false;
    for (enum phases_rule_name name = 0; name < PHASES_N_RULES; name++) {
        struct phases_forecast forecast;
        if (!say(phases, place, name, &forecast) || !is_believed(&place->rules[name]) ||
            (is_foreseen && !is_better(&forecast, ret_forecast)))
            continue;
        is_foreseen = true;
        *ret_forecast = forecast;
    }
    return is_foreseen;
}

bool phases_may_end(const struct phases *phases, double from, double to)
{
    struct phases_forecast forecast;
    return phases_foresee(phases, &forecast) && to >= forecast.seconds - forecast.within &&
           from <= forecast.seconds + forecast.within;
}
