/* Random search: points without replacement, each as likely as any other. Grid search is the same with every
 * point in its first design; the random order keeps a slow minute from falling on one corner of the grid. */
#include "models/search/search.h"
#include "models/search/search_queue.h"

struct random_search {
    struct search_queue queue; /* all points, shuffled */
    size_t n_first;
};

static int random_init(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    struct random_search *search = state;

    search->n_first = n_first;
    return search_queue_init(&search->queue, space, &design_random, space->n_points, rng);
}

static int grid_init(void *state, const struct space *space, size_t n_first, gsl_rng *rng)
{
    (void)n_first;
    return random_init(state, space, space->n_points, rng);
}

static int random_ask(void *state, const struct belief *belief, size_t want, gsl_rng *rng, size_t *ret_points,
                      size_t *ret_n)
{
    struct random_search *search = state;

    (void)rng;
    *ret_n = search_queue_take(&search->queue, belief, want, ret_points);
    return 0;
}

static int random_in_first_design(const void *state)
{
    const struct random_search *search = state;

    return search->queue.next < search->n_first && search->queue.next < search->queue.n;
}

static void random_done(void *state)
{
    struct random_search *search = state;

    search_queue_done(&search->queue);
}

const struct search_ops search_random = {
    .name = "random",
    .state_size = sizeof(struct random_search),
    .surrogate = &surrogate_gp,
    .init = random_init,
    .ask = random_ask,
    .in_first_design = random_in_first_design,
    .done = random_done,
};

const struct search_ops search_grid = {
    .name = "grid",
    .state_size = sizeof(struct random_search),
    .surrogate = &surrogate_gp,
    .init = grid_init,
    .ask = random_ask,
    .in_first_design = random_in_first_design,
    .done = random_done,
};
