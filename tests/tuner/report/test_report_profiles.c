/* Tests of tuner/report/report_profiles and tuner/report/report_objective: what text and JSON say about
 * profiles, front and objective.
 */
#include "tests/test.h"
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_objective.h"
#include "tuner/report/report_profiles.h"
#include "tuner/report/report_recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

GROUP(enter, rig_leave);

#define SEARCH "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "1"

static char *text;

static json_t *answer_as_json(void)
{
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_recommendation_json(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
    json_error_t error;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(object);
    free(text);
    return object;
}

static void answer_as_text(void)
{
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_recommendation_text(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
}

static size_t count(const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

static double number(const json_t *object, const char *group, const char *key)
{
    return json_number_value(json_object_get(json_object_get(object, group), key));
}

TEST(every_profile_has_a_row_with_its_evidence)
{
    static const char *const keys[] = {
        "request_size",  "mean",        "ci_low",     "latency_ns", "replays",         "throughput_ratio",
        "latency_ratio", "points_near", "neighbours", "explored",   "after_the_choice"};
    rig_settings(&settings, SEARCH, "--profiles", NULL);
    run();
    json_t *object = answer_as_json(), *profiles = json_object_get(object, "profiles");
    assert_int_equal(json_object_size(profiles), PROFILE_N);
    for (size_t p = 0; p < PROFILE_N; p++) {
        json_t *profile = json_object_get(profiles, profiles_names[p]);
        for (size_t k = 0; k < RIG_COUNT(keys); k++)
            assert_non_null(json_object_get(profile, keys[k]));
        double on_front = json_number_value(json_object_get(profile, "probability_on_front"));
        double fits = json_number_value(json_object_get(profile, "probability_fits_best"));
        assert_true(on_front > 0 && on_front <= 1 && fits > 0 && fits <= 1);
    }
    assert_true(json_is_true(json_object_get(json_object_get(profiles, "max-throughput"), "recommended")));
    assert_string_equal(json_string_value(json_object_get(object, "profile")), "max-throughput");
    json_decref(object);
    done();
}

TEST(the_front_in_json_is_whole_and_names_the_profiles)
{
    size_t n_named = 0;
    rig_settings(&settings, SEARCH, "--pareto", NULL);
    run();
    json_t *object = answer_as_json(), *pareto = json_object_get(object, "pareto");
    assert_int_equal(json_array_size(pareto), tune.profiles.n_front);
    for (size_t i = 0; i < json_array_size(pareto); i++)
        n_named += json_array_size(json_object_get(json_array_get(pareto, i), "profiles"));
    assert_int_equal(n_named, PROFILE_N);
    json_decref(object);
    done();
}

TEST(nothing_is_added_where_nothing_is_asked_for)
{
    rig_settings(&settings, SEARCH, NULL);
    run();
    json_t *object = answer_as_json();
    assert_null(json_object_get(object, "profiles"));
    assert_null(json_object_get(object, "pareto"));
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "objective"), "unit")),
                        "bytes/s");
    assert_close(number(object, "objective", "mean"), number(object, "throughput", "mean"), 1);
    json_decref(object);
    answer_as_text();
    assert_int_equal(count("\nProfiles") + count("Throughput against latency") + count("\nObjective"), 0);
    free(text);
    done();
}

TEST(the_table_has_at_most_twelve_lines)
{
    rig_settings(&settings, SEARCH, "--pareto", "--budget", "20s", NULL);
    run();
    answer_as_text();
    const char *table = strstr(text, "\nThroughput against latency");
    assert_non_null(table);
    assert_int_equal(count("\nProfiles"), 0);
    size_t n_lines = 0;
    for (const char *at = strchr(table + 1, '\n'); at != NULL && at[1] != '\n'; at = strchr(at + 1, '\n'))
        n_lines++;
    assert_true(n_lines >= 1 + 2 && n_lines <= 1 + 12);
    free(text);
    done();
}

TEST(the_text_shows_three_profiles_and_what_they_cost)
{
    rig_settings(&settings, SEARCH, "--profile", "low-latency", NULL);
    run();
    answer_as_text();
    assert_true(count("(recommended)") >= 1);
    assert_int_equal(count("\n  max-throughput "), 1);
    assert_int_equal(count("\n  balanced "), 1);
    assert_int_equal(count("\n  low-latency "), 1);
    assert_true(count("x the throughput of max-throughput") >= 1);
    free(text);
    json_t *object = answer_as_json();
    assert_true(json_is_null(json_object_get(object, "objective")));
    assert_string_equal(json_string_value(json_object_get(object, "profile")), "low-latency");
    json_decref(object);
    done();
}

TEST(the_objective_has_its_figure_interval_and_ratio)
{
    rig_settings(&settings, SEARCH, "--objective", "iops", NULL);
    run();
    json_t *object = answer_as_json(), *objective = json_object_get(object, "objective");
    assert_string_equal(json_string_value(json_object_get(objective, "unit")), "requests/s");
    assert_string_equal(json_string_value(json_object_get(objective, "better")), "higher");
    assert_true(number(object, "objective", "ci_low") < number(object, "iops", "mean"));
    assert_true(number(object, "objective", "ci_high") > number(object, "iops", "mean"));
    assert_true(number(objective, "ratio_to_baseline", "ci_low") > 1);
    assert_true(json_is_null(json_object_get(object, "profile")));
    json_decref(object);
    answer_as_text();
    assert_int_equal(count("\nObjective    IOPS "), 1);
    free(text);
    done();
}

TEST(a_lower_p99_has_a_ratio_below_one)
{
    rig_settings(&settings, SEARCH, "--objective", "p99", "--request-size", "4k", "--current",
                 "request_size=4k,queue_depth=16,direct=0,api=io_uring", NULL);
    run();
    json_t *object = answer_as_json(), *objective = json_object_get(object, "objective");
    assert_string_equal(json_string_value(json_object_get(objective, "better")), "lower");
    assert_true(number(objective, "ratio_to_baseline", "ci_high") < 1);
    json_decref(object);
    answer_as_text();
    assert_int_equal(count("less is better"), 1);
    free(text);
    done();
}
