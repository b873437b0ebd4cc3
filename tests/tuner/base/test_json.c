/* Tests of tuner/base/json and tuner/report/report_recommend_json: valid JSON whatever the figures and texts
 * are. */
#include "tests/tuner/rig.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/report/answer.h"
#include "tuner/session/json_row.h"
#include "tuner/session/warnings.h"

#include <errno.h>

static struct settings settings;
static struct session *session;
static struct tune tune;
static struct answer answer;
static struct err err;

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("fast_start", "run_cv = 0.02; warmup_seconds = 0.1; warmup_factor = 3.0;", rig_peak_bps);
    return 0;
}

GROUP(enter, rig_leave);

/* Releases what was made. */
static void check_dumped(json_t *made, const char *expected)
{
    AUTO(auto_free) char *text = json_dumps(made, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10));
    json_decref(made);
    assert_string_equal(text, expected);
}

static void check_number(double value, const char *expected)
{
    check_dumped(json_number(value), expected);
}

TEST(numbers_are_finite_or_null)
{
    check_number(NAN, "null");
    check_number(INFINITY, "null");
    check_number(-INFINITY, "null");
    check_number(3, "3");
    check_number(-0.0, "0");
    check_number(0.25, "0.25");
    check_number(1e15, "1000000000000000");
    check_number(1e300, "1e300");
}

/* Which bytes are characters is tested in test_utf8. */
TEST(what_is_not_utf8_becomes_a_question_mark)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"plain \" \\ text", "plain \" \\ text"},
        {"\x01\x1f\x7f", "\x01\x1f\x7f"},
        {"caf\xe9", "caf?"},
        {"x\xf0\x9f\x98", "x???"},
        {"\xc3(\xc3\xa9", "?(\xc3\xa9"}, /* it begins anew at the next byte */
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        json_auto_t *string = json_text(rows[i][0]);
        assert_string_equal(json_string_value(string), rows[i][1]);
    }
}

TEST(notes_keep_their_place_whatever_bytes_they_hold)
{
    static struct notes notes;
    notes_add(&notes, "c\xff", "text \xe9 here");
    notes_add(&notes, "plain", "text");
    check_dumped(json_notes(&notes, "what", "why"),
                 "[{\"what\":\"c?\",\"why\":\"text ? here\"},{\"what\":\"plain\",\"why\":\"text\"}]");
}

TEST(a_warning_says_whether_it_disqualifies)
{
    static struct notes notes;
    warnings_note(&notes, WARNINGS_BIT(WARNING_STEAL) | WARNINGS_BIT(WARNING_NOT_COLD),
                  WARNINGS_BIT(WARNING_NOT_COLD));
    json_t *list = json_warnings(&notes), *cold = json_array_get(list, 0), *steal = json_array_get(list, 1);
    assert_int_equal(json_array_size(list), 2);
    CHECK_JSON(cold, "code=not_cold", "disqualifying=true");
    assert_non_null(strstr(json_string_value(json_object_get(cold, "text")), "--accept not_cold"));
    CHECK_JSON(steal, "code=steal", "disqualifying=false");
    json_decref(list);
}

TEST(a_row_without_an_interval_has_nulls)
{
    struct row row = {.point = {65536, 8, 1, API_IO_URING, 2, SYNC_EACH, 0, 0},
                      .mean_bps = 1.5e9,
                      .ci_low_bps = NAN,
                      .ci_high_bps = NAN,
                      .std_bps = NAN,
                      .replays = 1,
                      .achieved_depth = 7.5,
                      .latency_ns = {.mean = 1000,
                                     .ci_low = NAN,
                                     .ci_high = NAN,
                                     .p50 = 900,
                                     .p99 = NAN,
                                     .p999 = NAN,
                                     .max = 2000,
                                     .sampled = true,
                                     .ci_corrected = true,
                                     .p50_ci = {.low = 880, .high = 930},
                                     .p99_ci = {.low = NAN, .high = NAN},
                                     .p999_ci = {.low = NAN, .high = NAN}},
                      .warning_set =
                          WARNINGS_BIT(WARNING_DEPTH_NOT_ACHIEVED) | WARNINGS_BIT(WARNING_NOT_SETTLED),
                      .disqualifying = WARNINGS_BIT(WARNING_DEPTH_NOT_ACHIEVED)};
    check_dumped(
        json_row(&row),
        "{\"request_size\":65536,\"queue_depth\":8,\"direct\":1,\"api\":\"io_uring\",\"threads\":2,\"sync\":"
        "\"each\","
        "\"mean\":1500000000,\"ci_low\":null,\"ci_high\":null,\"ci_correction\":\"none\",\"std\":null,"
        "\"replays\":1,\"preliminary\":true,\"achieved_depth\":7.5,"
        "\"latency_ns\":{\"mean\":1000,\"ci_low\":null,\"ci_high\":null,\"ci_correction\":\"skewness\","
        "\"p50\":900,\"p99\":null,\"p999\":null,\"max\":2000,\"sampled\":true,\"p50_ci_low\":880,\"p50_ci_"
        "high\":930,"
        "\"p99_ci_low\":null,\"p99_ci_high\":null,\"p999_ci_low\":null,\"p999_ci_high\":null},"
        "\"warnings\":[\"depth_not_achieved\",\"not_settled\"],\"disqualified_by\":[\"depth_not_achieved\"]"
        "}");
}

TEST(patterns_have_their_shares)
{
    struct pattern pattern;
    assert_int_equal(pattern_parse("randrw:70", &pattern, NULL), 0);
    check_dumped(
        json_pattern(&pattern),
        "{\"name\":\"randrw:70\",\"seq_read\":0.0,\"seq_write\":0.0,\"rand_read\":0.7,\"rand_write\":0.3}");
}

/* Searches, prints the answer and parses it; done() frees what is behind it. */
static json_t *search(void)
{
    static char text[1 << 20];
    json_error_t error;
    if (tune_init(&tune, session, &err) != 0 || tune_run(&tune, &err) != 0)
        fail_msg("%s", err.text);
    answer_prepare(&answer, &tune);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_int_equal(report_recommendation_json(out, &answer, &err), 0);
    fclose(out);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL)
        fail_msg("line %d: %s", error.line, error.text);
    return document;
}

static void done(json_t *document)
{
    json_decref(document);
    tune_done(&tune);
    rig_close_session(session);
}

TEST(the_length_of_runs_says_how_they_start)
{
    static const char *const surfaces[] = {"peak.conf", "fast_start.conf"};
    for (size_t i = 0; i < N_OF(surfaces); i++) {
        bool taken_off = i == 1, warned = false;
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", surfaces[i], "--seed", "1", NULL);
        session = rig_open_session(&settings);
        json_t *document = search(), *warnings = json_object_get(document, "warnings");
        json_t *length = json_object_get(json_object_get(document, "search"), "run_length");
        double ratio = json_number_value(json_object_get(length, "start_ratio"));
        assert_true(taken_off ? ratio > 1.3 && ratio < 3 : ratio == 1);
        assert_int_equal(json_number_value(json_object_get(length, "warmup_least_seconds")) > 0, taken_off);
        for (size_t k = 0; k < json_array_size(warnings); k++) {
            json_t *code = json_object_get(json_array_get(warnings, k), "code");
            warned |= strcmp(json_string_value(code), "start_taken_off") == 0;
        }
        assert_int_equal(warned, taken_off);
        done(document);
    }
}

static int break_with_strange_bytes(void *context, const struct pattern *pattern, const struct point *point,
                                    double *ret_bps, struct err *why)
{
    (void)context, (void)pattern, (void)point, (void)ret_bps;
    return err_set(why, -EIO, "caf\xe9");
}

TEST(strange_bytes_anywhere_leave_the_document_valid)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", NULL);
    session = rig_open_session(&settings);
    snprintf(session->simulator.name, sizeof session->simulator.name, "n\xe9");
    session->env.truth_bps = break_with_strange_bytes;
    notes_add(&session->warnings, "strange", "\xff");
    json_t *document = search();
    CHECK_JSON(document, "system.surface=n?", "reasons.0=caf?");
    assert_true(json_array_size(json_object_get(document, "dropped")) > 1);
    done(document);
}

TEST(facts_of_the_system_are_cleaned_too)
{
    AUTO(auto_free) struct session *bare = calloc(1, sizeof *bare);
    assert_non_null(bare);
    bare->target.fd = -1;
    bare->settings = &settings;
    bare->host.n = 3;
    bare->host.facts[0] = (struct hostinfo_fact){"device", HOSTINFO_TEXT, .text = "/dev/\xe9"};
    bare->host.facts[1] = (struct hostinfo_fact){"rotational", HOSTINFO_FLAG, .number = 1};
    bare->host.facts[2] = (struct hostinfo_fact){"load", HOSTINFO_NUMBER, .number = NAN};
    json_auto_t *object = json_system(bare);
    CHECK_JSON(object, "simulated=false", "device=/dev/?", "rotational=true", "load=null");
}

TEST(a_document_ends_with_one_newline)
{
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_int_equal(json_print(out, json_pack("{s:i}", "a", 1), &err), 0);
    fclose(out);
    assert_string_equal(text, "{\n  \"a\": 1\n}\n");
}

TEST(output_that_cannot_be_written_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(json_print(full, json_pack("{s:i}", "a", 1), &err), -ENOSPC);
    assert_non_null(strstr(err.text, "standard output"));
    fclose(full);
    assert_int_equal(json_print(stdout, NULL, &err), -ENOMEM);
}
