/* Grid search: every point once. The order is random, so that a slow minute does not fall on one corner of
 * the grid. The whole grid is its first design: it is complete or it is not a grid. */
#include "models/search/search.h"
#include "models/search/search_queue.h"

static int grid_init(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    (void)n_first;
    return search_queue_init(state, space, &design_random, space->n_points, rng);
}

static int grid_ask(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
                    size_t *ret_n)
{
    (void)rng;
    *ret_n = search_queue_take(state, belief, want, ret_points);
    return 0;
}

static int grid_in_first_design(const void *state)
{
    const struct search_queue *queue = state;

    return queue->next < queue->n;
}

static void grid_done(void *state)
{
    search_queue_done(state);
}

const struct search_ops search_grid = {
    .name = "grid",
    .state_size = sizeof(struct search_queue),
    .model = BELIEF_AUTO,
    .init = grid_init,
    .ask = grid_ask,
    .in_first_design = grid_in_first_design,
    .done = grid_done,
};
