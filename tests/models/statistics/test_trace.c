/* Tests of models/statistics/trace: labelled shapes (a small version of tests/statistics/shapes), fields of
 * the verdict on traces without noise, and what is refused. */
#include "tests/models/statistics/trace_shapes.h"
#include "tests/test.h"

#include <errno.h>

#define SMOKE_SEEDS 12

static struct trace_verdict verdict_of(const double *rates, size_t n)
{
    struct trace_verdict verdict;

    assert_int_equal(trace_classify(rates, n, &verdict), 0);
    return verdict;
}

/* Values of no noise at all would be a world of their own; these scatter by 1 %, the same in every run. */
static double scatter(size_t i)
{
    return 1 + 0.01 * sin(12.9898 * (double)(i * i + 7 * i));
}

/* The verdict on n rates, said by i. */
#define VERDICT_ON(n, rate_of_i)                                                                             \
    double rates[n];                                                                                         \
    for (size_t i = 0; i < (n); i++)                                                                         \
        rates[i] = (rate_of_i);                                                                              \
    struct trace_verdict verdict = verdict_of(rates, n)

/* Share of right verdicts and of right names at one length, over all noises. */
static void count_right(const struct shapes_row *row, size_t n, double *ret_right, double *ret_named)
{
    static struct shapes_trace trace;
    static double rates[SHAPES_MAX_WINDOWS];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double total = 0, right = 0, named = 0;

    for (size_t i = 0; i < SHAPES_N_NOISES; i++) {
        for (unsigned seed = 1; seed <= SMOKE_SEEDS; seed++) {
            struct trace_verdict verdict;
            gsl_rng_set(rng, seed * 100 + i);
            if (!shapes_draw(row, &shapes_noises[i], n, rng, &trace, rates))
                continue;
            verdict = verdict_of(rates, n);
            total++;
            named += (row->names >> verdict.shape) & 1;
            right += row->or_within_5 ? !verdict.steady || fabs(verdict.mean / trace.sustained - 1) <= 0.05
                                      : verdict.steady == row->steady;
        }
    }
    gsl_rng_free(rng);
    assert_true(total > 0);
    *ret_right = right / total;
    *ret_named = named / total;
}

TEST(labelled_shapes_get_the_right_verdict)
{
    for (size_t i = 0; i < SHAPES_N_ROWS; i++) {
        const struct shapes_limits *limits = shapes_rows[i].limits;
        size_t n = limits != NULL && limits->least_windows > 120 ? limits->least_windows : 120;
        double right, named;
        count_right(&shapes_rows[i], n, &right, &named);
        /* The study's bound is 0.95; some shapes have only 24 traces here. */
        if (right < 0.85 || named < 0.75)
            print_error("%s: %.3f right, %.3f named\n", shapes_rows[i].name, right, named);
        assert_true(right >= 0.85);
        assert_true(named >= 0.75);
    }
}

TEST(every_shape_has_a_name)
{
    for (size_t i = 0; i < TRACE_N_SHAPES; i++)
        assert_non_null(trace_shape_names[i]);
}

TEST(what_is_no_rate_is_refused)
{
    const double negative[] = {1, -1}, endless[] = {1, INFINITY}, none[] = {NAN};
    struct trace_verdict verdict;

    assert_int_equal(trace_classify(none, 0, &verdict), -EINVAL);
    assert_int_equal(trace_classify(negative, 2, &verdict), -EINVAL);
    assert_int_equal(trace_classify(endless, 2, &verdict), -EINVAL);
    assert_int_equal(trace_classify(none, 1, &verdict), -EINVAL);
}

TEST(few_windows_are_short_and_not_steady)
{
    double rates[TRACE_MIN_WINDOWS];
    struct trace_verdict verdict;

    for (size_t i = 0; i < TRACE_MIN_WINDOWS; i++)
        rates[i] = 5;
    verdict = verdict_of(rates, TRACE_MIN_WINDOWS - 1);
    assert_int_equal(verdict.shape, TRACE_SHORT);
    assert_false(verdict.steady);
    assert_close(verdict.mean, 5, 1e-12);
    assert_int_equal(verdict_of(rates, TRACE_MIN_WINDOWS).shape, TRACE_FLAT);
}

TEST(idle_windows_are_flat_at_nothing)
{
    double rates[50] = {0};
    struct trace_verdict verdict = verdict_of(rates, 50);

    assert_int_equal(verdict.shape, TRACE_FLAT);
    assert_close(verdict.mean, 0, 0);
    assert_close(verdict.drift_share, 0, 0);
}

TEST(a_cliff_tells_rates_before_and_after)
{
    VERDICT_ON(200, (i < 70 ? 1000 : 400) * scatter(i));
    assert_int_equal(verdict.shape, TRACE_CLIFF);
    assert_true(verdict.steady);
    assert_false(verdict.left);
    assert_int_equal(verdict.change, 70);
    assert_int_equal(verdict.start, 70);
    assert_int_equal(verdict.end, 200);
    assert_close(verdict.before, 1000, 10);
    assert_close(verdict.mean, 400, 4);
}

TEST(a_steady_part_left_late_is_said)
{
    VERDICT_ON(100, (i < 85 ? 1000 : 400) * scatter(i));
    assert_int_equal(verdict.shape, TRACE_CLIFF);
    assert_false(verdict.steady);
    assert_true(verdict.left);
    assert_int_equal(verdict.change, 85);
    assert_int_equal(verdict.start, 0);
    assert_int_equal(verdict.end, 85);
    assert_close(verdict.mean, 1000, 10);
    assert_close(verdict.before, 1000, 10);
}

TEST(a_decline_tells_how_far_it_fell)
{
    VERDICT_ON(100, (1100 - 200 * (double)i / 99) * scatter(i));
    assert_int_equal(verdict.shape, TRACE_DECLINE);
    assert_false(verdict.steady);
    assert_close(verdict.drift_share, -0.2, 0.01);
}

TEST(a_period_is_measured)
{
    VERDICT_ON(200, 1000 + 200 * sin(2 * M_PI * (double)i / 12.5));
    assert_int_equal(verdict.shape, TRACE_PERIODIC);
    assert_true(verdict.steady);
    assert_close(verdict.period_windows, 12.5, 0.1);
    assert_close(verdict.mean, 1000, 1);
    assert_true(verdict.low < 900 && verdict.high > 1100);
}

TEST(two_levels_tell_both)
{
    static const size_t stays[] = {13, 40, 9, 22, 5, 31, 17, 8, 26, 29};
    double rates[200];
    struct trace_verdict verdict;
    size_t n = 0;

    for (size_t k = 0; k < N_OF(stays); k++) {
        for (size_t i = 0; i < stays[k]; i++, n++)
            rates[n] = (k % 2 == 0 ? 500 : 1000) * scatter(n);
    }
    verdict = verdict_of(rates, n);
    assert_int_equal(verdict.shape, TRACE_TWO_LEVELS);
    assert_false(verdict.steady);
    assert_close(verdict.low, 500, 5);
    assert_close(verdict.high, 1000, 10);
    assert_close(verdict.high_share, 130.0 / 200, 1e-12);
}

TEST(spikes_are_counted_and_stay_in_the_mean)
{
    VERDICT_ON(100, i == 30 || i == 77 ? 0 : 100 * scatter(i));
    assert_int_equal(verdict.shape, TRACE_SPIKES);
    assert_true(verdict.steady);
    assert_int_equal(verdict.n_spikes, 2);
    assert_close(verdict.mean, 98, 0.5);
}

TEST(the_unit_of_rates_does_not_matter)
{
    double small[150], large[150];
    struct trace_verdict a, b;

    for (size_t i = 0; i < 150; i++) {
        small[i] = (i < 50 ? 1 : 0.5) * scatter(i) * 1e-3;
        large[i] = small[i] * 1e15;
    }
    a = verdict_of(small, 150);
    b = verdict_of(large, 150);
    assert_int_equal(a.shape, b.shape);
    assert_int_equal(a.change, b.change);
    assert_close(b.before / a.before, 1e15, 1e6);
}

TEST(very_long_traces_are_judged_in_their_own_windows)
{
    const size_t n = 20001;
    double *rates = malloc(n * sizeof(*rates));
    struct trace_verdict verdict;

    assert_non_null(rates);
    for (size_t i = 0; i < n; i++)
        rates[i] = (i < 8000 ? 1000 : 400) * scatter(i);
    verdict = verdict_of(rates, n);
    assert_int_equal(verdict.shape, TRACE_CLIFF);
    assert_close((double)verdict.change, 8000, 8);
    assert_int_equal(verdict.end, n);
    assert_close(verdict.mean, 400, 4);
    free(rates);
}
