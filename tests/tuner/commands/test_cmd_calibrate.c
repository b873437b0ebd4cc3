/* fstune calibrate: what is not done before it is known that it can be. */
/* LINK: -Wl,--wrap=session_prepare -Wl,--wrap=dirty_limits_set -Wl,--wrap=dirty_limits_check */
#include "bench/base/err.h"
#include "bench/target/dirty_limits.h"
#include "tests/tuner/commands/cli_rig.h"
#include "tuner/commands/command.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static bool prepared, set, may_set;

int __wrap_session_prepare(struct session *session, struct err *err);
int __wrap_dirty_limits_set(struct dirty_limits *limits, const struct dirty_limits_places *places,
                            uint64_t background_bytes, uint64_t hard_bytes, struct err *err);

int __wrap_dirty_limits_check(const struct dirty_limits_places *places, uint64_t background_bytes,
                              uint64_t hard_bytes, struct err *err);

int __wrap_dirty_limits_check(const struct dirty_limits_places *places, uint64_t background_bytes,
                              uint64_t hard_bytes, struct err *err)
{
    (void)places;
    assert_int_equal(background_bytes, 64 << 20);
    assert_int_equal(hard_bytes, 128 << 20);
    return may_set ? 0 : err_set(err, -EACCES, "not for you");
}

/* Somebody else has the lock. */
int __wrap_session_prepare(struct session *session, struct err *err)
{
    (void)session;
    prepared = true;
    return err_set(err, -EBUSY, "locked");
}

int __wrap_dirty_limits_set(struct dirty_limits *limits, const struct dirty_limits_places *places,
                            uint64_t background_bytes, uint64_t hard_bytes, struct err *err)
{
    (void)limits;
    (void)places;
    (void)background_bytes;
    (void)hard_bytes;
    set = true;
    return err_set(err, -EPERM, "not here");
}

static int measure(struct err *err)
{
    static struct session session;
    static struct settings settings;
    settings_init(&settings);
    settings.calibrate.limits_given = true;
    settings.calibrate.limits_bytes[0] = 64 << 20;
    settings.calibrate.limits_bytes[1] = 128 << 20;
    memset(&session, 0, sizeof session);
    session.settings = &settings;
    prepared = set = false;
    *err = (struct err){0};
    return command_calibrate.measure(&session, err);
}

TEST(limits_stay_while_another_has_the_lock)
{
    struct err err;
    may_set = true;
    assert_int_equal(measure(&err), -EBUSY);
    assert_true(prepared);
    assert_false(set);
}

TEST(limits_that_may_not_be_set_are_known_before_anything_is_written)
{
    struct err err;
    may_set = false;
    assert_int_equal(measure(&err), -EACCES);
    assert_non_null(strstr(err.text, "--set-dirty-limits: not for you"));
    assert_false(prepared);
    assert_false(set);
}

TEST(a_budget_that_is_too_small_is_refused_before_the_file_is_filled)
{
    cli_fails(2, "--max-write allows only", "calibrate --max-write 512m --budget 20s --no-lock --quiet");
    cli_fails(2, "give --max-write 629m or more",
              "calibrate --max-write 512m --budget 20s --no-lock --quiet");
    /* The file would be smaller, but not with what is asked for. */
    cli_fails(2, "give --max-write 629m or more",
              "calibrate --max-write 400m --budget 20s --no-lock --quiet");
    cli_prints(0, "calibrate --max-write 629m --budget 20s --dry-run", NULL);
    cli_prints(0, "calibrate --max-write 8g --budget 20s --dry-run", NULL);
}
