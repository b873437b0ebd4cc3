/* Tests of tuner/options/options_set_calibrate: the pair of dirty limits. */
#include "tests/test.h"
#include "tuner/options/options.h"

#include <errno.h>

static struct settings settings;

static int calibrate_with(const char *argument)
{
    struct err err;
    char *argv[] = {(char *)"calibrate", (char *)argument};
    settings_init(&settings);
    return options_parse(&settings, OPTIONS_CALIBRATE, 2, argv, 1, &err);
}

TEST(a_pair_of_dirty_limits_is_read)
{
    assert_int_equal(calibrate_with("--set-dirty-limits=64m,1g"), 0);
    assert_true(settings.calibrate.limits_given);
    assert_true(settings.calibrate.limits_bytes[0] == 64ULL << 20);
    assert_true(settings.calibrate.limits_bytes[1] == 1ULL << 30);
}

TEST(what_is_no_pair_is_refused)
{
    assert_int_equal(calibrate_with("--set-dirty-limits=64m"), -EINVAL);
    assert_int_equal(calibrate_with("--set-dirty-limits=64m,64m"), -EINVAL);
    assert_int_equal(calibrate_with("--set-dirty-limits=1m,2m,3m"), -EINVAL);
    assert_int_equal(calibrate_with("--set-dirty-limits=1k,2m"), -EINVAL);
}

TEST(calibrate_writes_less_than_other_commands_by_default)
{
    assert_int_equal(calibrate_with("--quiet"), 0);
    assert_true(!settings.calibrate.limits_given && settings.limits.max_write_bytes == 8ULL << 30);
}
