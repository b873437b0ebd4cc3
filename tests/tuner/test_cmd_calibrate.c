/* fstune calibrate: what is not done before it is known that it can be. */
/* LINK: -Wl,--wrap=session_prepare -Wl,--wrap=dirty_limits_set */
#include "bench/dirty_limits.h"
#include "tests/tuner/rig.h"
#include "tuner/command.h"

#include <errno.h>
#include <string.h>

static bool prepared, set;

int __wrap_session_prepare(struct session *session, struct err *err);
int __wrap_dirty_limits_set(struct dirty_limits *limits, const char *directory, uint64_t background_bytes,
                            uint64_t hard_bytes, struct err *err);

/* Somebody else has the lock. */
int __wrap_session_prepare(struct session *session, struct err *err)
{
    (void)session;
    prepared = true;
    return err_set(err, -EBUSY, "locked");
}

int __wrap_dirty_limits_set(struct dirty_limits *limits, const char *directory, uint64_t background_bytes,
                            uint64_t hard_bytes, struct err *err)
{
    (void)limits;
    (void)directory;
    (void)background_bytes;
    (void)hard_bytes;
    set = true;
    return err_set(err, -EPERM, "not here");
}

static void limits_stay_while_another_has_the_lock(void **state)
{
    (void)state;
    static struct session session;
    static struct settings settings;
    struct err err = {0};
    settings_init(&settings);
    settings.calibrate_limits_given = true;
    session.settings = &settings;
    assert_int_equal(command_calibrate.measure(&session, &err), -EBUSY);
    assert_true(prepared);
    assert_false(set);
}

static void a_budget_that_is_too_small_is_refused_before_the_file_is_filled(void **state)
{
    (void)state;
    struct rig_run run;
    rig_run_line(&run, "calibrate --max-write 1g --budget 20s --no-lock --quiet");
    rig_check_error(&run, 2, "--max-write allows only");
    rig_free(&run);
    rig_run_line(&run, "calibrate --max-write 8g --budget 20s --dry-run");
    assert_int_equal(run.code, 0);
    rig_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_stay_while_another_has_the_lock),
        cmocka_unit_test(a_budget_that_is_too_small_is_refused_before_the_file_is_filled),
    };
    if (!rig_find_program())
        return RIG_SKIPPED;
    return cmocka_run_group_tests(tests, rig_enter, rig_leave);
}
