/* models/surrogate/kernel: how alike the responses of two points are expected to be.
 *
 * Covariance of the smooth part: offset + signal * m(r) * exp(-c), with r^2 the sum of (difference /
 * length)^2 over ordered dimensions, c the sum of theta over the categories whose levels differ, and m the
 * Matern function of order 5/2, (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r) (Rasmussen and Williams 2006,
 * equation 4.17). The offset is the variance of the unknown constant mean. On top of it every point has a
 * response of its own, independent of all others, of variance `roughness`.
 *
 * The unit of variance is the caller's: surrogate_gp uses the variance of the responses seen, so that one set
 * of priors fits all. */
#pragma once

#include "models/surrogate/space.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_MAX_LOGS (SPACE_MAX_DIMS + 2)

/* Variance of the constant mean, in units of the variance of the responses: wide enough to be no information.
 */
#define KERNEL_OFFSET 4.0

struct kernel {
    size_t n_dims;
    enum space_kind kind[SPACE_MAX_DIMS];
    double rate[SPACE_MAX_DIMS]; /* ordered: 1 / length^2; category: theta */
    double offset, signal, roughness;
};

/* Hyper-parameters as logarithms: per dimension log length (ordered) or log theta (category), then log
 * signal, then log roughness. Each has a weak normal prior, so that few observations behave. */
struct kernel_prior {
    double mean, std;
};

size_t kernel_n_logs(const struct space *space); /* n_dims + 2 */
struct kernel_prior kernel_prior_of(const struct space *space, size_t log_index);

/* stiff: lengths many times those that the hyper-parameters say, at a signal that grows with them, which
 * leaves hardly more than a quadratic surface of the ordered dimensions (the flat limit of a kernel). */
void kernel_from_logs(struct kernel *kernel, const struct space *space, bool stiff, const double *logs);

/* Smooth covariance less the offset, at squared scaled distance r2 and category cost c; ret_slope (may be
 * NULL) receives -2 d value / d r2, which is what all length derivatives share. */
double kernel_at(const struct kernel *kernel, double r2, double cost, double *ret_slope);

/* kernel_at for two points that are so far apart: per dimension the squared difference, or 1 where a category
 * differs. */
double kernel_at_apart(const struct kernel *kernel, const double *apart, double *ret_slope);

/* Smooth covariance of two rows of coordinates, offset included. */
double kernel_between(const struct kernel *kernel, const double *a, const double *b);
