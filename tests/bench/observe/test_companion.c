/* The reference runs beside us until it is stopped, and times its intervals. */
#include "bench/observe/companion.h"

#include "bench/base/clock.h"
#include "tests/test.h"

#include <unistd.h>

static struct reference reference;
static struct companion companion;
static struct err err;
static char directory[] = "/tmp/fstune-companion-XXXXXX";

FIXTURE(open_reference)
{
    if (mkdtemp(directory) == NULL || reference_open(&reference, REFERENCE_FILES, directory, 7, &err) < 0)
        return 1;
    reference.n_steps = 4;
    companion = (struct companion){.reference = &reference, .most_write_bytes = UINT64_MAX};
    return 0;
}

FIXTURE(close_reference)
{
    reference_close(&reference);
    return rmdir(directory); /* fails unless it is empty */
}

GROUP(open_reference, close_reference);

static void run_for_intervals(size_t n)
{
    const uint64_t steps = n * reference.n_steps;
    companion.most_write_bytes = steps * (16 << 10);
    assert_int_equal(companion_start(&companion, &err), 0);
    /* It ends by itself, because it may write no more. */
    assert_int_equal(pthread_join(companion.thread, NULL), 0);
    companion.runs = false;
}

TEST(it_writes_what_it_may_and_no_more)
{
    run_for_intervals(5);
    assert_int_equal(companion.n_intervals, 5);
    assert_int_equal(companion.written_bytes, 5 * 4 * (16 << 10));
    for (size_t i = 0; i < companion.n_intervals; i++)
        assert_true(companion.interval_s[i] > 0);
    assert_int_equal(companion.begun_ns, 0);
}

TEST(an_interval_that_the_end_of_its_bytes_cut_short_does_not_count)
{
    companion.most_write_bytes = 6 * (16 << 10);
    assert_int_equal(companion_start(&companion, &err), 0);
    assert_int_equal(pthread_join(companion.thread, NULL), 0);
    companion.runs = false;
    assert_int_equal(companion.n_intervals, 1);
}

/* One that is held up for all of the time has at least that length. */
TEST(an_interval_that_does_not_end_counts_with_its_length_so_far)
{
    reference.n_steps = REFERENCE_MAX_STEPS;
    companion.most_write_bytes = UINT64_MAX;
    assert_int_equal(companion_start(&companion, &err), 0);
    clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + CLOCK_NS_PER_S / 100);
    assert_int_equal(companion_stop(&companion, &err), 0);
    assert_true(companion.n_intervals >= 1);
    assert_int_equal(companion_stop(&companion, &err), 0);
}
