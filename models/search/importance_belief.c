/* What a belief says about the factors: joint draws over a part of the space, and changes near one point. */
#include "models/search/importance.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the points that stand for the space --- */

struct thinning {
    size_t *level;                 /* n_dims rows of n_points */
    size_t stride[SPACE_MAX_DIMS]; /* every so many-th level is kept */
};

static int number_levels(const struct space *space, size_t *ret_level)
{
    double *scratch = malloc(space->n_points * sizeof(*scratch));

    for (size_t dim = 0; scratch && dim < space->n_dims; dim++)
        space_levels(space, dim, NULL, space->n_points, scratch, ret_level + dim * space->n_points);
    free(scratch);
    return scratch ? 0 : -ENOMEM;
}

static size_t collect(const struct belief *belief, const struct thinning *thinning, size_t *ret_points)
{
    const struct space *space = belief->space;
    size_t n = 0;

    for (size_t i = 0; i < space->n_points; i++) {
        bool kept = !belief->excluded[i];

        for (size_t dim = 0; dim < space->n_dims; dim++)
            kept = kept && thinning->level[dim * space->n_points + i] % thinning->stride[dim] == 0;
        if (kept)
            ret_points[n++] = i;
    }
    return n;
}

/* The ordered dimension that keeps the most levels, more than two; n_dims where there is none. */
static size_t richest(const struct space *space, const struct thinning *thinning)
{
    size_t most = 2, found = space->n_dims;

    for (size_t dim = 0; dim < space->n_dims; dim++) {
        size_t n = (space->n_levels[dim] + thinning->stride[dim] - 1) / thinning->stride[dim];

        if (space->kind[dim] == SPACE_ORDERED && n > most) {
            most = n;
            found = dim;
        }
    }
    return found;
}

/* Leaving out whole levels keeps the space as crossed as it is; points at random would not. ret_points has
 * room for all. */
static int pick_points(const struct belief *belief, size_t *ret_points, size_t *ret_n)
{
    const struct space *space = belief->space;
    struct thinning thinning = {.level = malloc(space->n_points * space->n_dims * sizeof(size_t))};
    size_t dim, n;
    int result = thinning.level ? number_levels(space, thinning.level) : -ENOMEM;

    if (result)
        goto out;
    for (dim = 0; dim < space->n_dims; dim++)
        thinning.stride[dim] = 1;
    while ((n = collect(belief, &thinning, ret_points)) > IMPORTANCE_MAX_POINTS) {
        dim = richest(space, &thinning);
        if (dim == space->n_dims)
            break;
        thinning.stride[dim] *= 2;
    }
    if (n > IMPORTANCE_MAX_POINTS) {
        for (size_t i = 0; i < IMPORTANCE_MAX_POINTS; i++)
            ret_points[i] = ret_points[i * n / IMPORTANCE_MAX_POINTS];
        n = IMPORTANCE_MAX_POINTS;
    }
    *ret_n = n;
out:
    free(thinning.level);
    return result;
}

static double variance_over(const double *values, size_t n)
{
    return gsl_stats_variance(values, 1, n) * (double)(n - 1) / (double)n;
}

static double known_share(const struct belief *belief, const size_t *points, size_t n, const double *draws,
                          size_t n_draws)
{
    double means[IMPORTANCE_MAX_POINTS], average = 0.0;

    for (size_t i = 0; i < n; i++)
        means[i] = belief->mean[points[i]];
    for (size_t draw = 0; draw < n_draws; draw++)
        average += variance_over(draws + draw * n, n) / (double)n_draws;
    return average > 0.0 ? fmin(1.0, variance_over(means, n) / average) : 1.0;
}

int importance_of(const struct belief *belief, size_t n_draws, double confidence, gsl_rng *rng,
                  struct importance *ret_importance)
{
    size_t *points, n = 0;
    double *draws = NULL;
    int result;

    if (!belief->chosen)
        return -ENODATA;
    points = malloc(belief->space->n_points * sizeof(*points));
    result = points ? pick_points(belief, points, &n) : -ENOMEM;
    if (!result && n < 2)
        result = -ENODATA;
    if (result)
        goto out;
    draws = malloc(n * n_draws * sizeof(*draws));
    result = draws ? belief_sample(belief, points, n, n_draws, rng, draws) : -ENOMEM;
    if (!result)
        result = importance_decompose(belief->space, points, n, draws, n_draws, confidence, ret_importance);
    if (!result)
        ret_importance->known_share = known_share(belief, points, n, draws, n_draws);
out:
    free(points);
    free(draws);
    return result;
}

/* --- changes near one point --- */

/* How many factors besides dim differ. */
static size_t n_others(const struct space *space, size_t a, size_t b, size_t dim)
{
    size_t n = 0;

    for (size_t d = 0; d < space->n_dims; d++)
        n += d != dim && fabs(space_row(space, a)[d] - space_row(space, b)[d]) > 0.0;
    return n;
}

static bool is_closer(const struct belief *belief, size_t from, size_t dim, size_t point, size_t than)
{
    size_t own = n_others(belief->space, from, point, dim), its = n_others(belief->space, from, than, dim);

    return own < its || (own == its && belief->mean[point] > belief->mean[than]);
}

static double level_of(const struct belief *belief, size_t point, size_t dim)
{
    return space_row(belief->space, point)[dim];
}

/* The place of the change to this level among those found so far, which are sorted by it. */
static size_t place_of(const struct belief *belief, size_t dim, double level,
                       const struct importance_change *changes, size_t n)
{
    size_t place = 0;

    while (place < n && level_of(belief, changes[place].point, dim) < level)
        place++;
    return place;
}

static size_t find_changes(const struct belief *belief, size_t from, size_t dim,
                           struct importance_change *changes)
{
    size_t n = 0;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        double level = level_of(belief, point, dim);
        size_t place = place_of(belief, dim, level, changes, n);

        if (belief->excluded[point] && point != from)
            continue;
        if (place < n && !(level_of(belief, changes[place].point, dim) > level)) {
            if (is_closer(belief, from, dim, point, changes[place].point))
                changes[place].point = point;
            continue;
        }
        memmove(changes + place + 1, changes + place, (n - place) * sizeof(*changes));
        changes[place] = (struct importance_change){.point = point};
        n++;
    }
    return n;
}

static void fill_change(const struct belief *belief, size_t from, size_t dim, double own_covariance,
                        double covariance, struct importance_change *change)
{
    const struct space *space = belief->space;
    double variance = belief->variance[change->point] + own_covariance - 2.0 * covariance;

    for (size_t d = 0; d < space->n_dims; d++)
        change->also[d] =
            d != dim && fabs(level_of(belief, from, d) - level_of(belief, change->point, d)) > 0.0;
    change->difference = belief->mean[change->point] - belief->mean[from];
    change->deviation = change->point == from ? 0.0 : sqrt(fmax(0.0, variance));
}

int importance_changes(const struct belief *belief, size_t from, size_t dim,
                       struct importance_change *ret_changes, size_t *ret_n)
{
    size_t n_levels = belief->space->n_levels[dim], n;
    size_t *points = calloc(n_levels, sizeof(*points));
    double *covariance = malloc(n_levels * sizeof(*covariance));
    int result = points && covariance ? 0 : -ENOMEM;

    if (!belief->chosen)
        result = -ENODATA;
    if (result)
        goto out;
    n = find_changes(belief, from, dim, ret_changes);
    for (size_t i = 0; i < n; i++)
        points[i] = ret_changes[i].point;
    result = belief_covariance(belief, from, points, n, covariance);
    if (result)
        goto out;
    for (size_t i = 0; i < n; i++)
        fill_change(belief, from, dim, belief->variance[from], covariance[i], &ret_changes[i]);
    *ret_n = n;
out:
    free(points);
    free(covariance);
    return result;
}
