/* Tests of tuner/search/sensitivity and tuner/report/report_importance: what is said about surfaces on which
 * it is known. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/report/report_importance.h"
#include "tuner/search/sensitivity.h"

static char lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE];
static size_t n_lines;

static double direct_decides_bps(const struct point *point)
{
    return point->direct ? 2e9 : 0.8e9;
}

/* Depth helps up to 4; the size counts a little. */
static double depth_saturates_bps(const struct point *point)
{
    return 1e9 * fmin(point->queue_depth, 4) * (point->request_size_bytes > 4096 ? 1 : 0.8);
}

/* Fast only where both are there. */
static double both_needed_bps(const struct point *point)
{
    return (point->request_size_bytes >= 65536) == (point->direct == 1) ? 2e9 : 0.5e9;
}

SEARCHES_ON({"direct", "run_cv = 0.02; setup_seconds = 0.05;", direct_decides_bps},
            {"depth", "run_cv = 0.02; setup_seconds = 0.05;", depth_saturates_bps},
            {"both", "run_cv = 0.02; setup_seconds = 0.05;", both_needed_bps});

#define ALL_SIZES " --seed 3 --objective throughput --request-size 4k,16k,64k,256k"

static void say(void)
{
    struct sensitivity sensitivity;
    assert_int_equal(sensitivity_of(&tune, &sensitivity), 0);
    sensitivity_text(&tune, &sensitivity, lines, &n_lines);
    sensitivity_done(&sensitivity);
}

static void search_and_say(const char *simulator_and_options)
{
    search(simulator_and_options);
    say();
}

static const char *line_with(const char *part)
{
    for (size_t i = 0; i < n_lines; i++) {
        if (strstr(lines[i], part) != NULL)
            return lines[i];
    }
    return "";
}

TEST(the_factor_that_decides_comes_first_with_its_price)
{
    search_and_say("direct.conf" ALL_SIZES);
    check_part(lines[0], "direct I/O matters most: leaving it out costs at least 5");
    check_part(line_with("request size"), "request size: throughput looks the same (within ");
}

TEST(depth_beyond_saturation_changes_nothing)
{
    search_and_say("depth.conf" ALL_SIZES);
    check_part(lines[0], "queue depth matters most: ");
    check_part(lines[0], "any setting below 4 costs at least 7");
    check_part(lines[0], "above 4 throughput ");
    check_part(lines[0], " the same (within ");
    check_part(line_with("direct I/O"), "direct I/O: throughput looks the same");
}

/* In the table below they have the same words. */
TEST(what_its_own_runs_do_not_show_only_looks_so)
{
    search_and_say("direct.conf" ALL_SIZES);
    for (int shown = 0; shown < 2; shown++) {
        for (size_t i = 0; i < tune.space.n_points; i++)
            tune.engine.verdicts[i] = shown ? VERDICT_EQUIVALENT : VERDICT_UNDECIDED;
        say();
        check_part(line_with("request size"),
                   shown ? "throughput stays the same (" : "throughput looks the same (");
    }
}

TEST(factors_that_act_together_only_are_called_a_pair)
{
    search_and_say("both.conf" ALL_SIZES);
    assert_int_equal(n_lines, SENSITIVITY_MAX_LINES);
    check_part(line_with("act together"), "request size and direct I/O act together: ");
    assert_string_equal(line_with("matters most"), "");
}

/* Buffered small requests do as well as direct large ones. */
TEST(what_is_as_good_with_other_factors_changed_as_well_is_named)
{
    search_and_say("both.conf" ALL_SIZES);
    tune.engine.best = tune.engine.chosen;
    for (size_t i = 0; i < tune.space.n_points; i++)
        tune.engine.verdicts[i] = VERDICT_UNDECIDED;
    say();
    check_part(line_with("direct I/O: "), "costs at least ");
    assert_null(strstr(line_with("direct I/O: "), "is as good"));
    for (size_t i = 0; i < tune.space.n_points; i++) {
        const struct point *point = &tune.records[i].point;
        if (point->direct != chosen()->direct && tune.records[i].n > 0 && both_needed_bps(point) > 1e9)
            tune.engine.verdicts[i] = VERDICT_EQUIVALENT;
    }
    say();
    check_part(line_with("direct I/O: "), chosen()->direct ? ", buffered, " : ", direct, ");
    check_part(line_with("direct I/O: "), " is as good");
}

TEST(of_a_latency_the_price_is_a_latency)
{
    search_and_say("direct.conf --seed 3 --objective latency --request-size 64k");
    check_part(line_with("direct I/O"), "leaving it out costs at least 1");
    check_part(line_with("direct I/O"), " % more latency");
}

/* Of four factors each one has an interval that leaves out the truth in some searches. What a change costs is
 * not made up, and "what another choice costs is not settled" is true. */
TEST(few_searches_of_a_flat_surface_say_that_something_matters)
{
    size_t n_said = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        search_and_say(
            words("flat.conf --seed %u --objective throughput --request-size 4k,16k,64k,256k", seed));
        n_said += line_with("matters")[0] != '\0';
        assert_string_equal(line_with("matters most"), "");
        assert_string_equal(line_with("costs at least"), "");
    }
    assert_true(n_said <= 5);
}

/* Too little time to tell much. */
TEST(what_the_noise_could_be_is_not_called_a_loss)
{
    search_and_say("noisy.conf --seed 3 --budget 4s");
    for (size_t i = 0; i < n_lines; i++) {
        for (const char *part = lines[i]; (part = strstr(part, "costs at least ")) != NULL; part++)
            assert_true(strtod(part + strlen("costs at least "), NULL) >= 3);
    }
}

static char *text_of(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_importance_text(out, &tune);
    fclose(out);
    return text;
}

TEST(nothing_is_said_without_a_choice)
{
    begin_on("peak.conf --seed 3");
    AUTO(auto_free) char *text = text_of();
    json_auto_t *object = report_importance_json(&tune);
    assert_string_equal(text, "");
    assert_true(json_is_null(object));
}

TEST(lines_stand_under_each_other)
{
    search_and_say("direct.conf" ALL_SIZES);
    AUTO(auto_free) char *text = text_of();
    assert_true(strncmp(text, "What matters; costs of one factor are with all else as recommended", 66) == 0);
    const char *second = strchr(text, '\n') + 1;
    assert_true(strncmp(second, "             direct I/O matters most", 36) == 0);
    const char *third = strchr(second, '\n') + 1;
    assert_true(strncmp(third, "             ", 13) == 0 && third[13] != ' ');
}

/* In the document, too, what the costs hold for stands before them. */
TEST(the_scope_of_the_costs_stands_before_them)
{
    search_and_say("depth.conf" ALL_SIZES);
    json_auto_t *object = report_importance_json(&tune);
    assert_string_equal(json_string_value(json_object_get(object, "scope")),
                        "costs of one factor are with all else as recommended:");
}

static const json_t *find_factor(const json_t *object, const char *key)
{
    size_t i;
    json_t *factor;
    json_array_foreach(json_object_get(object, "factors"), i, factor)
    {
        if (strcmp(json_string_value(json_object_get(factor, "factor")), key) == 0)
            return factor;
    }
    fail_msg("no factor %s", key);
    return NULL;
}

static double number(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

TEST(json_has_shares_with_intervals_and_what_each_level_costs)
{
    search_and_say("direct.conf --seed 2 --objective throughput --request-size 4k,16k,64k,256k");
    json_auto_t *object = report_importance_json(&tune);
    const json_t *direct = find_factor(object, "direct");
    assert_true(number(direct, "low") <= number(direct, "share"));
    assert_true(number(direct, "share") <= number(direct, "high"));
    assert_true(number(direct, "low") > 0.8 && number(direct, "high") <= 1);
    const json_t *levels = json_object_get(direct, "levels");
    assert_int_equal(json_array_size(levels), 2);
    assert_close(number(json_array_get(levels, 0), "ratio"), 0.4, 0.05);
    assert_close(number(json_array_get(levels, 1), "ratio"), 1, 0);
    assert_true(number(json_array_get(levels, 0), "low") < 0.4 + 1e-9);
    assert_int_equal(json_array_size(json_object_get(object, "pairs")), 6);
    assert_int_equal(json_array_size(json_object_get(object, "words")), n_lines);
    assert_int_equal(json_array_size(json_object_get(object, "factors")), 4);
}

TEST(asking_what_matters_leaves_the_search_as_it_was)
{
    search_and_say("direct.conf" ALL_SIZES);
    char *first = text_of(), *second = text_of();
    assert_string_equal(first, second);
    free(first);
    free(second);
}
