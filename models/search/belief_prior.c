/* A mean function from elsewhere, trusted as far as it predicts. */
#include "models/search/belief.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int belief_prior_add(struct belief *belief, const double *mean)
{
    struct belief_prior *prior = &belief->prior;
    size_t n = belief->space->n_points;
    double *copy;

    if (prior->n == BELIEF_PRIOR_MAX)
        return -ENOSPC;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(mean[i]))
            return -EINVAL;
    }
    copy = malloc(n * sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    prior->mean[prior->n++] = memcpy(copy, mean, n * sizeof(*copy));
    return 0;
}

void belief_prior_drop(struct belief *belief)
{
    struct belief_prior *prior = &belief->prior;

    for (size_t i = 0; i < prior->n; i++)
        free(prior->mean[i]);
    prior->n = 0;
}

void belief_prior_ignore(struct belief *belief, bool ignored)
{
    belief->prior.ignored = ignored;
    if (ignored) {
        free(belief->prior.offset);
        belief->prior.offset = NULL;
    }
}

void belief_prior_done(struct belief *belief)
{
    belief_prior_drop(belief);
    free(belief->prior.offset);
    belief->prior.offset = NULL;
}

/* Columns of the measured points: what each source says, what was measured, and how well that is known. */
static size_t collect_pairs(const struct belief *belief, size_t source, double *x, double *y,
                            double *variance)
{
    size_t count = 0;

    for (size_t point = 0; point < belief->space->n_points; point++) {
        const struct moments *moments = &belief->moments[point];
        double df;

        if (moments->n == 0 || belief->excluded[point])
            continue;
        x[count] = belief->prior.mean[source][point];
        y[count] = moments->mean;
        variance[count++] = belief_run_variance(belief, point, &df) / (double)moments->n;
    }
    return count;
}

static int fit_sources(struct belief *belief)
{
    struct belief_prior *prior = &belief->prior;
    size_t n = belief->n_measured;
    double *x = malloc((3 * n + 1) * sizeof(*x));
    int result = x ? 0 : -ENOMEM;

    for (size_t source = 0; source < prior->n && !result; source++) {
        size_t count = collect_pairs(belief, source, x, x + n, x + 2 * n);

        result = transfer_fit(x, x + n, x + 2 * n, count, &prior->transfer[source]);
        if (result == -ENODATA)
            result = 0;
        if (prior->transfer[source].weight > prior->transfer[prior->used].weight)
            prior->used = source;
    }
    free(x);
    return result;
}

int belief_prior_refit(struct belief *belief)
{
    struct belief_prior *prior = &belief->prior;
    const struct transfer *transfer;
    int result;

    free(prior->offset);
    prior->offset = NULL;
    if (prior->n == 0)
        return 0;
    prior->used = 0;
    result = fit_sources(belief);
    transfer = &prior->transfer[prior->used];
    if (result || prior->ignored || !(transfer->weight > 0.0))
        return result;
    prior->offset = malloc(belief->space->n_points * sizeof(*prior->offset));
    if (!prior->offset)
        return -ENOMEM;
    for (size_t i = 0; i < belief->space->n_points; i++)
        prior->offset[i] = transfer->weight * transfer_predict(transfer, prior->mean[prior->used][i]);
    return 0;
}
