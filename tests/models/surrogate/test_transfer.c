/* How far figures from elsewhere are believed: shift, slope, outliers, and what is of no use. */
#include "models/surrogate/transfer.h"
#include "tests/models/rng.h"

#include <errno.h>

enum { N = 24 };

static double x[N], y[N], variance[N];

/* y = shift + slope * x + noise over the first n points; x spreads by 0.7, as log throughputs do. */
static struct transfer fit(size_t n, double shift, double slope, double noise)
{
    struct transfer transfer;

    for (size_t i = 0; i < n; i++) {
        x[i] = 20.0 + gsl_ran_gaussian(rng, 0.7);
        y[i] = shift + slope * x[i] + gsl_ran_gaussian(rng, noise);
        variance[i] = noise * noise;
    }
    assert_int_equal(transfer_fit(x, y, variance, n, &transfer), 0);
    return transfer;
}

TEST(a_common_factor_is_a_shift)
{
    struct transfer transfer;

    gsl_rng_set(rng, 1);
    transfer = fit(N, -1.2, 1.0, 0.0);
    assert_close(transfer.slope, 1.0, 1e-6);
    assert_close(transfer_predict(&transfer, 20.0), 18.8, 1e-6);
    assert_close(transfer.agreement, 1.0, 1e-9);
    assert_true(transfer.weight > 0.999);
    assert_int_equal(transfer.n, N);
}

TEST(a_noisy_line_is_believed_in_part)
{
    double slope = 0.0, std = 0.0, weight = 0.0;

    gsl_rng_set(rng, 2);
    for (int i = 0; i < 100; i++) {
        struct transfer transfer = fit(N, 3.0, 0.8, 0.2);

        slope += transfer.slope / 100.0;
        std += transfer.std / 100.0;
        weight += transfer.weight / 100.0;
    }
    assert_close(slope, 0.8, 0.05);
    assert_close(std, 0.2, 0.03);
    /* The share of variance that the line explains: 0.56^2 / (0.56^2 + 0.2^2). */
    assert_close(weight, 0.887, 0.05);
}

TEST(three_points_keep_the_slope_near_one)
{
    struct transfer transfer;
    const double px[] = {20.0, 20.1, 20.2}, py[] = {19.0, 19.5, 19.4}, v[] = {0.04, 0.04, 0.04};

    assert_int_equal(transfer_fit(px, py, v, 3, &transfer), 0);
    assert_close(transfer.slope, 1.0, 0.5); /* plain least squares would say 2 */
}

/* Over many tables without any relation the weight stays low, so that a useless prior costs little. */
TEST(what_is_unrelated_gets_hardly_any_weight)
{
    double sum = 0.0;
    int n_high = 0;

    gsl_rng_set(rng, 3);
    for (int i = 0; i < 200; i++) {
        struct transfer transfer = fit(N, 20.0, 0.0, 0.7);

        sum += transfer.weight / 200.0;
        n_high += transfer.weight > 0.3;
    }
    print_message("# unrelated: mean weight %.3f, %d of 200 above 0.3\n", sum, n_high);
    assert_true(sum < 0.1);
    assert_true(n_high < 10);
}

TEST(what_is_turned_round_gets_none)
{
    gsl_rng_set(rng, 4);
    assert_close(fit(N, 40.0, -1.0, 0.1).weight, 0.0, 0.0);
}

TEST(outliers_do_not_turn_the_line)
{
    struct transfer transfer;

    gsl_rng_set(rng, 5);
    fit(N, 0.0, 1.0, 0.05);
    y[3] -= 3.0;
    y[11] -= 3.0;
    assert_int_equal(transfer_fit(x, y, variance, N, &transfer), 0);
    assert_close(transfer.slope, 1.0, 0.1);
    assert_close(transfer_predict(&transfer, 20.0), 20.0, 0.05);
    assert_true(transfer.weight > 0.8);
}

TEST(points_known_badly_count_less)
{
    struct transfer transfer;

    gsl_rng_set(rng, 6);
    fit(8, 0.0, 1.0, 0.01);
    y[0] += 0.4;
    variance[0] = 1.0;
    assert_int_equal(transfer_fit(x, y, variance, 8, &transfer), 0);
    assert_close(transfer_predict(&transfer, 20.0), 20.0, 0.05);
}

TEST(what_does_not_vary_has_no_agreement)
{
    const double same[] = {20.0, 20.0, 20.0, 20.0}, v[] = {0.0, 0.0, 0.0, 0.0};
    const double other[] = {19.0, 20.0, 18.0, 21.0};
    struct transfer transfer;

    assert_int_equal(transfer_fit(same, other, v, 4, &transfer), 0);
    assert_true(isnan(transfer.agreement));
    assert_true(transfer.weight < 0.01);
    assert_int_equal(transfer_fit(other, same, v, 4, &transfer), 0);
    assert_true(transfer.weight >= 0.0 && transfer.weight <= 1.0);
}

TEST(too_few_or_bad_numbers_are_refused)
{
    const double good[] = {1.0, 2.0, 3.0}, bad[] = {1.0, NAN, 3.0}, zero[] = {0.0, 0.0, 0.0},
                 negative[] = {0.0, -1.0, 0.0};
    struct transfer transfer = {.n = 77};

    assert_int_equal(transfer_fit(good, good, zero, 2, &transfer), -ENODATA);
    assert_int_equal(transfer_fit(bad, good, zero, 3, &transfer), -EINVAL);
    assert_int_equal(transfer_fit(good, bad, zero, 3, &transfer), -EINVAL);
    assert_int_equal(transfer_fit(good, good, negative, 3, &transfer), -EINVAL);
    assert_int_equal(transfer.n, 77);
}
