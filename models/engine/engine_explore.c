/* The first part of a search: a design, then the points that the strategy asks for. */
#include "models/engine/engine_internal.h"

#include <errno.h>

#define ROUND_POINTS 6
#define ROUND_MAX    16
/* Every so many rounds hyper-parameters are fitted anew; in between only the data are exchanged. */
#define REFIT_ROUNDS 2

/* Lists the points asked for, `replays` times each, a suspect point, and the best so far, which is measured
 * again in every round and so shows drift. */
static size_t list_round(const struct engine *engine, const size_t *asked, size_t n_asked, size_t replays,
                         size_t *ret_runs)
{
    size_t n = 0;
    for (size_t i = 0; i < n_asked; i++) {
        for (size_t k = 0; k < replays; k++)
            ret_runs[n++] = asked[i];
    }
    size_t incumbent = belief_best(&engine->belief, 1), suspect = belief_suspect(&engine->belief);
    if (incumbent < engine->space->n_points)
        ret_runs[n++] = incumbent;
    if (suspect < engine->space->n_points)
        ret_runs[n++] = suspect;
    return n;
}

static int update(struct engine *engine)
{
    int result = belief_update(&engine->belief, (engine->n_rounds - 1) % REFIT_ROUNDS == 0, engine->rng);
    engine_expect_costs(engine);
    engine_limit_expect(engine);
    return result == -ENODATA || result == -EDOM ? 0 : result;
}

int engine_explore(struct engine *engine, double now_seconds, bool *ret_over)
{
    size_t asked[ROUND_MAX], runs[ENGINE_MAX_QUEUED + 2], n = 0;
    bool grid = engine->search == &search_grid;
    bool has_time = engine->stop == ENGINE_STOP_NOT_YET &&
                    engine_has_time(engine, now_seconds, engine->explore_end_seconds, 1);
    int result = 0;
    *ret_over = true;
    if (engine->n_rounds > 0) {
        if (engine->queue.n_handed == 0 && !engine->was_design)
            return 0; /* what is asked for does not fit into the time that is left */
        /* What grows is to think fast: the race alone makes something of the last round. */
        if (engine->growth > 0 && !has_time)
            return 0;
        result = update(engine);
    }
    if (result < 0 || !has_time || (!grid && engine_nears_ceiling(engine)))
        return result;
    engine->was_design = engine->search->in_first_design(engine->search_state);
    result =
        engine->search->ask(engine->search_state, &engine->belief,
                            engine->was_design || grid ? ROUND_MAX : ROUND_POINTS, engine->rng, asked, &n);
    if (result < 0 || n == 0)
        return result;
    size_t replays = grid ? ENGINE_GRID_REPLAYS : engine->was_design ? 1 : engine_replays(engine, n);
    n = list_round(engine, asked, n, replays, runs);
    engine_queue(engine, runs, n, false, engine->explore_end_seconds);
    engine->n_rounds++;
    *ret_over = false;
    return 0;
}
