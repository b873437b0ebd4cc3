/* Tests of models/statistics/run_length: the optimum where it is known, and no answer without evidence. */
#include "models/statistics/run_length.h"
#include "tests/models/rng.h"

static struct run_length_point points[3];
static struct run_length_replays replays[2];

/* Points alike; replays of one length whose variance is what the model says, known well. */
static struct run_length_facts facts_of(double overhead, double between, double within)
{
    for (size_t i = 0; i < 3; i++)
        points[i] = (struct run_length_point){overhead, within, 0};
    replays[0] = (struct run_length_replays){0.05, between + within / 0.05, 1e6};
    return (struct run_length_facts){.points = points,
                                     .n_points = 3,
                                     .replays = replays,
                                     .n_replays = 1,
                                     .prior_variance = 0.01,
                                     .shortest_seconds = 0.05,
                                     .longest_seconds = 2};
}

static void set_replays(size_t i, double seconds, double variance, double df)
{
    replays[i] = (struct run_length_replays){seconds, variance, df};
}

TEST(runs_whose_inside_is_steady_are_shortest)
{
    static const double overheads[] = {0, 0.1, 1, 10};
    for (size_t i = 0; i < 4; i++) {
        struct run_length_facts facts = facts_of(overheads[i], 0.01, 0);
        struct run_length choice = run_length_choose(&facts);
        assert_close(choice.seconds, 0.05, 0);
        assert_int_equal(choice.why, RUN_LENGTH_SHORTEST);
        assert_close(choice.worth, 1, 1e-12);
        assert_close(choice.between, 0.01, 1e-6);
    }
}

/* sqrt(overhead x within / between), from below by what the flat optimum allows: price(T) is within 10 % of
 * the lowest. */
TEST(the_length_is_the_classical_one)
{
    static const double cases[][3] = {{1, 0.0025, 0.0005}, {0.2, 0.0001, 0.0002}, {0.5, 0.01, 0.005}};
    for (size_t i = 0; i < 3; i++) {
        double overhead = cases[i][0], between = cases[i][1], within = cases[i][2];
        struct run_length_facts facts = facts_of(overhead, between, within);
        struct run_length choice = run_length_choose(&facts);
        double best = sqrt(overhead * within / between), t = choice.seconds;
        double price = (overhead + t) * (between + within / t);
        double lowest = (overhead + best) * (between + within / best);
        assert_int_equal(choice.why, RUN_LENGTH_LONGER);
        assert_true(t <= best && t >= best / 3);
        assert_true(price <= 1.1001 * lowest);
        t /= 1.189207115002721;
        assert_true((overhead + t) * (between + within / t) > 1.1 * lowest * 0.999);
        double shortest = (overhead + 0.05) * (between + within / 0.05);
        assert_close(choice.worth, shortest / price, 1e-3);
    }
}

TEST(set_up_makes_runs_longer_and_scatter_between_them_shorter)
{
    struct run_length_facts facts = facts_of(0.1, 0.001, 0.001);
    double base = run_length_choose(&facts).seconds;
    facts = facts_of(1, 0.001, 0.001);
    assert_true(run_length_choose(&facts).seconds > 1.5 * base);
    facts = facts_of(0.1, 0.1, 0.001);
    assert_close(run_length_choose(&facts).seconds, 0.05, 0);
}

TEST(without_replays_nothing_is_decided)
{
    struct run_length_facts facts = facts_of(10, 0, 1);
    replays[0].df = RUN_LENGTH_LEAST_DF - 1;
    assert_int_equal(run_length_choose(&facts).why, RUN_LENGTH_UNKNOWN);
    assert_close(run_length_choose(&facts).seconds, 0.05, 0);
    facts.n_points = 0;
    replays[0].df = 100;
    assert_int_equal(run_length_choose(&facts).why, RUN_LENGTH_UNKNOWN);
}

/* Few replays that agree by chance say little: what is expected of replays still counts. */
TEST(few_replays_that_agree_do_not_ask_for_endless_runs)
{
    struct run_length_facts facts = facts_of(0.1, 0, 1e-4);
    set_replays(0, 0.05, 0, 6);
    struct run_length choice = run_length_choose(&facts);
    assert_close(choice.between, 0.004, 1e-9);
    assert_close(choice.seconds, 0.05, 0);
}

TEST(the_cap_is_kept)
{
    struct run_length_facts facts = facts_of(10, 1e-6, 1);
    facts.longest_seconds = 0.7;
    struct run_length choice = run_length_choose(&facts);
    assert_int_equal(choice.why, RUN_LENGTH_CAPPED);
    assert_true(choice.seconds <= 0.7 && choice.seconds > 0.5);
    facts.longest_seconds = facts.shortest_seconds;
    assert_close(run_length_choose(&facts).seconds, 0.05, 0);
}

/* Where 64 requests take a second anyway, longer runs cost no more. */
TEST(slow_points_do_not_ask_for_what_they_get_anyway)
{
    struct run_length_facts facts = facts_of(1, 0.001, 0.001);
    assert_true(run_length_choose(&facts).seconds > 0.2);
    for (size_t i = 0; i < 3; i++)
        points[i].least_seconds = 1.5;
    assert_close(run_length_choose(&facts).seconds, 0.05, 0);
}

static double kept(double seconds, double tau)
{
    double x = seconds / tau;
    return 2 / x * (1 - (1 - exp(-x)) / x);
}

TEST(a_disturbance_that_passes_is_seen_in_longer_replays)
{
    struct run_length_facts facts = facts_of(1, 0.04, 0);
    facts.n_replays = 2;
    set_replays(0, 0.05, 0.04 * kept(0.05, 0.03), 60);
    set_replays(1, 0.4, 0.04 * kept(0.4, 0.03), 60);
    struct run_length choice = run_length_choose(&facts);
    assert_close(choice.tau_seconds, 0.03, 0);
    assert_true(choice.seconds > 0.3);
    /* The same with few replays could be chance. */
    set_replays(0, 0.05, 0.04 * kept(0.05, 0.03), 4);
    set_replays(1, 0.4, 0.04 * kept(0.4, 0.03), 4);
    assert_true(isinf(run_length_choose(&facts).tau_seconds));
    assert_close(run_length_choose(&facts).seconds, 0.05, 0);
}

/* Runs of one length cannot tell how the variance goes with length. */
TEST(one_length_shows_no_correlation_time)
{
    struct run_length_facts facts = facts_of(1, 0.4, 0);
    set_replays(0, 0.05, 0.4, 1e4);
    assert_true(isinf(run_length_choose(&facts).tau_seconds));
}

TEST(within_is_found_again)
{
    gsl_rng_set(rng, 0);
    double sum = 0, rates[50];
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k < 50; k++)
            rates[k] = 100 * (1 + gsl_ran_gaussian(rng, 0.1));
        sum += run_length_within(rates, 50, 0.05) / 2000;
    }
    /* Windows of 1 ms with 10 %: 0.01 x 0.001 s; two of fifty are left out. */
    assert_close(sum / 1e-5, 50.0 / 48, 0.06);
}

TEST(within_of_little_is_unknown)
{
    double rates[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1};
    assert_true(isnan(run_length_within(rates, 7, 1)));
    assert_close(run_length_within(rates, 8, 1), 0, 0);
    assert_true(isnan(run_length_within(rates, 16, 1)));
    assert_true(isnan(run_length_within(rates, 0, 1)));
}

TEST(starts_are_told_apart)
{
    static const double apart[] = {-0.5, -0.4, -0.6, -0.5}, alike[] = {0.01, -0.01, 0.005, -0.002};
    static const double noisy[] = {0.5, -0.6, 0.4, -0.5}, little[] = {0.03, 0.031, 0.029, 0.03};
    assert_int_equal(run_length_start_of(apart, 4), RUN_LENGTH_START_APART);
    assert_int_equal(run_length_start_of(apart, 3), RUN_LENGTH_START_UNKNOWN);
    assert_int_equal(run_length_start_of(alike, 4), RUN_LENGTH_START_ALIKE);
    assert_int_equal(run_length_start_of(noisy, 4), RUN_LENGTH_START_UNKNOWN);
    assert_int_equal(run_length_start_of(little, 4), RUN_LENGTH_START_ALIKE);
    assert_int_equal(run_length_start_of(apart, 0), RUN_LENGTH_START_UNKNOWN);
}

TEST(pauses_show_as_time_that_stands_still)
{
    double rates[128];
    for (size_t i = 0; i < 128; i++)
        rates[i] = i / 8 % 2 == 0 ? 2 : 0;
    assert_close(run_length_idle(rates, 128, 7), 0.5, 1e-12);
    /* Shorter pauses are how requests of a full queue complete. */
    assert_close(run_length_idle(rates, 128, 8), 0, 1e-12);
    /* The earlier half does not count. */
    for (size_t i = 0; i < 128; i++)
        rates[i] = i < 64 ? 0 : 1;
    assert_close(run_length_idle(rates, 128, 2), 0, 1e-12);
    assert_true(isnan(run_length_idle(rates, 15, 2)));
    for (size_t i = 0; i < 128; i++)
        rates[i] = 0;
    assert_close(run_length_idle(rates, 128, 2), 1, 1e-12);
}

#define START_WINDOWS 16
#define START_SECONDS 0.4

/* Bytes until t of a run that starts at three times its rate; they differ by exp(-3 t / 0.1). */
static double moved_until(double t)
{
    return t + 2 * (1 - exp(-30 * t)) / 30;
}

static void fill_falling(double *rates, double unit)
{
    double width = START_SECONDS / START_WINDOWS;
    for (size_t i = 0; i < START_WINDOWS; i++)
        rates[i] = unit * (moved_until((double)(i + 1) * width) - moved_until((double)i * width)) / width;
}

/* Of the integral up to t, where the rate falls within a window that counts as one: an eighth of slope times
 * width squared. */
static double cut_error(double t)
{
    double width = START_SECONDS / START_WINDOWS, begin = floor(t / width + 1e-9) * width;
    return fabs(t - begin) < 1e-9 ? 0 : 60 * exp(-30 * begin) * width * width / 8;
}

TEST(a_start_is_worth_what_it_moves)
{
    static const double cases[][2] = {{0, 0.025},  {0, 0.05},    {0, 0.1},     {0, 0.4},       {0.01, 0.05},
                                      {0.05, 0.1}, {0.06, 0.05}, {0.013, 0.3}, {0.013, 0.005}, {0.1, 1}};
    double rates[START_WINDOWS];
    fill_falling(rates, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double from = cases[i][0], length = cases[i][1], to = from + length;
        double expected = log((moved_until(to) - moved_until(from)) / length);
        /* What is left in the later half counts as settled: 0.08 %. */
        double tolerance = (cut_error(from) + cut_error(to)) / length + 1e-3;
        double found = run_length_start_log(rates, START_WINDOWS, START_SECONDS, from, length);
        assert_close(found, expected, tolerance);
    }
    assert_true(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0, 0.05) > 0.7);
}

TEST(a_slow_start_takes_away)
{
    double rates[START_WINDOWS];
    for (size_t i = 0; i < START_WINDOWS; i++)
        rates[i] = i < 4 ? 0.5 : 1;
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0, 0.1), log(0.5), 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.05, 0.1), log(0.75), 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0, 0.2), log(0.75), 1e-12);
}

TEST(a_run_without_a_start_has_nothing_to_take_off)
{
    double rates[START_WINDOWS];
    for (size_t i = 0; i < START_WINDOWS; i++)
        rates[i] = 7;
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0, 0.05), 0, 1e-15);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.03, 2), 0, 1e-15);
}

/* Runs that wait for different times must come out alike, also where the start outlasts the first half. */
TEST(a_start_that_lasts_is_taken_off_as_far_as_it_is_known)
{
    double rates[START_WINDOWS];
    for (size_t i = 0; i < START_WINDOWS; i++)
        rates[i] = i < 12 ? 2 : 1;
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0, 0.1), log(2 / 1.5), 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.2, 0.1), log(2 / 1.5), 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.3, 0.1), log(1 / 1.5), 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.4, 0.1), 0, 1e-12);
    assert_close(run_length_start_log(rates, START_WINDOWS, START_SECONDS, 0.3, 0.2), log((1 / 1.5 + 1) / 2),
                 1e-12);
}

/* So sums over runs serve as well as means. */
TEST(the_unit_of_the_rates_does_not_matter)
{
    double one[START_WINDOWS], many[START_WINDOWS];
    fill_falling(one, 1);
    fill_falling(many, 3e9);
    for (double from = 0; from < 0.2; from += 0.017) {
        double found = run_length_start_log(one, START_WINDOWS, START_SECONDS, from, 0.06);
        assert_true(found > 0);
        assert_close(run_length_start_log(many, START_WINDOWS, START_SECONDS, from, 0.06), found, 1e-12);
    }
}
