/* Tests of changes of groups of hosts. */
#include "models/fleet/drift.h"
#include "tests/test.h"

TEST(a_group_that_slowed_is_told_with_its_interval)
{
    const double ratios[] = {-0.11, -0.12, -0.10, -0.11, -0.13, -0.09};
    struct drift drift = drift_of(ratios, 6, 0.95);
    assert_int_equal(drift.n_slower, 6);
    assert_true(fabs(drift.ratio - exp(-0.11)) < 1e-12);
    assert_true(drift.bounds.low < drift.ratio && drift.ratio < drift.bounds.high && drift.bounds.high < 1);
    assert_true(drift.p < 1e-4);
}

TEST(two_hosts_are_not_judged)
{
    const double ratios[] = {-0.5, -0.5};
    struct drift drift = drift_of(ratios, 2, 0.95);
    assert_true(isnan(drift.p) && isnan(drift.bounds.low));
    assert_int_equal(drift_discover(&drift, 1, 0.05), 0);
    assert_false(drift.changed);
}

TEST(hosts_without_any_scatter_are_judged_by_their_mean)
{
    const double none[] = {0, 0, 0}, all[] = {-0.1, -0.1, -0.1};
    assert_true(drift_of(none, 3, 0.95).p == 1);
    assert_true(drift_of(all, 3, 0.95).p == 0);
}

/* The example of Benjamini and Hochberg (1995), table 1 and section 3.2: at 5 %, 4 of 15 are rejected. */
TEST(discoveries_are_those_of_the_paper)
{
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    struct drift groups[15];
    for (size_t i = 0; i < 15; i++)
        groups[i] = (struct drift){.p = p[14 - i]};
    assert_int_equal(drift_discover(groups, 15, 0.05), 0);
    for (size_t i = 0; i < 15; i++)
        assert_int_equal(groups[i].changed, i >= 11);
}

TEST(groups_that_are_not_judged_do_not_count)
{
    struct drift groups[] = {{.p = 0.04}, {.p = NAN}, {.p = NAN}};
    assert_int_equal(drift_discover(groups, 3, 0.05), 0);
    assert_true(groups[0].changed);
    assert_false(groups[1].changed);
    assert_int_equal(drift_discover(groups, 0, 0.05), 0);
}
