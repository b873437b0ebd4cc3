/* Tests of bench/run/calibrate: single measurements on a small file; no rate is judged, only that it is one.
 */
/* LINK: -Wl,--wrap=pwrite64 */
#include "bench/run/calibrate.h"
#include "bench/run/calibrate_internal.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ULL << 20)

static struct target target;
static struct calibrate rig;
static atomic_int interrupted;
static struct err err;

static size_t n_pwrites_left; /* after so many comes an interruption; 0: none */

WRAP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t offset))
{
    if (n_pwrites_left > 0 && --n_pwrites_left == 0)
        atomic_store(&interrupted, 1);
    return __real_pwrite64(fd, bytes, size, offset);
}

/* A target of 2 MiB in memory is enough for seeks and reads; direct I/O is not proved. */
FIXTURE(enter)
{
    char name[] = "/tmp/fstune-calibrate-XXXXXX";
    static unsigned char block[2 * MIB];
    memset(&err, 0, sizeof err);
    atomic_store(&interrupted, 0);
    target =
        (struct target){.fd = mkstemp(name), .owned = true, .writable = true, .size_bytes = sizeof block};
    if (target.fd < 0 || unlink(name) != 0 || write(target.fd, block, sizeof block) != (ssize_t)sizeof block)
        return -1;
    rig = (struct calibrate){.target = &target,
                             .directory = "/tmp",
                             .directory_fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                             .clock = &clock_monotonic,
                             .interrupted = &interrupted,
                             .seed = 1,
                             .cache_bytes = 4 * MIB,
                             .memory_bytes = MIB};
    return rig.directory_fd < 0 ? -1 : calibrate_open(&rig, &err);
}

FIXTURE(leave)
{
    calibrate_close(&rig);
    close(rig.directory_fd);
    target_close(&target);
    return 0;
}

TEST_WITH(everything_gives_a_positive_number, enter, leave)
{
    double value = 0, again = 0;
    assert_int_equal(calibrate_memory(&rig, &value, &err), 0);
    assert_true(value > 0);
    assert_int_equal(calibrate_cache(&rig, &value, &again, &err), 0);
    assert_true(value > 0 && again > 0);
    assert_int_equal(calibrate_call(&rig, 512, 100, &value, &err), 0);
    assert_true(value > 0 && value < 1);
    assert_int_equal(calibrate_buffer(&rig, 64, 256, &value, &err), 0);
    assert_true(value > 0 && value < 1);
    assert_int_equal(calibrate_stream(&rig, &value, &err), 0);
    assert_true(value >= 512);
    assert_int_equal(calibrate_read(&rig, MIB, &value, &err), 0);
    assert_true(value > 0);
    assert_int_equal(rig.read_bytes, MIB);
}

TEST_WITH(pages_that_never_reach_the_device_do_not_count_as_written, enter, leave)
{
    double value, again;
    assert_int_equal(calibrate_cache(&rig, &value, &again, &err), 0);
    assert_int_equal(calibrate_call(&rig, 4096, 16, &value, &err), 0);
    assert_int_equal(calibrate_buffer(&rig, 512, 128, &value, &err), 0);
    assert_int_equal(rig.written_bytes, 0);
}

TEST_WITH(durable_writes_are_counted, enter, leave)
{
    double value = 0;
    assert_int_equal(calibrate_sync(&rig, 4096, 4, &value, &err), 0);
    assert_true(value > 0);
    assert_int_equal(rig.written_bytes, 5 * 4096);
    assert_int_equal(calibrate_seek(&rig, &value, &err), 0);
    assert_true(isfinite(value));
    assert_true(rig.written_bytes > 5 * 4096);
}

TEST_WITH(writing_beside_writeback_is_measured_or_too_short, enter, leave)
{
    double value = 0;
    int result = calibrate_reduced(&rig, &value, &err);
    assert_true(result == -EAGAIN || (result == 0 && value > 0));
    assert_true(rig.written_bytes <= 2 * rig.cache_bytes);
}

TEST_WITH(no_memory_to_use_up_finds_no_taken_pages, enter, leave)
{
    double value = 7;
    assert_int_equal(calibrate_first_touch(&rig, MIB, UINT64_MAX, &value, &err), -EAGAIN);
    assert_close(value, 7, 0);
}

/* A host can be so slow to give memory that all of it would take longer than the calibration may. */
TEST_WITH(taken_pages_are_looked_for_until_the_time_is_over, enter, leave)
{
    struct rusage before, after;
    double value = 7;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(calibrate_first_touch(&rig, 1024 * MIB, 0, &value, &err), -EAGAIN);
    getrusage(RUSAGE_SELF, &after);
    assert_true((after.ru_minflt - before.ru_minflt) * sysconf(_SC_PAGESIZE) < (long)(256 * MIB));
    assert_close(value, 7, 0);
}

TEST_WITH(writing_above_the_background_limit_is_measured_or_too_short, enter, leave)
{
    double value = 7;
    bool waited;
    int result = calibrate_flushed(&rig, 12 * MIB, 4 * MIB, 12 * MIB, &value, &waited, &err);
    /* Other programs may have enough dirty memory to make writers of these limits wait. */
    assert_true((result == -EAGAIN && value == 7) || (result == 0 && value > 7));
    assert_int_equal(rig.written_bytes, 8 * MIB);
    value = 7;
    assert_int_equal(calibrate_flushed(&rig, 12 * MIB, 11 * MIB, 12 * MIB, &value, &waited, &err), -EAGAIN);
    assert_close(value, 7, 0);
}

/* 11 of 16 writes of 768 KiB. */
TEST_WITH(what_was_written_before_an_interruption_counts, enter, leave)
{
    double value = 7;
    bool waited;
    n_pwrites_left = 11;
    assert_int_equal(calibrate_flushed(&rig, 12 * MIB, 4 * MIB, 12 * MIB, &value, &waited, &err), -EINTR);
    assert_int_equal(rig.written_bytes, 11 * MIB * 3 / 4 - 4 * MIB);
    rig.written_bytes = 0;
    atomic_store(&interrupted, 0);
    n_pwrites_left = 2;
    assert_int_equal(calibrate_flushed(&rig, 12 * MIB, 4 * MIB, 12 * MIB, &value, &waited, &err), -EINTR);
    assert_int_equal(rig.written_bytes, 0);
}

TEST_WITH(large_writes_come_after_some_that_do_not_count, enter, leave)
{
    static const uint64_t sizes[] = {16 * MIB, 4 * MIB};
    double costs_s[2] = {0};
    assert_int_equal(calibrate_large(&rig, sizes, 2, 8 * MIB, costs_s, &err), 0);
    assert_true(costs_s[0] > 0 && costs_s[1] > 0);
    assert_int_equal(rig.written_bytes, 8 * MIB + 16 * MIB + 2 * 4 * MIB);
}

TEST_WITH(flushes_are_counted_as_written, enter, leave)
{
    double value = 0;
    assert_int_equal(calibrate_writeback(&rig, 2 * MIB, &value, &err), 0);
    assert_true(value > 0);
    assert_int_equal(rig.written_bytes, 2 * 2 * MIB);
}

TEST_WITH(an_interruption_ends_every_measurement, enter, leave)
{
    double value = 7, again = 7;
    bool waited;
    atomic_store(&interrupted, 1);
    assert_int_equal(calibrate_memory(&rig, &value, &err), -EINTR);
    assert_int_equal(calibrate_cache(&rig, &value, &again, &err), -EINTR);
    assert_int_equal(calibrate_call(&rig, 512, 100, &value, &err), -EINTR);
    assert_int_equal(calibrate_reduced(&rig, &value, &err), -EINTR);
    assert_int_equal(calibrate_flushed(&rig, 12 * MIB, 4 * MIB, 12 * MIB, &value, &waited, &err), -EINTR);
    assert_int_equal(calibrate_large(&rig, &(uint64_t){MIB}, 1, MIB, &value, &err), -EINTR);
    assert_int_equal(calibrate_writeback(&rig, MIB, &value, &err), -EINTR);
    assert_int_equal(calibrate_buffer(&rig, 64, 16, &value, &err), -EINTR);
    assert_int_equal(calibrate_sync(&rig, 4096, 4, &value, &err), -EINTR);
    assert_int_equal(calibrate_seek(&rig, &value, &err), -EINTR);
    assert_int_equal(calibrate_read(&rig, MIB, &value, &err), -EINTR);
    assert_int_equal(calibrate_first_touch(&rig, 64 * MIB, UINT64_MAX, &value, &err), -EINTR);
    assert_close(value, 7, 0);
    assert_close(again, 7, 0);
}

TEST_WITH(a_limit_on_files_is_said, enter, leave)
{
    struct rlimit old, small;
    double value, again;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){MIB, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int result = calibrate_cache(&rig, &value, &again, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(result, -EFBIG);
    assert_non_null(strstr(err.text, "ulimit -f"));
}

TEST(the_middle_ignores_what_lies_outside)
{
    double values[] = {1000, 2, 0, 4, 3, 2, 3, -50};
    assert_close(calibrate_middle(values, 8), 2.5, 1e-12);
    assert_close(calibrate_middle(values, 1), -50, 0);
}
