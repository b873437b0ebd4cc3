/* Tests of tuner/options/options_set: values that have a form of their own. */
#include "tests/tuner/options/options_rig.h"
#include "tuner/session/warnings.h"

TEST(accepted_codes_become_a_set)
{
    assert_int_equal(RECOMMEND("--accept", "not_cold,existing_has_holes,not_cold"), 0);
    assert_int_equal(settings.runs.accept,
                     WARNINGS_BIT(WARNING_NOT_COLD) | WARNINGS_BIT(WARNING_EXISTING_HAS_HOLES));
    assert_int_equal(MEASURE("--accept=steal"), 0);
    assert_int_equal(settings.runs.accept, WARNINGS_BIT(WARNING_STEAL));
}

TEST(every_code_can_be_accepted)
{
    for (unsigned i = 0; i < WARNING_N; i++) {
        assert_int_equal(RECOMMEND("--accept", warnings_table[i].code), 0);
        assert_int_equal(settings.runs.accept, WARNINGS_BIT(i));
    }
}

TEST(a_pair_of_dirty_limits_is_read)
{
    assert_int_equal(PARSE(OPTIONS_CALIBRATE, "--set-dirty-limits=64m,1g"), 0);
    assert_true(settings.calibrate.limits_given);
    assert_true(settings.calibrate.limits_bytes[0] == 64ULL << 20);
    assert_true(settings.calibrate.limits_bytes[1] == 1ULL << 30);
}

TEST(calibrate_writes_less_than_other_commands_by_default)
{
    assert_int_equal(PARSE(OPTIONS_CALIBRATE, "--quiet"), 0);
    assert_true(!settings.calibrate.limits_given && settings.limits.max_write_bytes == 8ULL << 30);
}

TEST(answers_to_emit_from_are_up_to_four_in_their_order)
{
    assert_int_equal(PARSE(OPTIONS_EMIT, "--list"), 0);
    assert_int_equal(settings.answers.n, 0);
    assert_string_equal(settings.answers.path[0], "-");
    assert_int_equal(PARSE(OPTIONS_EMIT, "--from=a", "--from", "b", "--from=c", "--from=d"), 0);
    assert_int_equal(settings.answers.n, 4);
    assert_string_equal(settings.answers.path[0], "a");
    assert_string_equal(settings.answers.path[3], "d");
    assert_int_equal(PARSE(OPTIONS_EMIT, "--from=a", "--from=b", "--from=c", "--from=d", "--from=e"),
                     -EINVAL);
    assert_non_null(strstr(err.text, "at most 4"));
    assert_int_equal(PARSE(OPTIONS_EMIT, "--from="), -EINVAL);
}

TEST(a_version_is_major_and_minor)
{
    assert_int_equal(PARSE(OPTIONS_EMIT, "--target-version=18"), 0);
    assert_true(settings.snippet.target_version[0] == 18 && settings.snippet.target_version[1] == 0);
    assert_int_equal(PARSE(OPTIONS_EMIT, "--target-version=10.11.6"), 0);
    assert_true(settings.snippet.target_version[0] == 10 && settings.snippet.target_version[1] == 11);
}

/* The words of a row stand in the order of their numbers. */
TEST(words_of_factors_are_their_numbers)
{
    for (unsigned i = 0; i < API_N; i++) {
        assert_int_equal(RECOMMEND("--api", api_names[i]), 0);
        assert_int_equal(settings.workload.levels[FACTOR_API].value[0], i);
    }
    for (unsigned i = 0; i < SYNC_N; i++) {
        assert_int_equal(RECOMMEND("--sync", sync_names[i]), 0);
        assert_int_equal(settings.workload.levels[FACTOR_SYNC].value[0], i);
    }
    assert_int_equal(PARSE(OPTIONS_EXPERIMENT, "--cache=warm"), 0);
    assert_int_equal(settings.experiment.conditions[CONDITION_CACHE].value[0], MEASURE_CACHE_WARM);
}
