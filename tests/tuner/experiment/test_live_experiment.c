/* The status line of experiments on simulated surfaces. */
#include "tests/tuner/experiment/experiment_rig.h"
#include "tests/tuner/report/live_rig.h"

#include <errno.h>

EXPERIMENTS(enter);

#define ON_STILL                                                                                             \
    "--simulate still.conf --pattern randwrite --api io_uring --direct 1 --request-size 4k,64k "             \
    "--queue-depth 1,4 --duration 200ms --seed 1 --replays 3 --quiet"

static void show(void)
{
    session->progress = (struct progress){.on = true, .clock = &session->clock};
    experiment_show_run(&experiment, 0, 12.4);
}

TEST(before_the_first_run_only_the_plan_is_known)
{
    assert_int_equal(plan(ON_STILL), 0);
    assert_contains(what_is_shown(show), "12 s left  no best yet  now randwrite, ");
}

TEST(the_cell_with_the_highest_mean_is_the_best)
{
    run(ON_STILL);
    assert_contains(what_is_shown(show), "(randwrite, 64k x 4, direct, io_uring)");
}

TEST(a_cell_that_failed_is_not_the_best)
{
    run(ON_STILL);
    for (size_t i = 0; i < experiment.n_cells; i++) {
        if (experiment.cells[i].record.point.queue_depth == 4)
            experiment.cells[i].record.failed = -EIO;
    }
    assert_contains(what_is_shown(show), "(randwrite, 64k x 1, direct, io_uring)");
}
