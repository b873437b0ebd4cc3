/* Tests of models/statistics/compare: verdicts on clear cases, and how often they are wrong. */
#include "models/statistics/compare.h"
#include "models/statistics/noise.h"
#include "tests/models/rng.h"

enum { N_CONTENDERS = 10, MAX_REPLAYS = 200 };

static const double margin = 0.03;

static struct contender contender_of(size_t n, double mean, double std)
{
    return (struct contender){
        .moments = {.n = n, .mean = mean, .std = std}, .run_variance = std * std, .run_df = (double)n - 1.0};
}

/* Draws replays of every contender and shrinks their variances as the program does; returns the one with the
 * highest mean. */
static size_t simulate(const double *truth, const double *run_std, const size_t *replays,
                       struct contender *ret_contenders)
{
    double stds[N_CONTENDERS];
    struct noise_prior prior;
    size_t best = 0;

    for (size_t i = 0; i < N_CONTENDERS; i++) {
        double values[MAX_REPLAYS];

        for (size_t j = 0; j < replays[i]; j++)
            values[j] = truth[i] + gsl_ran_gaussian(rng, run_std[i]);
        ret_contenders[i].moments = moments_of(values, replays[i]);
        stds[i] = ret_contenders[i].moments.std;
        if (ret_contenders[i].moments.mean > ret_contenders[best].moments.mean)
            best = i;
    }
    prior = noise_fit(stds, replays, N_CONTENDERS, 1.0);
    for (size_t i = 0; i < N_CONTENDERS; i++)
        ret_contenders[i].run_variance =
            noise_variance(&prior, stds[i], replays[i], &ret_contenders[i].run_df);
    return best;
}

static void fill(double truth[N_CONTENDERS], double run_std[N_CONTENDERS], size_t replays[N_CONTENDERS],
                 double rival, double spread, size_t n)
{
    for (size_t i = 0; i < N_CONTENDERS; i++) {
        truth[i] = i == 0 ? 0.0 : rival;
        run_std[i] = spread;
        replays[i] = n;
    }
}

/* Share of trials with at least one verdict that is wrong: called equivalent though further below the truly
 * best one than the margin, or called worse though within the margin. */
static double wrong_share(unsigned long seed, size_t n_trials, const double *truth, const double *run_std,
                          const size_t *replays)
{
    size_t n_wrong = 0;

    gsl_rng_set(rng, seed);
    for (size_t trial = 0; trial < n_trials; trial++) {
        struct contender contenders[N_CONTENDERS];
        enum verdict verdicts[N_CONTENDERS];
        size_t best = simulate(truth, run_std, replays, contenders);
        int wrong = 0;

        compare_all(contenders, N_CONTENDERS, best, margin, 0.95, 3, verdicts);
        for (size_t i = 0; i < N_CONTENDERS; i++) {
            int within = truth[i] >= -margin;

            if (i != best)
                wrong |= (verdicts[i] == VERDICT_EQUIVALENT && !within) ||
                         (verdicts[i] == VERDICT_WORSE && within);
        }
        n_wrong += (size_t)wrong;
    }
    return (double)n_wrong / (double)n_trials;
}

TEST(bounds_match_a_worked_example)
{
    /* Variances of the means 0.01/4 and 0.04/16: equal shares, so df = 1/(0.25/6 + 0.25/30) = 20. */
    struct contender a = {.moments = {.n = 4, .mean = 1.0}, .run_variance = 0.01, .run_df = 6};
    struct contender b = {.moments = {.n = 16, .mean = 1.2}, .run_variance = 0.04, .run_df = 30};
    struct interval bounds = compare_bounds(&a, &b, 0.95);

    assert_close(bounds.low, -0.2 - 1.724718 * sqrt(0.005), 1e-6);
    assert_close(bounds.high, -0.2 + 1.724718 * sqrt(0.005), 1e-6);
}

TEST(a_contender_equals_itself)
{
    struct contender a = contender_of(3, 5.0, 0.5);
    struct interval bounds = compare_bounds(&a, &a, 0.95);

    assert_close(bounds.low, 0.0, 0.0);
    assert_close(bounds.high, 0.0, 0.0);
}

TEST(one_replay_is_bounded_by_the_shrunk_variance)
{
    struct contender a = {.moments = {.n = 1, .mean = 1.0}, .run_variance = 0.01, .run_df = 8};
    struct contender b = {.moments = {.n = 5, .mean = 1.0}, .run_variance = 0.01, .run_df = 12};
    struct contender none = {.moments = {.n = 0}, .run_variance = 0.01, .run_df = 8};

    assert_true(compare_bounds(&a, &b, 0.95).low < -0.15);
    assert_true(compare_bounds(&a, &b, 0.95).high > 0.15);
    assert_true(isnan(compare_bounds(&none, &b, 0.95).low));
    assert_true(isnan(compare_bounds(&b, &none, 0.95).high));
}

TEST(equal_contenders_with_many_replays_are_equivalent)
{
    double truth[N_CONTENDERS], run_std[N_CONTENDERS];
    size_t replays[N_CONTENDERS];
    struct contender contenders[N_CONTENDERS];
    enum verdict verdicts[N_CONTENDERS];
    size_t best;

    gsl_rng_set(rng, 11);
    fill(truth, run_std, replays, 0.0, 0.05, MAX_REPLAYS);
    best = simulate(truth, run_std, replays, contenders);
    compare_all(contenders, N_CONTENDERS, best, margin, 0.95, 3, verdicts);
    for (size_t i = 0; i < N_CONTENDERS; i++)
        assert_int_equal(verdicts[i], VERDICT_EQUIVALENT);
}

TEST(few_replays_leave_equal_contenders_undecided)
{
    const struct contender contenders[] = {contender_of(3, 0.0, 0.05), contender_of(3, 0.0, 0.05),
                                           contender_of(3, -0.02, 0.05)};
    enum verdict verdicts[3];

    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[1], VERDICT_UNDECIDED);
    assert_int_equal(verdicts[2], VERDICT_UNDECIDED);
}

TEST(clearly_worse_is_worse)
{
    const struct contender contenders[] = {contender_of(5, 0.0, 0.05), contender_of(5, -1.0, 0.05),
                                           contender_of(5, -0.01, 0.05)};
    enum verdict verdicts[3];

    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[0], VERDICT_EQUIVALENT);
    assert_int_equal(verdicts[1], VERDICT_WORSE);
    assert_int_equal(verdicts[2], VERDICT_UNDECIDED);
}

TEST(too_few_replays_may_be_worse_but_not_equivalent)
{
    struct contender contenders[] = {contender_of(5, 0.0, 0.001), contender_of(2, 0.0, 0.001),
                                     contender_of(2, -1.0, 0.001)};
    enum verdict verdicts[3];

    contenders[1].run_df = contenders[2].run_df = 30;
    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[1], VERDICT_UNDECIDED);
    assert_int_equal(verdicts[2], VERDICT_WORSE);
    compare_all(contenders, 3, 0, margin, 0.95, 2, verdicts);
    assert_int_equal(verdicts[1], VERDICT_EQUIVALENT);
}

TEST(unmeasured_contender_is_undecided)
{
    const struct contender contenders[] = {contender_of(5, 0.0, 0.001), {.run_variance = 1e-6, .run_df = 4}};
    enum verdict verdicts[2];

    compare_all(contenders, 2, 0, margin, 0.95, 0, verdicts);
    assert_int_equal(verdicts[0], VERDICT_EQUIVALENT);
    assert_int_equal(verdicts[1], VERDICT_UNDECIDED);
}

TEST(the_best_alone_is_equivalent)
{
    const struct contender alone = contender_of(1, 0.0, 0.001);
    enum verdict verdict = VERDICT_WORSE;

    compare_all(&alone, 1, 0, margin, 0.95, 3, &verdict);
    assert_int_equal(verdict, VERDICT_EQUIVALENT);
}

/* The rival's lower bound lies between the margin at 95 % and at 97.5 %: what else is in reach decides. */
TEST(only_contenders_in_reach_share_the_error)
{
    struct contender contenders[] = {
        {.moments = {.n = 10, .mean = 0.0}, .run_variance = 0.001, .run_df = 1e6},
        {.moments = {.n = 10, .mean = -0.0045}, .run_variance = 0.001, .run_df = 1e6},
        {.moments = {.n = 10, .mean = -1.0}, .run_variance = 0.001, .run_df = 1e6},
    };
    enum verdict verdicts[3];

    assert_true(compare_bounds(&contenders[1], &contenders[0], 0.95).low > -margin);
    assert_true(compare_bounds(&contenders[1], &contenders[0], 0.975).low < -margin);
    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[1], VERDICT_EQUIVALENT);
    contenders[2].moments.mean = -0.03;
    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[1], VERDICT_UNDECIDED);
    contenders[2].moments = (struct moments){.n = 0};
    compare_all(contenders, 3, 0, margin, 0.95, 3, verdicts);
    assert_int_equal(verdicts[1], VERDICT_UNDECIDED);
}

/* The hardest case: nine rivals just below the margin. Some are called equivalent, in at most 5 % of the
 * trials. */
TEST(rivals_below_the_margin_are_rarely_called_equivalent)
{
    double truth[N_CONTENDERS], run_std[N_CONTENDERS], share;
    size_t replays[N_CONTENDERS];

    fill(truth, run_std, replays, -margin - 1e-9, 0.02, 8);
    share = wrong_share(31, 2000, truth, run_std, replays);
    assert_true(share <= 0.05);
    assert_true(share > 0.001);
}

/* The same with unequal scatter and unequal numbers of replays, as the search leaves them. */
TEST(unequal_rivals_are_rarely_called_equivalent)
{
    double truth[N_CONTENDERS], run_std[N_CONTENDERS];
    size_t replays[N_CONTENDERS];

    fill(truth, run_std, replays, -margin - 1e-9, 0.02, 8);
    for (size_t i = 0; i < N_CONTENDERS; i++) {
        run_std[i] *= 0.5 + 0.15 * (double)i;
        replays[i] = 3 + i * 7 % 10;
    }
    assert_true(wrong_share(32, 2000, truth, run_std, replays) <= 0.05);
}

/* Nine rivals at the margin exactly, and replays enough that the best one is not mistaken; 0.065 allows for
 * the scatter of 2000 trials. */
TEST(rivals_within_the_margin_are_rarely_called_worse)
{
    double truth[N_CONTENDERS], run_std[N_CONTENDERS], share;
    size_t replays[N_CONTENDERS];

    fill(truth, run_std, replays, -margin, 0.02, 20);
    share = wrong_share(33, 2000, truth, run_std, replays);
    assert_true(share <= 0.065);
    assert_true(share > 0.001);
}

TEST(looks_together_spend_alpha)
{
    double sum = 0.0;

    assert_close(compare_spend(0.05, 1), 0.05 * 0.6079271, 1e-8);
    assert_close(compare_spend(0.05, 2), compare_spend(0.05, 1) / 4, 1e-15);
    for (size_t look = 1; look <= 100000; look++)
        sum += compare_spend(0.05, look);
    assert_true(sum < 0.05);
    assert_close(sum, 0.05, 1e-6);
}
