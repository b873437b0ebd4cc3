/* The covariance function and the priors of its hyper-parameters. */
#include "models/surrogate/kernel.h"

#include <math.h>

/* Coordinates span 0..1, so a length of 0.7 bends once over the space. A category costs about a fifth of the
 * correlation. The signal is about the variance seen, the roughness about 1 % of it. */
static const struct kernel_prior length_prior = {-0.36, 1.0}, theta_prior = {-1.6, 1.2},
                                 signal_prior = {0.0, 1.0}, roughness_prior = {-4.6, 1.5};

/* By how much lengths are stretched. */
#define STIFF 10.0

size_t kernel_n_logs(const struct space *space)
{
    return space->n_dims + 2;
}

struct kernel_prior kernel_prior_of(const struct space *space, size_t log_index)
{
    if (log_index == space->n_dims)
        return signal_prior;
    if (log_index > space->n_dims)
        return roughness_prior;
    return space->kind[log_index] == SPACE_CATEGORY ? theta_prior : length_prior;
}

void kernel_from_logs(struct kernel *kernel, const struct space *space, bool stiff, const double *logs)
{
    double stretch = stiff ? STIFF : 1.0, signal = stretch * stretch * stretch * stretch;

    *kernel = (struct kernel){.n_dims = space->n_dims,
                              .offset = KERNEL_OFFSET,
                              .signal = signal * exp(logs[space->n_dims]),
                              .roughness = exp(logs[space->n_dims + 1])};
    for (size_t d = 0; d < space->n_dims; d++) {
        kernel->kind[d] = space->kind[d];
        /* A signal that large makes categories as unlike as before with the rate divided by it. */
        kernel->rate[d] = space->kind[d] == SPACE_CATEGORY ? exp(logs[d]) / signal
                                                           : exp(-2.0 * logs[d]) / (stretch * stretch);
    }
}

double kernel_at(const struct kernel *kernel, double r2, double cost, double *ret_slope)
{
    double s = sqrt(5.0 * r2);
    double decay = kernel->signal * exp(-s - cost);

    if (ret_slope)
        *ret_slope = 5.0 / 3.0 * (1.0 + s) * decay;
    return (1.0 + s + s * s / 3.0) * decay;
}

double kernel_at_apart(const struct kernel *kernel, const double *apart, double *ret_slope)
{
    double sum[2] = {0.0, 0.0};

    for (size_t d = 0; d < kernel->n_dims; d++)
        sum[kernel->kind[d] == SPACE_CATEGORY] += apart[d] * kernel->rate[d];
    return kernel_at(kernel, sum[0], sum[1], ret_slope);
}

double kernel_between(const struct kernel *kernel, const double *a, const double *b)
{
    double apart[SPACE_MAX_DIMS];

    for (size_t d = 0; d < kernel->n_dims; d++) {
        double difference = a[d] - b[d];

        apart[d] = kernel->kind[d] == SPACE_ORDERED ? difference * difference : fabs(difference) > 0.5;
    }
    return kernel->offset + kernel_at_apart(kernel, apart, NULL);
}
