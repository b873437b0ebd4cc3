/* bench/run/calibrate_device: which writes a seek is measured with. */
/* LINK: -Wl,--wrap=replay_run */
#include "bench/run/calibrate.h"
#include "bench/run/replay.h"
#include "tests/test.h"

#include <errno.h>

static uint64_t unit_bytes;

int __wrap_replay_run(const struct replay_plan *plan, struct replay_result *ret, struct err *err);

/* Keeps the largest size that all offsets and sizes are multiples of. */
int __wrap_replay_run(const struct replay_plan *plan, struct replay_result *ret, struct err *err)
{
    *ret = (struct replay_result){0};
    unit_bytes = plan->writes[0].size_bytes;
    assert_int_equal(plan->mode, REPLAY_DIRECT);
    for (size_t i = 0; i < plan->n; i++) {
        assert_int_equal(plan->writes[i].size_bytes, unit_bytes);
        assert_int_equal(plan->writes[i].offset_bytes % unit_bytes, 0);
    }
    return err_set(err, -EIO, "made up");
}

static void check_unit(uint32_t align_bytes, uint64_t expected_bytes)
{
    struct target target = {.direct_write = TARGET_DIRECT_PROVED, .direct_offset_align_bytes = align_bytes};
    struct calibrate calibrate = {.target = &target, .directory = "."};
    double seconds;
    assert_int_equal(calibrate_seek(&calibrate, &seconds, NULL), -EIO);
    assert_int_equal(unit_bytes, expected_bytes);
}

TEST(seeks_are_of_four_kib_or_the_alignment)
{
    check_unit(512, 4096);
    check_unit(4096, 4096);
    check_unit(16384, 16384);
}
