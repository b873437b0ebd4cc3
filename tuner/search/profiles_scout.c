/* The search looks for the best point of one profile. Where several profiles are wanted, these runs measure
 * the surroundings of the best point of each. */
#include "tuner/search/profiles.h"
#include "tuner/search/tune.h"

#include <math.h>

#define TIME_SHARE 0.33 /* of what is left before the confirmation */
#define ROUND_RUNS 24
#define TOP_POINTS 3 /* of each profile are compared */
/* A point with so many runs gets no more here: runs after the choice are not biased by it and tell more. */
#define REPLAYS_MOST 8
#define CLOSE_SD     2

struct round {
    size_t runs[ROUND_RUNS];
    size_t n;
};

static void add_to_round(struct round *round, const struct tune *tune, size_t point)
{
    if (round->n < ROUND_RUNS && tune->records[point].failed == 0 && tune_distrust(tune, point) == 0)
        round->n = engine_list_once(round->runs, round->n, point);
}

/* Whether a point may still be the best: it has too few runs to tell, or its mean lies within the noise of
 * the highest mean. */
static bool is_open(const struct contender *score, double highest)
{
    double sd = sqrt(2 * score->run_variance / (double)score->moments.n);
    return score->moments.n < ENGINE_MIN_REPLAYS ||
           (score->moments.n < REPLAYS_MOST && score->moments.mean > highest - CLOSE_SD * sd);
}

/* Adds the points with the highest mean scores that may still be the best. Where only one is left, and it has
 * its least number of runs, it needs no more. */
static void add_top(struct round *round, const struct tune *tune, const struct profiles_field *field,
                    enum profile profile)
{
    const struct contender *score = field->score[profile];
    size_t top[TOP_POINTS] = {0}, n = 0, n_open = 0;
    double means[TOP_POINTS];
    for (size_t i = 0; i < field->n; i++)
        n = engine_list_highest(top, means, n, TOP_POINTS, i, score[i].moments.mean);
    for (size_t k = 0; k < n; k++) {
        if (is_open(&score[top[k]], means[0]))
            top[n_open++] = top[k];
    }
    if (n_open == 1 && score[top[0]].moments.n >= ENGINE_MIN_REPLAYS)
        return;
    for (size_t k = 0; k < n_open; k++)
        add_to_round(round, tune, field->point[top[k]]);
}

static int make_round(const struct tune *tune, struct round *ret_round)
{
    struct profiles_field field;
    size_t neighbours[PROFILES_NEIGHBOURS_MOST];
    int result = profiles_field_of(tune, &field);
    if (result < 0)
        return result;
    ret_round->n = 0;
    for (size_t p = 0; p < PROFILE_N; p++) {
        size_t best = profiles_best(tune, &field, (enum profile)p);
        if (best == ENGINE_NONE)
            continue;
        size_t n = profiles_neighbours(tune, field.point[best], neighbours, PROFILES_NEIGHBOURS_MOST);
        for (size_t i = 0; i < n; i++) {
            if (tune->records[neighbours[i]].n == 0)
                add_to_round(ret_round, tune, neighbours[i]);
        }
        add_top(ret_round, tune, &field, (enum profile)p);
    }
    profiles_field_done(&field);
    return 0;
}

int profiles_scout(struct tune *tune, struct err *err)
{
    double now = tune_now(tune), end = tune->engine.search_end_seconds;
    if (!profiles_wanted(tune->settings) || now >= end)
        return 0;
    double deadline_seconds = now + (end - now) * TIME_SHARE;
    struct round round;
    int result = 0;
    while (result == 0 && tune->engine.stop == ENGINE_STOP_NOT_YET &&
           tune_has_time(tune, deadline_seconds, 1)) {
        result = make_round(tune, &round);
        if (result < 0)
            return err_sys(err, result, "the profiles cannot be looked for");
        if (round.n == 0)
            break;
        uint64_t runs_before = tune->session->n_runs;
        result = tune_measure(tune, round.runs, round.n, deadline_seconds, err);
        if (tune->session->n_runs == runs_before)
            break; /* none of them fits into the time that is left */
    }
    return result;
}
