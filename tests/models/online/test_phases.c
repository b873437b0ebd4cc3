/* Tests of models/online/phases, on phases whose lengths are known. */
#include "models/online/phases.h"
#include "tests/models/rng.h"

#define READS  0U
#define BACKUP 11U
#define WRITES 3U

static struct phases phases;
static double now;

FIXTURE(empty)
{
    phases_init(&phases);
    gsl_rng_set(rng, 1);
    now = 1000;
    return 0;
}

EACH_TEST(empty, NULL);

/* A phase of a kind, so long, give or take. */
static void live(unsigned kind, double seconds, double jitter)
{
    phases_change(&phases, kind, now);
    now += seconds * exp(jitter * gsl_ran_ugaussian(rng));
}

static bool is_foreseen(struct phases_forecast *ret_forecast)
{
    return phases_foresee(&phases, ret_forecast);
}

TEST(nothing_is_foreseen_of_what_was_not_seen_often)
{
    struct phases_forecast next;
    assert_false(is_foreseen(&next));
    for (int i = 0; i < 6; i++) {
        live(READS, 20, 0);
        assert_false(is_foreseen(&next));
        live(BACKUP, 5, 0);
        assert_false(is_foreseen(&next));
    }
}

TEST(regular_phases_are_foreseen_with_what_follows_and_when)
{
    struct phases_forecast next;
    for (int i = 0; i < 9; i++) {
        live(READS, 20, 0.01);
        live(BACKUP, 5, 0.01);
    }
    double begin = now;
    live(READS, 20, 0.01);
    assert_true(is_foreseen(&next));
    assert_int_equal(next.kind, BACKUP);
    assert_close(next.seconds, begin + 20, 0.5);
    assert_in_range(next.score.n_right, 4, 8);
    assert_true(next.within <= 20.0 / 8);
    assert_true(phases_may_end(&phases, begin + 19.9, begin + 20.1));
    assert_false(phases_may_end(&phases, begin + 10, begin + 11));
    assert_false(phases_may_end(&phases, begin + 25, begin + 26));
}

/* The backup's length is anything, and it begins every minute. */
TEST(a_beat_is_foreseen_where_lengths_scatter)
{
    struct phases_forecast next;
    for (int i = 0; i < 12; i++) {
        now = 1000 + 60 * i;
        live(BACKUP, 5 + 20 * gsl_rng_uniform(rng), 0);
        live(READS, 0, 0);
    }
    assert_true(is_foreseen(&next));
    assert_int_equal(next.kind, BACKUP);
    assert_close(next.seconds, 1000 + 60 * 12, 0.2);
}

TEST(what_follows_depends_on_what_was_before)
{
    struct phases_forecast next;
    for (int i = 0; i < 9; i++) {
        live(READS, 20, 0.01);
        live(BACKUP, 5, 0.01);
        live(READS, 10, 0.01);
        live(WRITES, 8, 0.01);
    }
    double begin = now;
    live(READS, 20, 0.01);
    assert_true(is_foreseen(&next));
    assert_int_equal(next.kind, BACKUP);
    assert_close(next.seconds, begin + 20, 0.5);
}

TEST(phases_of_any_length_are_not_foreseen)
{
    struct phases_forecast next;
    unsigned n = 0;
    for (int i = 0; i < 1000; i++) {
        live(i % 2 == 0 ? READS : BACKUP, -20 * log(1 - gsl_rng_uniform(rng)), 0);
        n += is_foreseen(&next);
    }
    assert_int_equal(n, 0);
}

TEST(a_kind_that_is_a_matter_of_chance_is_not_foreseen)
{
    struct phases_forecast next;
    unsigned n = 0;
    for (int i = 0; i < 1000; i++) {
        live(READS, 20, 0.01);
        n += is_foreseen(&next);
        live(gsl_rng_uniform(rng) < 0.5 ? WRITES : BACKUP, 20, 0.01);
    }
    assert_true(n < 20);
}

TEST(what_is_no_longer_so_is_soon_not_foreseen_and_new_times_are_learnt)
{
    struct phases_forecast next;
    unsigned n_foreseen = 0;
    for (int i = 0; i < 20; i++) {
        live(READS, 20, 0.01);
        live(BACKUP, 5, 0.01);
    }
    for (int i = 0; i < 40; i++) {
        live(READS, 40, 0.01);
        n_foreseen += i >= 1 && i < 8 && is_foreseen(&next);
        live(BACKUP, 5, 0.01);
    }
    assert_int_equal(n_foreseen, 0);
    double begin = now;
    live(READS, 40, 0.01);
    assert_true(is_foreseen(&next));
    assert_close(next.seconds, begin + 40, 1);
}

TEST(a_score_is_of_what_was_said_before)
{
    for (int i = 0; i < 10; i++) {
        live(READS, 20, 0);
        live(BACKUP, 5, 0);
    }
    struct phases_forecast before, after;
    live(READS, 17, 0);
    assert_true(is_foreseen(&before));
    live(BACKUP, 5, 0);
    live(READS, 20, 0);
    const struct phases_rule *rule = &phases.places[BACKUP][READS].rules[PHASES_LENGTH];
    assert_int_equal(rule->score.n_said, before.score.n_said + 1);
    assert_int_equal(rule->score.n_right, before.score.n_right);
    assert_true(!is_foreseen(&after) || after.within > before.within);
}
