/* The marginal likelihood: a value by hand, the gradient against differences, the descent against its
 * neighbourhood. */
#include "models/surrogate/evidence.h"
#include "tests/models/rng.h"

#include <errno.h>
#include <gsl/gsl_math.h>

#define N 12

static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY};
static struct space space;
static struct lattice lattice;
static size_t points[N];
static double response[N], noise[N];

FIXTURE(setup)
{
    double raw[N * 3];

    for (size_t i = 0; i < N; i++) {
        double a = (double)(i % 4), b = (double)((i * 5) % 7), c = (double)(i % 3);

        points[i] = i;
        raw[3 * i] = a;
        raw[3 * i + 1] = b;
        raw[3 * i + 2] = c;
        response[i] = sin(a) + 0.3 * b - 0.5 * c - 0.6;
        noise[i] = i % 2 ? 0.01 : 0.2;
    }
    return space_init(&space, raw, N, 3, kinds) || lattice_init(&lattice, &space);
}

FIXTURE(teardown)
{
    lattice_done(&lattice);
    space_done(&space);
    return 0;
}

GROUP(setup, teardown);

static double loss_at(struct evidence *evidence, const double *logs)
{
    double loss, gradient[KERNEL_MAX_LOGS];

    assert_int_equal(evidence_loss(evidence, logs, &loss, gradient), 0);
    return loss;
}

static void prior_means(double *logs)
{
    for (size_t i = 0; i < kernel_n_logs(&space); i++)
        logs[i] = kernel_prior_of(&space, i).mean;
}

TEST(loss_of_one_observation_is_its_normal_density)
{
    AUTO(evidence_done) struct evidence evidence;
    double logs[KERNEL_MAX_LOGS], variance;

    prior_means(logs);
    assert_int_equal(evidence_init(&evidence, &space, &lattice, points, 1, response, noise), 0);
    variance = KERNEL_OFFSET + exp(logs[3]) + exp(logs[4]) + noise[0];
    assert_close(loss_at(&evidence, logs),
                 0.5 * log(2.0 * M_PI * variance) + 0.5 * gsl_pow_2(response[0]) / variance, 1e-12);
}

TEST(prior_adds_half_a_squared_deviation)
{
    AUTO(evidence_done) struct evidence evidence;
    double logs[KERNEL_MAX_LOGS], before;

    prior_means(logs);
    assert_int_equal(evidence_init(&evidence, &space, &lattice, points, 1, response, noise), 0);
    before = loss_at(&evidence, logs);
    /* A length does not matter to one observation: only its prior does. */
    logs[0] += 2.0 * kernel_prior_of(&space, 0).std;
    assert_close(loss_at(&evidence, logs), before + 2.0, 1e-12);
}

TEST(gradient_agrees_with_finite_differences)
{
    const double offsets[][5] = {{0, 0, 0, 0, 0},
                                 {0.5, -0.7, 0.9, -0.4, 1.0},
                                 {-1.5, 1.2, -1.0, 0.8, 2.5},
                                 {2.0, 2.0, 2.0, -2.0, -3.0}};
    AUTO(evidence_done) struct evidence evidence;

    assert_int_equal(evidence_init(&evidence, &space, &lattice, points, N, response, noise), 0);
    for (size_t k = 0; k < N_OF(offsets); k++) {
        double logs[KERNEL_MAX_LOGS], gradient[KERNEL_MAX_LOGS], loss;

        prior_means(logs);
        for (size_t i = 0; i < 5; i++)
            logs[i] += offsets[k][i];
        assert_int_equal(evidence_loss(&evidence, logs, &loss, gradient), 0);
        for (size_t i = 0; i < 5; i++) {
            const double step = 1e-5, at = logs[i];
            double above, below;

            logs[i] = at + step;
            above = loss_at(&evidence, logs);
            logs[i] = at - step;
            below = loss_at(&evidence, logs);
            logs[i] = at;
            assert_close(gradient[i], (above - below) / (2.0 * step), 1e-6 * (1.0 + fabs(gradient[i])));
        }
    }
}

TEST(far_beyond_the_prior_the_loss_is_finite_and_grows)
{
    AUTO(evidence_done) struct evidence evidence;
    double logs[KERNEL_MAX_LOGS], gradient[KERNEL_MAX_LOGS], near, far;

    assert_int_equal(evidence_init(&evidence, &space, &lattice, points, N, response, noise), 0);
    prior_means(logs);
    logs[1] += 100.0;
    assert_int_equal(evidence_loss(&evidence, logs, &near, gradient), 0);
    assert_true(gradient[1] > 0.0);
    logs[1] += 1000.0;
    assert_int_equal(evidence_loss(&evidence, logs, &far, gradient), 0);
    assert_true(isfinite(far) && far > near);
}

TEST(minimum_has_no_slope_and_no_better_neighbour)
{
    gsl_rng_set(rng, 0);
    AUTO(evidence_done) struct evidence evidence;
    double logs[KERNEL_MAX_LOGS], gradient[KERNEL_MAX_LOGS], start, lowest;

    assert_int_equal(evidence_init(&evidence, &space, &lattice, points, N, response, noise), 0);
    prior_means(logs);
    start = loss_at(&evidence, logs);
    assert_int_equal(evidence_minimise(&evidence, 0, 2, rng, logs), 0);
    assert_int_equal(evidence_loss(&evidence, logs, &lowest, gradient), 0);
    assert_true(lowest < start);
    for (size_t i = 0; i < kernel_n_logs(&space); i++) {
        double at = logs[i];

        assert_close(gradient[i], 0.0, 0.1);
        for (int sign = -1; sign <= 1; sign += 2) {
            logs[i] = at + 0.5 * sign;
            assert_true(loss_at(&evidence, logs) > lowest - 0.01);
        }
        logs[i] = at;
    }
}

TEST(loss_and_gradient_are_the_same_with_and_without_a_lattice)
{
    const struct lattice none = {0};
    struct evidence with, without;
    double logs[KERNEL_MAX_LOGS], gradient[2][KERNEL_MAX_LOGS], loss[2];

    prior_means(logs);
    logs[0] += 0.3;
    assert_int_equal(evidence_init(&with, &space, &lattice, points, N, response, noise), 0);
    assert_int_equal(evidence_init(&without, &space, &none, points, N, response, noise), 0);
    assert_true(with.n_distances < without.n_distances);
    assert_int_equal(without.n_distances, N * (N - 1) / 2);
    assert_int_equal(evidence_loss(&with, logs, &loss[0], gradient[0]), 0);
    assert_int_equal(evidence_loss(&without, logs, &loss[1], gradient[1]), 0);
    assert_close(loss[0], loss[1], 1e-10);
    for (size_t i = 0; i < kernel_n_logs(&space); i++)
        assert_close(gradient[0][i], gradient[1][i], 1e-10);
    evidence_done(&with);
    evidence_done(&without);
}

TEST(factor_of_a_singular_matrix_gets_jitter)
{
    double ones[16];

    for (size_t i = 0; i < 16; i++)
        ones[i] = 1.0;
    assert_int_equal(evidence_factorise(ones, 4, 1.0), 0);
    assert_close(ones[0], 1.0, 1e-4);
    assert_close(ones[3], 1.0, 1e-4);
}

TEST(indefinite_matrix_is_edom)
{
    double matrix[] = {1.0, 3.0, 3.0, 1.0};

    assert_int_equal(evidence_factorise(matrix, 2, 1.0), -EDOM);
}
