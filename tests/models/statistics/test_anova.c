/* Analysis of variance against published figures and against least squares by other means. */
#include "models/statistics/anova.h"
#include "tests/test.h"

#include <errno.h>

/* Length of teeth of guinea pigs, 2 kinds of vitamin x 3 doses x 10 animals (Crampton 1947; the data set
 * ToothGrowth of R, whose aov() gives the figures asserted here). */
static const double teeth[60] = {4.2,  11.5, 7.3,  5.8,  6.4,  10.0, 11.2, 11.2, 5.2,  7.0,  16.5, 16.5,
                                 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5, 23.6, 18.5, 33.9, 25.5,
                                 26.4, 32.5, 26.7, 21.5, 23.3, 29.5, 15.2, 21.5, 17.6, 9.7,  14.5, 10.0,
                                 8.2,  9.4,  16.5, 9.7,  19.7, 23.3, 23.6, 26.4, 20.0, 25.2, 25.8, 21.2,
                                 14.5, 27.3, 25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23.0};

static uint32_t teeth_levels[60 * 2];

static struct anova_data teeth_data(size_t n_runs)
{
    for (uint32_t i = 0; i < 60; i++) {
        teeth_levels[2 * i] = i / 30;
        teeth_levels[2 * i + 1] = i / 10 % 3;
    }
    return (struct anova_data){
        .n_factors = 2, .n_runs = n_runs, .n_levels = {2, 3}, .levels = teeth_levels, .response = teeth};
}

TEST(a_balanced_design_gives_the_published_table)
{
    AUTO(anova_done) struct anova anova;
    const struct anova_data data = teeth_data(60);
    assert_int_equal(anova_fit(&anova, &data), 0);
    assert_int_equal(anova.n_terms, 3);
    assert_close(anova.terms[0].squares, 205.35, 0.005);
    assert_close(anova.terms[1].squares, 2426.43, 0.01);
    assert_close(anova.terms[2].squares, 108.32, 0.005);
    assert_close(anova.terms[0].f, 15.572, 0.001);
    assert_close(anova.terms[1].f, 92.000, 0.001);
    assert_close(anova.terms[2].f, 4.107, 0.001);
    assert_close(anova.terms[0].p, 0.0002312, 5e-7);
    assert_close(anova.terms[2].p, 0.0218603, 5e-7);
    assert_close(anova.error_squares, 712.11, 0.01);
    assert_int_equal(anova.error_df, 54);
    assert_int_equal(anova.terms[2].df, 2);
    assert_int_equal(anova.rest_df, 0);
    assert_close(anova.rest_squares, 0, 1e-9);
    assert_close(anova.mean, 18.81333, 1e-5);
    double sum = anova.error_squares;
    for (size_t i = 0; i < anova.n_terms; i++)
        sum += anova.terms[i].squares;
    assert_close(sum, anova.total_squares, 1e-9);
}

/* The last three runs are missing; figures from differences of residual sums of squares of separate
 * least-squares fits. */
TEST(an_unbalanced_design_gives_squares_of_type_two)
{
    AUTO(anova_done) struct anova anova;
    const struct anova_data data = teeth_data(57);
    assert_int_equal(anova_fit(&anova, &data), 0);
    assert_close(anova.terms[0].squares, 211.7574142, 1e-6);
    assert_close(anova.terms[1].squares, 2317.4458935, 1e-6);
    assert_close(anova.terms[2].squares, 102.2431488, 1e-6);
    assert_close(anova.error_squares, 689.7191429, 1e-6);
    assert_int_equal(anova.error_df, 51);
}

/* 4 of 9 cells are missing, among them a whole corner: an interaction has fewer degrees of freedom. */
TEST(missing_cells_cost_degrees_of_freedom_and_nothing_else)
{
    static const uint32_t levels[] = {0, 0, 0, 1, 0, 2, 1, 0, 2, 0, 0, 0};
    static const double response[] = {1, 2, 3, 2, 5, 1.5};
    AUTO(anova_done) struct anova anova;
    const struct anova_data data = {
        .n_factors = 2, .n_runs = 6, .n_levels = {3, 3}, .levels = levels, .response = response};
    assert_int_equal(anova_fit(&anova, &data), 0);
    assert_int_equal(anova.n_cells, 5);
    assert_int_equal(anova.terms[0].df, 2);
    assert_int_equal(anova.terms[1].df, 2);
    assert_int_equal(anova.terms[2].df, 0);
    assert_true(isnan(anova.terms[2].p));
    assert_int_equal(anova.rest_df, 0);
    assert_close(anova.error_squares, 0.125, 1e-12);
}

TEST(an_additive_response_has_no_interaction_and_its_effects_come_back)
{
    static const double effect_a[] = {0.0, 1.0, 3.0}, effect_b[] = {0.0, -0.5};
    uint32_t levels[12 * 2];
    double response[12];
    AUTO(anova_done) struct anova anova;
    struct anova_levels found;
    for (uint32_t i = 0; i < 12; i++) {
        levels[2 * i] = i % 3;
        levels[2 * i + 1] = i / 3 % 2;
        response[i] = 10 + effect_a[i % 3] + effect_b[i / 3 % 2] + (i < 6 ? 0.01 : -0.01);
    }
    const struct anova_data data = {
        .n_factors = 2, .n_runs = 12, .n_levels = {3, 2}, .levels = levels, .response = response};
    assert_int_equal(anova_fit(&anova, &data), 0);
    assert_close(anova.terms[2].squares, 0, 1e-9);
    anova_levels(&anova, 0, 0.05, &found);
    assert_close(found.effect[2] - found.effect[0], 3, 1e-9);
    assert_close(found.effect[0] + found.effect[1] + found.effect[2], 0, 1e-9);
    assert_int_equal(found.group[2], 0);
    assert_int_equal(found.group[1], 1);
    assert_int_equal(found.group[0], 2);
}

TEST(levels_within_the_noise_share_a_group)
{
    AUTO(anova_done) struct anova anova;
    struct anova_levels found;
    const struct anova_data data = teeth_data(60);
    assert_int_equal(anova_fit(&anova, &data), 0);
    anova_levels(&anova, 1, 0.05, &found);
    assert_int_equal(found.group[2], 0);
    assert_int_equal(found.group[1], 1);
    assert_int_equal(found.group[0], 2);
    /* So small an error probability that even the doses, 9 apart, are one. */
    anova_levels(&anova, 1, 1e-40, &found);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(found.group[i], 0);
}

TEST(without_replays_there_is_no_test_and_one_group)
{
    static const uint32_t levels[] = {0, 1, 2};
    static const double response[] = {1, 5, 9};
    AUTO(anova_done) struct anova anova;
    struct anova_levels found;
    const struct anova_data data = {
        .n_factors = 1, .n_runs = 3, .n_levels = {3}, .levels = levels, .response = response};
    assert_int_equal(anova_fit(&anova, &data), 0);
    assert_close(anova.terms[0].share, 1, 1e-12);
    assert_true(isnan(anova.terms[0].p));
    anova_levels(&anova, 0, 0.05, &found);
    assert_int_equal(found.group[0] + found.group[1] + found.group[2], 0);
}

TEST(what_is_no_table_is_einval)
{
    static const uint32_t levels[] = {0, 1, 5, 0};
    static const double response[] = {1, 2, NAN, 4};
    struct anova anova;
    const struct anova_data bad[] = {
        {.n_factors = 1, .n_runs = 0, .n_levels = {2}, .levels = levels, .response = response},
        {.n_factors = 0, .n_runs = 2, .levels = levels, .response = response},
        {.n_factors = 1, .n_runs = 2, .n_levels = {3}, .levels = levels, .response = response},
        {.n_factors = 1, .n_runs = 3, .n_levels = {2}, .levels = levels, .response = response},
        {.n_factors = 1, .n_runs = 4, .n_levels = {6}, .levels = levels, .response = response},
        {.n_factors = 1,
         .n_runs = 2,
         .n_levels = {ANOVA_MAX_LEVELS + 1},
         .levels = levels,
         .response = response},
    };
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(anova_fit(&anova, &bad[i]), -EINVAL);
}
