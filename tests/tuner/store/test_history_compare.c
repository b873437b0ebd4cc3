/* Tests of tuner/store/history_compare: what changed between two nights, and what only looks so. */
#include "tests/tuner/store/history_rig.h"

#include "bench/base/rng.h"
#include "tuner/store/history_compare.h"

#define MAX_REPLAYS 400

static struct history_replay sets[2][MAX_REPLAYS];
static size_t n[2];
static struct history_info infos[2];
static struct history_comparison comparison;

FIXTURE(reset)
{
    memset(infos, 0, sizeof infos);
    n[0] = n[1] = 0;
    return 0;
}

FIXTURE(drop_comparison)
{
    history_compare_done(&comparison);
    return 0;
}

EACH_TEST(reset, drop_comparison);

static struct history_replay *add(size_t set, const struct point *point, double bps)
{
    struct history_replay *replay = &sets[set][n[set]];
    assert_true(n[set] < MAX_REPLAYS);
    *replay = replay_of(n[set]++, point, bps);
    return replay;
}

static void compare(void)
{
    assert_int_equal(
        history_compare(infos, (const struct history_replay *const[2]){sets[0], sets[1]}, n, &comparison), 0);
}

TEST(a_point_that_doubled_has_changed)
{
    for (int i = 0; i < 5; i++) {
        add(0, &fast, 1e8 * (1 + 0.01 * i));
        add(1, &fast, 2e8 * (1 + 0.01 * i));
        add(0, &slow, 1e7 * (1 + 0.01 * i));
        add(1, &slow, 1e7 * (1 + 0.01 * i));
    }
    compare();
    assert_int_equal(comparison.n, 2);
    assert_int_equal(comparison.n_tested, 2);
    assert_int_equal(comparison.n_changed, 1);
    assert_true(factors_equal(&comparison.points[0].point, &fast));
    assert_close(comparison.points[0].ratio, 2, 1e-9);
    assert_true(comparison.points[0].changed && !comparison.points[1].changed);
    assert_close(comparison.points[1].ratio, 1, 1e-9);
    /* Welch's interval at 1 - 0.05/2 of equal variances: 8 degrees of freedom, t = 2.751524. */
    double logs[5], sum = 0, squares = 0;
    for (int i = 0; i < 5; i++)
        sum += logs[i] = log1p(0.01 * i);
    for (int i = 0; i < 5; i++)
        squares += (logs[i] - sum / 5) * (logs[i] - sum / 5);
    double error = sqrt(2 * squares / 4 / 5);
    assert_close(log(comparison.points[0].bounds.high / 2), 2.751524 * error, 1e-6);
}

TEST(points_of_one_night_and_single_replays_are_counted_only)
{
    add(0, &fast, 1e8);
    add(1, &fast, 5e8);
    add(1, &slow, 1e7);
    compare();
    assert_int_equal(comparison.n, 1);
    assert_int_equal(comparison.n_tested, 0);
    assert_int_equal(comparison.n_changed, 0);
    assert_int_equal(comparison.n_only[0], 0);
    assert_int_equal(comparison.n_only[1], 1);
    assert_true(isnan(comparison.points[0].bounds.low));
}

TEST(other_conditions_are_another_point)
{
    for (int i = 0; i < 3; i++) {
        for (size_t set = 0; set < 2; set++) {
            strcpy(add(set, &fast, 1e8 + i)->conditions, "cache=cold");
            strcpy(add(set, &fast, set == 0 ? 4e8 + i : 8e8 + i)->conditions, "cache=warm");
        }
    }
    strcpy(add(1, &fast, 1e8)->conditions, "");
    compare();
    assert_int_equal(comparison.n, 2);
    assert_int_equal(comparison.n_only[1], 1);
    assert_int_equal(comparison.n_changed, 1);
    assert_string_equal(comparison.points[0].conditions, "cache=warm");
    assert_close(comparison.points[0].ratio, 2, 1e-6);
    assert_close(comparison.points[1].ratio, 1, 1e-6);
}

TEST(runs_cut_or_set_aside_do_not_count)
{
    for (int i = 0; i < 3; i++) {
        add(0, &fast, 1e8 + i);
        add(1, &fast, 1e8 + i);
    }
    add(1, &fast, 9e9)->aside = true;
    add(1, &fast, 9e9)->sample.cut = true;
    compare();
    assert_int_equal(comparison.points[0].n[1], 3);
    assert_close(comparison.points[0].ratio, 1, 1e-9);
}

TEST(answers_are_compared_by_their_fresh_replays)
{
    infos[0].has_point = infos[1].has_point = true;
    infos[0].point = slow;
    infos[1].point = fast;
    for (int i = 0; i < 4; i++) {
        add(0, &slow, 1e8)->sample.confirming = i < 2;
        add(1, &fast, i < 2 ? 3e8 : 5e8)->sample.confirming = i < 2;
    }
    compare();
    assert_true(comparison.has_answers);
    assert_close(comparison.answer.ratio, 3, 1e-9);
    assert_int_equal(comparison.answer.n[1], 2);
}

/* All intervals of a comparison hold together in 95 of 100 pairs of nights. */
TEST(unchanged_nights_seldom_show_any_change)
{
    enum { PAIRS = 400, POINTS = 20, REPLAYS = 5 };
    struct rng rng;
    size_t n_alarms = 0;
    rng_init(&rng, 11);
    for (int pair = 0; pair < PAIRS; pair++) {
        reset(NULL);
        for (uint32_t i = 0; i < POINTS * REPLAYS; i++) {
            struct point point = fast;
            point.queue_depth = 1 + i % POINTS;
            add(0, &point, 1e8 * exp(0.1 * rng_normal(&rng)));
            add(1, &point, 1e8 * exp(0.1 * rng_normal(&rng)));
        }
        compare();
        assert_int_equal(comparison.n_tested, POINTS);
        n_alarms += comparison.n_changed > 0;
        history_compare_done(&comparison);
    }
    /* Expected at most 20; 40 is more than four standard deviations away, 3 would be too careful. */
    assert_in_range(n_alarms, 3, 40);
}
