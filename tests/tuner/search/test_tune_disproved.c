/* Tests of tuner/search/tune: what becomes of a choice that its replays after the choice disprove. */
/* LINK: -Wl,--wrap=tune_confirm */
#include "tests/tuner/search/tune_rig.h"

SEARCHES(enter);

static size_t n_confirmed, disproved, rival;
static bool rival_is_replayed;
static size_t n_confirming_at_second; /* of the disproved choice, when another was to be confirmed */

int __wrap_tune_confirm(struct tune *searched, struct err *why);

/* Fresh replays with this rate; those from before are forgotten, as if the search had been in error. */
static void replay(size_t point, double bps)
{
    static struct histogram latency;
    record_discard(&tune.records[point]);
    if (point < tune.space.n_points)
        belief_forget(&tune.engine.belief, point);
    for (int i = 0; i < 2 * ENGINE_CONFIRMING_LEAST; i++) {
        double rate = bps * (1 + 0.001 * (i % 3));
        const struct sample sample = {
            .throughput_bps = rate, .iops = rate / 65536, .latency_mean_ns = 1e5, .confirming = true};
        histogram_init(&latency);
        assert_int_equal(record_add(&tune.records[point], &sample, &latency), 0);
        if (point < tune.space.n_points)
            assert_int_equal(belief_tell(&tune.engine.belief, point, tune_response(&tune, &sample)), 0);
    }
}

/* The first choice is a tenth as fast as the search said. */
int __wrap_tune_confirm(struct tune *searched, struct err *why)
{
    (void)why;
    assert_ptr_equal(searched, &tune);
    session->simulator.now_ns += CLOCK_NS_PER_S;
    if (n_confirmed++ > 0) {
        n_confirming_at_second = n_confirmed == 2 ? count_confirming(disproved) : n_confirming_at_second;
        replay(tune.engine.chosen, 2e9);
        return 0;
    }
    disproved = tune.engine.chosen;
    rival = ENGINE_NONE;
    for (size_t i = 0; i < tune.space.n_points && rival == ENGINE_NONE; i++) {
        if (i != disproved && i != tune.engine.baseline && engine_is_eligible(&tune.engine, i))
            rival = i;
    }
    assert_true(rival != ENGINE_NONE && disproved != tune.engine.baseline);
    replay(disproved, 2e8);
    replay(tune.engine.baseline, 5e8);
    if (rival_is_replayed)
        replay(rival, 4e9);
    return 0;
}

static void search_disproved(bool is_night)
{
    given("peak.conf --seed 1 --quiet --current request_size=4k,queue_depth=1,direct=0,api=psync");
    n_confirmed = 0;
    n_confirming_at_second = SIZE_MAX;
    open_session();
    if (is_night)
        session->policy = &night_policy;
    if (tune_init(&tune, session, &err) != 0)
        fail_msg("%s", err.text);
    run_on();
}

TEST(a_night_keeps_the_replays_of_a_disproved_choice)
{
    rival_is_replayed = true;
    search_disproved(true);
    assert_int_equal(n_confirmed, 1);
    assert_int_equal(count_confirming(disproved), 2 * ENGINE_CONFIRMING_LEAST);
    assert_int_equal(count_confirming(tune.engine.baseline), 2 * ENGINE_CONFIRMING_LEAST);
    assert_int_equal(tune.engine.verdicts[disproved], VERDICT_WORSE);
    assert_int_equal(tune.engine.chosen, rival);
}

/* What seems better now was not replayed: its figures could be luck. */
TEST(a_night_chooses_among_what_was_replayed)
{
    rival_is_replayed = false;
    search_disproved(true);
    assert_int_equal(n_confirmed, 1);
    assert_int_equal(tune.engine.verdicts[disproved], VERDICT_WORSE);
    assert_true(count_confirming(tune.engine.chosen) >= ENGINE_MIN_REPLAYS);
    assert_int_equal(tune.engine.best, tune.engine.chosen);
}

TEST(another_search_chooses_again_with_replays_that_are_fresh_no_more)
{
    rival_is_replayed = false;
    search_disproved(false);
    assert_true(n_confirmed >= 2);
    assert_int_equal(n_confirming_at_second, 0);
    assert_int_not_equal(tune.engine.chosen, disproved);
    assert_true(count_confirming(tune.engine.chosen) >= ENGINE_CONFIRMING_LEAST);
}
