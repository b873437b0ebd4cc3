/* Chooses the points that show what has changed since the prior knowledge was measured. */
#include "tuner/search/prior.h"

/* The best point whose coordinate in one dimension is `level`. */
static size_t best_with(const struct tune *tune, size_t dim, double level)
{
    const double *mean = tune->belief.prior.mean[0];
    size_t best = TUNE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (space_row(&tune->space, i)[dim] == level && !tune->belief.excluded[i] &&
            (best == TUNE_NONE || mean[i] > mean[best]))
            best = i;
    }
    return best;
}

static bool is_first_with(const struct tune *tune, size_t point, size_t dim)
{
    double level = space_row(&tune->space, point)[dim];
    for (size_t i = 0; i < point; i++) {
        if (space_row(&tune->space, i)[dim] == level)
            return false;
    }
    return true;
}

size_t prior_probes(const struct tune *tune, size_t *ret_points, size_t room)
{
    size_t n = 0;
    if (tune->belief.prior.n == 0)
        return 0;
    for (size_t dim = 0; dim < tune->space.n_dims; dim++) {
        for (size_t i = 0; i < tune->space.n_points && n < room; i++) {
            if (is_first_with(tune, i, dim))
                n = tune_list_once(ret_points, n, best_with(tune, dim, space_row(&tune->space, i)[dim]));
        }
    }
    return n;
}
