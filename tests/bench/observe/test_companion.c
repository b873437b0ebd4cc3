/* The reference runs beside us until it is stopped, and times its intervals. */
#include "bench/observe/companion.h"

#include "bench/base/clock.h"
#include "tests/test.h"

static struct reference reference;
static struct companion companion;
static struct err err;
static char directory[] = "/tmp/fstune-companion-XXXXXX";

FIXTURE(open_reference)
{
    if (mkdtemp(directory) == NULL || reference_open(&reference, REFERENCE_FILES, directory, 7, &err) < 0)
        return 1;
    companion = (struct companion){.reference = &reference, .most_write_bytes = UINT64_MAX};
    return 0;
}

FIXTURE(close_reference)
{
    reference_close(&reference);
    return rmdir(directory); /* fails unless it is empty */
}

GROUP(open_reference, close_reference);

#define STEP_BYTES (16 << 10) /* what a step writes */

/* Until it may write no more. */
static void run_to_its_end(uint64_t most_write_bytes)
{
    companion.most_write_bytes = most_write_bytes;
    assert_int_equal(companion_start(&companion, &err), 0);
    while (atomic_load(&companion.full_ns) == 0)
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + CLOCK_NS_PER_S / 1000);
    assert_int_equal(companion_stop(&companion, &err), 0);
}

TEST(it_writes_what_it_may_and_no_more)
{
    run_to_its_end(20 * STEP_BYTES + 1);
    assert_int_equal(companion.n_steps, 20);
    assert_int_equal(companion.written_bytes, 20 * STEP_BYTES);
}

/* Or a neighbour that has to stop would look slow. */
TEST(time_in_which_it_may_write_no_more_does_not_count)
{
    run_to_its_end(STEP_BYTES);
    assert_close(companion.seconds, (double)(companion.full_ns - companion.start_ns) / 1e9, 0);
}

TEST(a_step_under_way_at_the_end_does_not_count_but_its_time_does)
{
    companion.most_write_bytes = UINT64_MAX;
    assert_int_equal(companion_start(&companion, &err), 0);
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + CLOCK_NS_PER_S / 50);
    assert_int_equal(companion_stop(&companion, &err), 0);
    assert_true(companion.n_steps * STEP_BYTES >= companion.written_bytes - STEP_BYTES);
    assert_true(companion.n_steps * STEP_BYTES <= companion.written_bytes);
    assert_true(companion.seconds >= 0.02);
    assert_int_equal(companion_stop(&companion, &err), 0);
}
