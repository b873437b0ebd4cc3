/* Tests of tuner/search/profiles, profiles_scout and profiles_judge: known knees, floors and cliffs on
 * simulated surfaces. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/search/profiles.h"

/* At 64k, direct, depth 1, 4 and 16 move 0.655, 2.0 and 2.2 GB/s in 100, 131 and 477 us: the knee is at 4,
 * and depth 1 moves 30 % of the most. Smaller sizes move less, larger ones take longer and move no more. */
static double knee_bps(const struct point *point)
{
    double rate = point->queue_depth == 1 ? 0.655e9 : point->queue_depth == 4 ? 2.0e9 : 2.2e9;
    rate *= point->direct ? 1 : 0.5;
    rate *= point->api == API_IO_URING ? 1 : 0.9;
    double size = (double)point->request_size_bytes / 65536;
    return rate * (size > 1 ? 0.98 : pow(size, 0.9));
}

static const struct point at_knee = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                          at_top = {65536, 16, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                          at_floor = {65536, 1, 1, API_IO_URING, 1, SYNC_END, 0, 0};

static const struct point *point_of(enum profile profile)
{
    assert_true(tune.profiles.judged);
    assert_true(tune.profiles.point[profile] < tune.space.n_points);
    return &tune.records[tune.profiles.point[profile]].point;
}

/* The highest power, at 16k x 4, direct, io_uring, has a neighbour that loses 8 times as much as saturation
 * would. */
static double cliff_bps(const struct point *point)
{
    double rate = knee_bps(point);
    if (point->request_size_bytes == 16384)
        rate = point->queue_depth == 4 && point->direct && point->api == API_IO_URING ? 4e9 : 1e7;
    return rate;
}

SEARCHES_ON({"knee", "run_cv = 0.02; setup_seconds = 0.05;", knee_bps},
            {"cliff", "run_cv = 0.02; setup_seconds = 0.05;", cliff_bps});

TEST(three_profiles_come_from_one_search)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        search(words("knee.conf --profiles --seed %u", seed));
        assert_true(factors_equal(chosen(), &at_top));
        assert_int_equal(tune.profiles.point[PROFILE_MAX_THROUGHPUT], tune.engine.chosen);
        assert_true(factors_equal(point_of(PROFILE_BALANCED), &at_knee));
        assert_true(factors_equal(point_of(PROFILE_LOW_LATENCY), &at_floor));
        for (size_t p = 0; p < PROFILE_N; p++) {
            const struct profiles_verdict *verdict = &tune.profiles.verdict[p];
            assert_true(verdict->confirming && verdict->explored);
            assert_true(verdict->on_front > 0.95 && verdict->on_top > 0.95);
            assert_true(record_count(&tune.records[tune.profiles.point[p]], true) >= ENGINE_CONFIRMING_LEAST);
        }
    }
}

TEST(ratios_are_those_of_the_table)
{
    search("knee.conf --profiles --seed 1");
    const struct profiles_verdict *verdict = &tune.profiles.verdict[PROFILE_BALANCED];
    assert_close(verdict->throughput.mean, 2.0 / 2.2, 0.05);
    assert_close(verdict->latency.mean, 2.2 / 2.0 / 4, 0.02);
    assert_true(verdict->throughput.ci.low < verdict->throughput.mean);
    assert_true(verdict->throughput.mean < verdict->throughput.ci.high);
    assert_close(tune.profiles.verdict[PROFILE_MAX_THROUGHPUT].latency.mean, 1, 0);
}

TEST(the_profile_that_is_asked_for_is_the_answer)
{
    for (unsigned seed = 1; seed <= 3; seed++) {
        search(words("knee.conf --profile balanced --seed %u", seed));
        assert_true(factors_equal(chosen(), &at_knee));
        assert_true(factors_equal(point_of(PROFILE_MAX_THROUGHPUT), &at_top));
        assert_true(tune.engine.conclusive);
        search(words("knee.conf --profile low-latency --seed %u", seed));
        assert_true(factors_equal(chosen(), &at_floor));
        assert_true(factors_equal(point_of(PROFILE_BALANCED), &at_knee));
    }
}

/* Depth 1 moves 30 % of the best, 4 moves 91 %. */
TEST(a_higher_floor_moves_low_latency_up_the_curve)
{
    search("knee.conf --profile low-latency --rate-floor 80% --seed 1");
    assert_true(factors_equal(chosen(), &at_knee));
}

TEST(the_edge_of_a_cliff_is_not_balanced)
{
    static const struct point edge = {16384, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};
    search("cliff.conf --profiles --seed 1");
    assert_true(factors_equal(chosen(), &edge));
    assert_true(factors_equal(point_of(PROFILE_BALANCED), &at_knee));
    assert_true(tune.profiles.verdict[PROFILE_BALANCED].on_top > 0.95);
    search("cliff.conf --profile balanced --seed 1");
    assert_true(factors_equal(chosen(), &at_knee));
    assert_true(factors_equal(point_of(PROFILE_MAX_THROUGHPUT), &edge));
}

TEST(the_front_rises_with_latency)
{
    size_t n_profiles = 0;
    double latency = 1;
    search("knee.conf --pareto --seed 2");
    const struct profiles *profiles = &tune.profiles;
    assert_true(profiles->n_front >= 3 && profiles->n_front <= 16);
    for (size_t i = 0; i < profiles->n_front; i++) {
        assert_true(profiles->front[i].latency_ns >= latency);
        latency = profiles->front[i].latency_ns;
        assert_true(profiles->front[i].on_front >= 0 && profiles->front[i].on_front <= 1);
        for (size_t p = 0; p < PROFILE_N; p++)
            n_profiles += profiles->point[p] == profiles->front[i].point;
    }
    assert_int_equal(n_profiles, PROFILE_N);
}

TEST(neighbours_are_one_level_away)
{
    size_t points[PROFILES_NEIGHBOURS_MOST];
    begin_on("knee.conf --seed 2");
    for (size_t i = 0; i < tune.space.n_points; i++) {
        if (!factors_equal(&tune.records[i].point, &at_knee))
            continue;
        /* 16k, 256k, depth 1, depth 16, buffered; psync has no depth 4. */
        assert_int_equal(profiles_neighbours(&tune, i, points, PROFILES_NEIGHBOURS_MOST), 5);
        for (size_t k = 0; k < 5; k++)
            assert_int_not_equal(points[k], i);
        assert_int_equal(profiles_neighbours(&tune, i, points, 4), 4);
    }
}

TEST(without_being_asked_for_nothing_is_chosen)
{
    search("knee.conf --seed 2");
    assert_false(tune.profiles.chosen || tune.profiles.judged);
}

/* With all replays told in one round there is no time for neighbours. */
TEST(a_short_search_says_that_it_explored_too_little)
{
    size_t n_unexplored = 0;
    search("knee.conf --profiles --seed 2 --budget 3s");
    for (size_t p = 0; p < PROFILE_N; p++) {
        const struct profiles_verdict *verdict = &tune.profiles.verdict[p];
        assert_true(verdict->n_neighbours_measured <= verdict->n_neighbours);
        n_unexplored += !verdict->explored;
    }
    assert_true(n_unexplored > 0);
}

TEST(a_bound_on_p99_holds_for_all_profiles)
{
    search("knee.conf --profiles --seed 1 --request-size 64k --max-latency-p99 200us");
    for (size_t p = 0; p < PROFILE_N; p++)
        assert_true(point_of((enum profile)p)->queue_depth <= 4);
}
