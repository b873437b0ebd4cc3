/* Tests of models/statistics/steady: the rules' bounds, and how often "fstune" says steady of what drifts. */
#include "models/statistics/steady.h"
#include "tests/models/rng.h"

static const struct steady_rule *rule(const char *name)
{
    const struct steady_rule *found = steady_find(name);

    assert_non_null(found);
    return found;
}

TEST(every_rule_is_found_by_its_name)
{
    for (size_t i = 0; i < steady_n_rules; i++)
        assert_ptr_equal(steady_find(steady_rules[i].name), &steady_rules[i]);
    assert_null(steady_find("stead"));
}

TEST(every_rule_needs_five_rounds_and_knows_constant_ones)
{
    const double rates[] = {5, 5, 5, 5, 5, 5};

    for (size_t i = 0; i < steady_n_rules; i++) {
        assert_false(steady_rules[i].judge(rates, 4).met);
        assert_false(steady_rules[i].judge(rates, 0).met);
        assert_true(steady_rules[i].judge(rates, 6).met);
    }
}

TEST(idle_rounds_are_not_steady)
{
    const double rates[] = {0, 0, 0, 0, 0, 0};

    for (size_t i = 0; i < steady_n_rules; i++)
        assert_false(steady_rules[i].judge(rates, 6).met);
}

TEST(snia_allows_a_range_of_a_fifth)
{
    const double inside[] = {1, 500, 100, 109.5, 90.5, 100, 100};
    const double outside[] = {1, 500, 100, 111, 89, 100, 100};
    struct steady_state verdict = rule("snia")->judge(inside, 7);

    assert_true(verdict.met);
    assert_int_equal(verdict.n_rounds, 5);
    assert_close(verdict.range_share, 0.19, 1e-12);
    assert_false(rule("snia")->judge(outside, 7).met);
}

TEST(snia_allows_a_drift_of_a_tenth)
{
    const double inside[] = {95.2, 97.6, 100, 102.4, 104.8};
    const double outside[] = {94.8, 97.4, 100, 102.6, 105.2};

    assert_true(rule("snia")->judge(inside, 5).met);
    assert_close(rule("snia")->judge(inside, 5).drift_share, 0.096, 1e-12);
    assert_false(rule("snia")->judge(outside, 5).met);
}

TEST(fstune_allows_a_drift_of_two_percent)
{
    const double inside[] = {99.1, 99.1, 99.5, 100, 100.5, 100.9};
    const double outside[] = {98.8, 98.8, 99.4, 100, 100.6, 101.2};

    assert_true(rule("fstune")->judge(inside, 6).met);
    assert_false(rule("fstune")->judge(outside, 6).met);
}

TEST(fstune_must_be_content_twice_in_a_row)
{
    const double rates[] = {98, 99.4, 100, 100.6, 100.6, 100.6};

    assert_false(rule("fstune")->judge(rates, 5).met);
    assert_false(rule("fstune")->judge(rates, 6).met);
}

/* What is lost in the next rounds is a fixed share of what is left to lose: flat in every five rounds at
 * last. */
TEST(a_decline_that_slows_down_is_steady_only_near_its_end)
{
    double rates[400];
    size_t n = 0;

    do {
        rates[n] = 64 + 36 * exp(-(double)n / 20);
        n++;
    } while (n < 400 && !rule("fstune")->judge(rates, n).met);
    assert_true(n < 400);
    assert_true(rates[n - 1] < 64.2);
    assert_true(rates[n - rule("fstune")->judge(rates, n).n_rounds] < 1.05 * 64);
}

TEST(an_old_warm_up_does_not_count)
{
    double rates[60];

    for (size_t i = 0; i < 60; i++)
        rates[i] = i < 10 ? 300 : 100 + 0.2 * (double)(i % 2);
    assert_true(rule("fstune")->judge(rates, 60).met);
}

/* Share of series that are ever called steady within n rounds that lose `drift` each. */
static double met_share(double cv, double drift, size_t n)
{
    size_t met = 0;

    for (unsigned seed = 1; seed <= 100; seed++) {
        double rates[64], level = 100;
        bool ever = false;
        gsl_rng_set(rng, seed);
        for (size_t i = 0; i < n && !ever; i++, level *= 1 - drift) {
            rates[i] = level * (1 + gsl_ran_gaussian(rng, cv));
            ever = rule("fstune")->judge(rates, i + 1).met;
        }
        met += ever;
    }
    return (double)met / 100;
}

TEST(flat_rounds_with_little_scatter_are_soon_steady)
{
    assert_true(met_share(0.01, 0, 20) >= 0.9);
    assert_true(met_share(0.005, 0, 10) >= 0.9);
}

TEST(drifting_rounds_are_seldom_called_steady)
{
    assert_true(met_share(0.005, 0.01, 30) <= 0.05); /* 4 % in five rounds */
    assert_true(met_share(0.01, 0.025, 30) <= 0.05); /* 10 % */
    assert_true(met_share(0.05, 0.025, 30) <= 0.05);
}
