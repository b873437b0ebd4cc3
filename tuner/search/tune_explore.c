/* The first part of a search: a design, then the points that the strategy asks for. */
#include "tuner/search/tune.h"

#include "tuner/search/prior.h"

#include <errno.h>

#define ROUND_POINTS 6
#define ROUND_MAX    16
/* Points per round that are measured again because their only run was probably an outlier. */
#define ROUND_SUSPECTS 1
/* Every so many rounds hyper-parameters are fitted anew; in between only the data are exchanged. */
#define REFIT_ROUNDS 2
/* At most so many points show a night what has changed since earlier nights. */
#define SENTINELS_MAX 48

/* Lists the points asked for, `replays` times each, suspect points, and the best so far, which is measured
 * again in every round and so shows drift. */
static size_t make_round(const struct tune *tune, const size_t *asked, size_t n_asked, size_t replays,
                         size_t *ret_runs)
{
    size_t n = 0;
    for (size_t i = 0; i < n_asked; i++) {
        for (size_t k = 0; k < replays; k++)
            ret_runs[n++] = asked[i];
    }
    size_t incumbent = belief_best(&tune->belief, 1);
    if (incumbent < tune->space.n_points)
        ret_runs[n++] = incumbent;
    return n + belief_suspects(&tune->belief, ROUND_SUSPECTS, ret_runs + n);
}

static int update(struct tune *tune, size_t round, struct err *err)
{
    int result = belief_update(&tune->belief, round % REFIT_ROUNDS == 0, tune->rng);
    tune_expect_costs(tune);
    return result < 0 && result != -ENODATA && result != -EDOM ? err_sys(err, result, "cannot fit a model")
                                                               : 0;
}

/* Points that knowledge from elsewhere says are worth a first look. */
static int measure_known(struct tune *tune, uint64_t deadline_ns, struct err *err)
{
    size_t points[SENTINELS_MAX], runs[SENTINELS_MAX * TUNE_SENTINEL_RUNS], n_runs = 0;
    int result =
        tune_measure(tune, points, prior_first_points(tune, points, ROUND_MAX), false, deadline_ns, err);
    if (result < 0 || tune->policy.sentinel_runs == 0)
        return result;
    size_t n = prior_probes(tune, points, SENTINELS_MAX);
    tune_writes_reserve(tune);
    for (size_t k = 0; k < tune->policy.sentinel_runs; k++) {
        for (size_t i = 0; i < n; i++)
            runs[n_runs++] = points[i];
    }
    result = tune_measure(tune, runs, n_runs, false, deadline_ns, err);
    belief_prior_drop(&tune->belief);
    return result;
}

int tune_explore(struct tune *tune, struct err *err)
{
    size_t asked[ROUND_MAX], runs[ROUND_MAX * TUNE_GRID_REPLAYS + 1 + ROUND_SUSPECTS];
    bool grid = tune->search == &search_grid;
    uint64_t deadline_ns = grid ? tune->time.search_end_ns : tune->time.explore_end_ns;
    size_t first[2 + TUNE_MAX_WATCHED] = {tune->baseline, tune->default_setting};
    size_t n_first = tune->default_setting == TUNE_NONE ? 1 : 2;
    for (size_t i = 0; i < tune->n_watched; i++)
        first[n_first++] = tune->watched[i];
    int result = tune_measure(tune, first, n_first, false, tune->time.end_ns, err);
    tune_writes_reserve(tune);
    if (result == 0)
        result = measure_known(tune, deadline_ns, err);
    for (size_t round = 0; result == 0 && tune->stop == TUNE_STOP_NOT_YET; round++) {
        size_t n = 0;
        bool design = tune->search->in_first_design(tune->search_state);
        if (!tune_has_time(tune, deadline_ns, 1))
            break;
        result = tune->search->ask(tune->search_state, &tune->belief,
                                   design || grid ? ROUND_MAX : ROUND_POINTS, tune->rng, asked, &n);
        if (result < 0)
            return err_sys(err, result, "the search cannot go on");
        if (n == 0)
            break;
        n = make_round(tune, asked, n, grid ? TUNE_GRID_REPLAYS : 1, runs);
        tune_writes_reserve(tune);
        uint64_t runs_before = tune->session->n_runs;
        result = tune_measure(tune, runs, n, false, deadline_ns, err);
        if (tune->session->n_runs == runs_before && !design)
            break; /* what is asked for does not fit into the time that is left */
        if (result == 0)
            result = update(tune, round, err);
    }
    return result;
}
