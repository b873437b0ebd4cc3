/* Tests of tuner/nightly/prometheus: the text exposition format, and what a night of one target leaves of the
 * others. */
#include "tests/tuner/rig.h"
#include "tuner/base/replace.h"
#include "tuner/nightly/report_retune.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sys/stat.h>

static struct retune_config config;
static struct retune_outcome outcomes[2];
static struct retune_report report;
static struct err err;

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write("n.conf", "pattern = \"read\"; targets = ( { name = \"vm1\"; path = \"/a\\\"b\\\\c\\nd\"; }, { "
                        "name = \"vm2\"; } );");
    return retune_config_read(&config, "n.conf", &err);
}

FIXTURE(leave)
{
    retune_config_done(&config);
    return rig_leave(test_state);
}

GROUP(enter, leave);

FIXTURE(fill)
{
    memset(outcomes, 0, sizeof outcomes);
    outcomes[0] = (struct retune_outcome){.target = &config.targets[0],
                                          .measured = true,
                                          .exit_code = 4,
                                          .kept_bytes = 100,
                                          .ended_s = 1.7e9 + 0.25,
                                          .night = {.verdict = NIGHT_NO_CHANGE,
                                                    .behind = NIGHT_BEHIND_SETTINGS,
                                                    .has_contender = true,
                                                    .throughput = {.mean = 1e9, .interval = {9e8, 1.1e9}},
                                                    .gain_tonight = {.mean = 1.25, .interval = {1.2, NAN}},
                                                    .bytes_written = 23}};
    outcomes[1] = (struct retune_outcome){
        .target = &config.targets[1], .skipped = true, .n_skipped = 7, .exit_code = 3, .ended_s = 1.7e9};
    report = (struct retune_report){.outcomes = outcomes, .n = 2};
    return 0;
}

EACH_TEST(fill, NULL);

static void auto_decref(json_t **document)
{
    json_decref(*document);
}

static char *print(const char *old)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    prometheus_print(out, &report, &config, old);
    fclose(out);
    return text;
}

/* Lines of the exposition format as its grammar has them; a metric's samples in one group behind its type. */
static void check_grammar(const char *text)
{
    regex_t line;
    regmatch_t match[5];
    char group[128] = "", name[128];
    assert_int_equal(regcomp(&line,
                             "^(# (HELP|TYPE) )?(fstune_[a-z0-9_]+)( [^\n]+|"
                             "\\{target=\"[A-Za-z0-9._-]+\"(,[a-z_]+=\"([^\"\\\n]|\\\\[n\"\\])*\")*\\} "
                             "-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?)\n",
                             REG_EXTENDED),
                     0);
    for (; *text != '\0'; text += match[0].rm_eo) {
        bool is_right = regexec(&line, text, N_OF(match), match, 0) == 0;
        /* What follows a name says whether it is a comment. */
        if (!is_right || (match[1].rm_so >= 0) != (text[match[4].rm_so] == ' '))
            fail_msg("the format has no such line: %s", text);
        snprintf(name, sizeof name, "%.*s", (int)(match[3].rm_eo - match[3].rm_so), text + match[3].rm_so);
        if (strncmp(text, "# HELP", 6) == 0)
            memcpy(group, name, sizeof group);
        assert_string_equal(name, group);
    }
    regfree(&line);
}

static void check_parts(const char *text, const char *const *parts, size_t n, bool expected)
{
    for (size_t i = 0; i < n; i++) {
        if ((strstr(text, parts[i]) != NULL) != expected)
            fail_msg("%s: %s\n%s", parts[i], expected ? "is missing" : "is there", text);
    }
}

TEST(a_night_is_written_in_the_format)
{
    static const char *const known[] = {"\nfstune_throughput_bytes_per_second{target=\"vm1\"} 1000000000\n",
                                        "\nfstune_contender_over_current_ratio{target=\"vm1\"} 1.25\n",
                                        "\nfstune_behind{target=\"vm1\"} 1\n",
                                        "\nfstune_written_bytes{target=\"vm1\"} 123\n",
                                        "\nfstune_verdict_info{target=\"vm1\",verdict=\"no_change\"} 1\n",
                                        "\nfstune_verdict_info{target=\"vm2\",verdict=\"skipped\"} 1\n",
                                        "\nfstune_skipped_nights{target=\"vm2\"} 7\n",
                                        "\nfstune_exit_code{target=\"vm2\"} 3\n",
                                        "\nfstune_last_run_timestamp_seconds{target=\"vm1\"} 1700000000.25\n",
                                        "path=\"/a\\\"b\\\\c\\nd\""};
    /* What is not known has no sample. */
    static const char *const unknown[] = {"nan", "fstune_contender_over_current_high_ratio{",
                                          "fstune_throughput_bytes_per_second{target=\"vm2\"}"};
    AUTO(auto_free) char *text = print(NULL);
    check_grammar(text);
    check_parts(text, known, N_OF(known), true);
    check_parts(text, unknown, N_OF(unknown), false);
}

/* What an answer holds, of the current setting and of the advised one. */
static const char answer[] =
    "{\"throughput\": {\"mean\": 2e9}, \"latency_ns\": {\"p50\": 5000, \"p99\": 9000, \"p999\": null},"
    " \"shortfall_bound\": {\"share\": 0.04, \"confidence\": 0.95},"
    " \"baseline\": {\"latency_ns\": {\"p50\": 7000, \"p99\": 8000, \"p999\": 9000},"
    "                \"speedup\": {\"mean\": 2, \"ci_low\": 1.5, \"ci_high\": null}},"
    " \"default\": {\"speedup\": {\"mean\": 5.5, \"ci_low\": 5, \"ci_high\": 6}}}";

static const char current_setting[] =
    "\nfstune_current_setting_info{target=\"vm1\",request_size=\"4096\",queue_depth=\"8\",direct=\"1\","
    "api=\"libaio\",threads=\"2\",sync=\"end\"} 1\n";

TEST(gains_are_told_apart_and_figures_are_of_the_current_setting)
{
    static const char *const known[] = {
        "\nfstune_gain_over_current_ratio{target=\"vm1\"} 2\n",
        "\nfstune_gain_over_current_low_ratio{target=\"vm1\"} 1.5\n",
        "\nfstune_gain_over_default_ratio{target=\"vm1\"} 5.5\n",
        "\nfstune_contender_over_current_ratio{target=\"vm1\"} 1.25\n",
        "\nfstune_latency_p50_seconds{target=\"vm1\"} 6.9999999999999999e-06\n",
        "\nfstune_latency_p999_seconds{target=\"vm1\"} 9.0000000000000002e-06\n",
        "\nfstune_shortfall_bound_ratio{target=\"vm1\"} 0.040000000000000001\n",
        current_setting};
    static const char *const unknown[] = {"fstune_gain_over_current_high_ratio{"};
    struct retune_result *night = &outcomes[0].night;
    AUTO(auto_decref) json_t *document = json_loads(answer, 0, NULL);
    night->document = document;
    night->has_in_force = true;
    night->in_force = (struct point){.request_size_bytes = 4096,
                                     .queue_depth = 8,
                                     .direct = 1,
                                     .api = API_LIBAIO,
                                     .threads = 2,
                                     .sync = SYNC_END};
    AUTO(auto_free) char *text = print(NULL);
    check_grammar(text);
    check_parts(text, known, N_OF(known), true);
    check_parts(text, unknown, N_OF(unknown), false);
}

/* Before the first night nothing is current, and the only comparison is with the default. */
TEST(a_first_night_gains_over_the_default_alone)
{
    static const char *const known[] = {"\nfstune_gain_over_default_ratio{target=\"vm1\"} 2\n",
                                        "\nfstune_latency_p50_seconds{target=\"vm1\"} 5."};
    static const char *const unknown[] = {"fstune_gain_over_current_ratio{", "fstune_latency_p999_seconds{"};
    AUTO(auto_decref) json_t *document = json_loads(answer, 0, NULL);
    json_object_del(document, "default");
    outcomes[0].night.document = document;
    AUTO(auto_free) char *text = print(NULL);
    check_parts(text, known, N_OF(known), true);
    check_parts(text, unknown, N_OF(unknown), false);
}

TEST(a_target_that_a_signal_kept_from_measuring_did_not_fail)
{
    outcomes[1].skipped = false;
    AUTO(auto_free) char *text = print(NULL);
    assert_non_null(strstr(text, "\nfstune_verdict_info{target=\"vm2\",verdict=\"interrupted\"} 1\n"));
    AUTO(auto_decref) json_t *document = report_retune_document(&report);
    const json_t *target = json_array_get(json_object_get(document, "targets"), 1);
    CHECK_JSON(target, "verdict=interrupted");
}

/* An alarm on the age of the last measurement needs it beyond nights that were skipped. */
TEST(when_was_measured_last_stays_through_nights_that_are_skipped)
{
    AUTO(auto_free) char *before = print(NULL);
    outcomes[0].measured = false;
    outcomes[0].skipped = true;
    outcomes[0].ended_s += 86400;
    AUTO(auto_free) char *text = print(before);
    check_grammar(text);
    CHECK_HAS(text, "\nfstune_last_measured_timestamp_seconds{target=\"vm1\"} 1700000000.25\n",
              "\nfstune_last_run_timestamp_seconds{target=\"vm1\"} 1700086400.25\n",
              "-fstune_throughput_bytes_per_second{target=\"vm1\"}");
}

TEST(the_samples_of_other_targets_stay)
{
    AUTO(auto_free) char *before = print(NULL);
    report.n = 1;
    outcomes[0].night.throughput.mean = 2e9;
    AUTO(auto_free) char *text = print(before);
    check_grammar(text);
    CHECK_HAS(text, "\nfstune_throughput_bytes_per_second{target=\"vm1\"} 2000000000\n",
              "-{target=\"vm1\"} 1000000000\n", "\nfstune_skipped_nights{target=\"vm2\"} 7\n");
}

TEST(what_is_not_configured_any_more_or_was_never_ours_goes)
{
    static const char *const gone[] = {"vm3", "\nother"};
    report.n = 1;
    AUTO(auto_free)
    char *text = print("fstune_behind{target=\"vm3\"} 1\nother 1\nfstune_behind{target=\"vm2\"} "
                       "1\nfstune_behind{target=\"vm2");
    check_grammar(text);
    check_parts(text, gone, N_OF(gone), false);
    assert_non_null(strstr(text, "\nfstune_behind{target=\"vm2\"} 1\n"));
}

TEST(the_file_is_for_all_to_read_and_alone)
{
    assert_int_equal(mkdir("prom", 0755), 0);
    for (report.n = 2; report.n > 0; report.n--)
        assert_int_equal(prometheus_write("prom/f.prom", &report, &config, &err), 0);
    assert_int_equal(system("test $(stat -c %a prom/f.prom) = 644"), 0);
    assert_int_equal(rig_count_entries("prom"), 1);
    assert_int_equal(system("grep -q 'fstune_skipped_nights{target=\"vm2\"} 7' prom/f.prom"), 0);
    report.n = 2;
    assert_true(prometheus_write("nowhere/f.prom", &report, &config, &err) < 0);
    assert_non_null(strstr(err.text, "--prometheus nowhere/f.prom"));
}

/* A directory of a group, as docs/nightly.md wants it for the service; but what stands there is ours. */
TEST(a_directory_may_be_shared_but_not_the_file)
{
    static const struct {
        const char *set_up;
        int result;
    } cases[] = {{"mkdir shared; chmod 2775 shared", 0},
                 {"true", 0},
                 {"chmod 666 shared/f.prom", -EPERM},
                 {"rm shared/f.prom; chmod 777 shared", -EPERM}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(system(cases[i].set_up), 0);
        assert_int_equal(prometheus_write("shared/f.prom", &report, &config, &err), cases[i].result);
    }
    assert_int_equal(rig_count_entries("shared"), 0);
}

TEST(what_a_kill_left_is_removed_when_nobody_can_still_use_it)
{
    assert_int_equal(system("mkdir left; cd left; "
                            "touch -d '2 hours ago' .fstune-0123456789abcdef.f.prom.new; "
                            "touch -d '1 minute ago' .fstune-0123456789abcdee.f.prom.new; "
                            "touch -d '2 hours ago' .fstune-0123456789abcdef.g.prom.new"),
                     0);
    assert_int_equal(prometheus_write("left/f.prom", &report, &config, &err), 0);
    assert_false(rig_exists("left/.fstune-0123456789abcdef.f.prom.new"));
    assert_true(rig_exists("left/.fstune-0123456789abcdee.f.prom.new"));
    assert_true(rig_exists("left/.fstune-0123456789abcdef.g.prom.new"));
}

/* A collector reads every file of the directory that ends in .prom, hidden ones too. */
TEST(what_is_staged_is_not_read_as_metrics)
{
    char staged[REPLACE_NAME_SIZE];
    AUTO(auto_close) int dir_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(replace_stage(dir_fd, "f.prom", "a 1\n", 4, NULL, staged, &err), 0);
    assert_string_equal(staged + strlen(staged) - strlen(".f.prom.new"), ".f.prom.new");
    replace_discard(dir_fd, staged);
}

/* Debian's package prometheus has it. */
TEST(promtool_has_no_complaint)
{
    if (system("command -v promtool >/dev/null 2>&1") != 0)
        skip();
    assert_int_equal(prometheus_write("all.prom", &report, &config, &err), 0);
    assert_int_equal(system("promtool check metrics <all.prom >said 2>&1 && ! test -s said"), 0);
}
