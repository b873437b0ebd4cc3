/* Tests of tuner/experiment/live_experiment: the view of experiments on simulated surfaces. */
#include "tests/test.h"
#include "tests/tuner/experiment/experiment_rig.h"
#include "tests/tuner/report/live_rig.h"
#include "tuner/experiment/live_experiment.h"

#include <errno.h>

GROUP(enter, rig_leave);

#define ON_STILL                                                                                             \
    "--simulate still.conf --pattern randwrite --api io_uring --direct 1 --request-size 4k,64k "             \
    "--queue-depth 1,4 --duration 200ms --seed 1 --replays 3 --quiet"

static void show(void)
{
    session->progress = (struct progress){.on = true, .clock = &session->clock};
    live_experiment_show(&experiment, 0, 12.5);
}

TEST(before_the_first_run_only_the_plan_is_known)
{
    assert_int_equal(plan(ON_STILL), 0);
    const char *text = what_is_shown(show);
    assert_non_null(strstr(text, "]   0 %  run 1 of 12  12.5 s left\n"));
    assert_non_null(strstr(text, "\nbest not known yet\n"));
    assert_int_equal(count_lines(text), 3);
    done();
}

TEST(cells_stand_in_the_order_of_their_means)
{
    run(ON_STILL);
    const char *text = what_is_shown(show);
    static const char *const ends[] = {"x3   randwrite, 64k x 4, direct, io_uring\n",
                                       "x3   randwrite, 64k x 1, direct, io_uring\n"};
    const char *first = strstr(text, ends[0]), *second = strstr(text, ends[1]);
    assert_int_equal(count_lines(text), 3 + 4);
    assert_non_null(strstr(text, "] 100 %  run 13 of 12"));
    assert_true(first != NULL && second != NULL && first < second);
    assert_non_null(strstr(text, "\n* "));
    done();
}

TEST(a_cell_that_failed_is_no_contender)
{
    run(ON_STILL);
    experiment.cells[0].record.failed = -EIO;
    assert_int_equal(count_lines(what_is_shown(show)), 3 + 3);
    done();
}
