/* Tests of bench/io/ioapi_simulator: rates that come in bursts. */
#include "tests/bench/io/simulator_rig.h"

/* Half of each period at twice the rate: what falls into the burst sees that, what lasts sees the table's. */
TEST(pulses_keep_the_rate_of_whole_periods)
{
    const double seconds[] = {0.045, 0.445, 10}, ratios[] = {2, 2 * (4 * 0.05 + 0.045) / 0.445, 1};
    for (size_t i = 0; i < 3; i++) {
        AUTO(auto_free) struct rig *rig = rig_alloc(2, 1);
        rig->now_ns = 77 * CLOCK_NS_PER_S; /* they begin with the run */
        rig->world.noise.pulse_seconds = 0.1;
        rig->world.noise.pulse_share = 0.5;
        assert_close(run(rig, seconds[i], 1) / TRUTH_BPS, ratios[i], 0.02 * ratios[i]);
    }
}

/* A request longer than many periods, from any phase. */
TEST(a_request_lasts_through_pulses)
{
    AUTO(auto_free) struct rig *rig = rig_alloc(1, 1);
    rig->world.noise.pulse_seconds = 0.01;
    rig->world.noise.pulse_share = 0.25;
    rig->point.request_size_bytes = 4096;
    rig->point.queue_depth = 1024;
    assert_close(run(rig, 3, 1) / TRUTH_BPS, 1, 0.05);
}
