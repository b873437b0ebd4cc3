/* Tests of tuner/search/resume: searches that stop and go on, on simulated surfaces. */
#include "tests/test.h"
#include "tests/tuner/search/tune_rig.h"
#include "tuner/base/interrupt.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static double third_of_peak_bps(const struct point *point)
{
    return rig_peak_bps(point) / 3;
}

/* Another hill, elsewhere. */
static double turned_bps(const struct point *point)
{
    return 1e18 / rig_peak_bps(point);
}

FIXTURE(enter_all)
{
    if (enter(test_state) != 0)
        return -1;
    rig_simulator("third", "run_cv = 0.02; setup_seconds = 0.05;", third_of_peak_bps);
    rig_simulator("turned", "run_cv = 0.02; setup_seconds = 0.05;", turned_bps);
    return 0;
}

GROUP(enter_all, rig_leave);

/* The search that is there, if there is one. */
static void end_search(void)
{
    if (session != NULL)
        done();
    session = NULL;
}

FIXTURE(fresh_journal)
{
    unlink("j");
    return 0;
}

FIXTURE(leave_search)
{
    end_search();
    return 0;
}

EACH_TEST(fresh_journal, leave_search);

/* As the command does it: the journal is opened before the search is made, and after the last one has ended.
 */
static int begin(void)
{
    end_search();
    memset(&err, 0, sizeof err);
    memset(&tune, 0, sizeof tune);
    session = rig_open_session(&settings);
    int result = prior_open(session, &err);
    if (result == 0)
        result = resume_open(session, &err);
    return result == 0 ? tune_init(&tune, session, &err) : result;
}

static void run_on(void)
{
    if (begin() != 0 || tune_run(&tune, &err) != 0)
        fail_msg("%s", err.text);
    answer_prepare(&answer, &tune);
}

/* A new journal gets a fixed seed; an old one brings its own. */
static void go(const char *simulator, const char *budget, const char *journal)
{
    if (rig_exists(journal))
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", simulator, "--budget", budget,
                     "--resume", journal, NULL);
    else
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", simulator, "--budget", budget,
                     "--resume", journal, "--seed", "3", NULL);
    run_on();
}

static bool has_warning(const char *code)
{
    for (size_t i = 0; i < session->warnings.n; i++) {
        if (strcmp(session->warnings.note[i].code, code) == 0)
            return true;
    }
    return false;
}

static size_t count_confirming(void)
{
    size_t n = 0;
    for (size_t i = 0; i < tune.n_records; i++)
        n += record_count(&tune.records[i], true);
    return n;
}

/* Keeps the first n runs of a journal, and half a line behind them. */
static void cut(const char *name, size_t n)
{
    int fd = -1;
    char *text = NULL;
    size_t size = 0, at = 0;
    assert_int_equal(journal_load(name, 0, &fd, &text, &size, &err), 0);
    close(fd);
    for (size_t i = 0; i <= n; i++) {
        const char *line = text + at;
        at = (size_t)(strchr(line, '\n') - text) + 1;
        i -= strncmp(line, "{\"length\"", 9) == 0; /* what the pilot decided is no run */
    }
    rig_write_bytes(name, text, at + 40);
    free(text);
}

/* Puts a decided length behind the first n runs of a journal. */
static void decide_behind(const char *name, size_t n, const struct journal_length *length)
{
    int fd = -1;
    char *text = NULL, line[256];
    size_t size = 0, at = 0;
    assert_int_equal(journal_load(name, 0, &fd, &text, &size, &err), 0);
    close(fd);
    /* In place of what was decided. */
    char *own = strstr(text, "{\"length\"");
    if (own != NULL) {
        const char *next = strchr(own, '\n') + 1;
        memmove(own, next, strlen(next) + 1);
    }
    for (size_t i = 0; i <= n; i++)
        at = (size_t)(strchr(text + at, '\n') - text) + 1;
    int n_line =
        snprintf(line, sizeof line,
                 "{\"length\":{\"run_ns\":%llu,\"warmup_limit_ns\":%llu,\"warmup_least_ns\":%llu}}\n",
                 (unsigned long long)length->run_ns, (unsigned long long)length->warmup_limit_ns,
                 (unsigned long long)length->warmup_least_ns);
    rig_write(name, "%.*s%.*s%s", (int)at, text, n_line, line, text + at);
    free(text);
}

TEST(a_killed_search_goes_on_with_its_runs)
{
    go("peak.conf", "20s", "j");
    size_t all = session->n_runs;
    uint64_t seed = session->seed;
    assert_int_equal(seed, 3);
    end_search();
    cut("j", 30);
    go("peak.conf", "20s", "j");
    assert_int_equal(session->seed, seed);
    json_t *resumed = resume_json(session);
    assert_int_equal(json_integer_value(json_object_get(resumed, "runs")), 30);
    assert_true(json_is_true(json_object_get(resumed, "agrees")));
    json_decref(resumed);
    assert_true(has_warning("journal_torn"));
    assert_false(has_warning("journal_disagrees"));
    assert_true(session->n_runs > 30 && all > 30);
    assert_true(factors_equal(chosen(), &hill));
    size_t told = 0;
    for (size_t i = 0; i < tune.n_records; i++)
        told += tune.records[i].n;
    assert_int_equal(told, session->n_runs);
    assert_true(answer.confirming);
}

TEST(the_time_already_spent_is_not_spent_again)
{
    go("noisy.conf", "10s", "j");
    double first = session_seconds(session);
    assert_true(first > 7.5);
    cut("j", 40);
    go("noisy.conf", "10s", "j");
    assert_true(session_seconds(session) < 0.7 * first);
    assert_true(answer.confirming);
}

/* Only the confirmation is made again, with replays of this command. */
TEST(a_complete_journal_is_confirmed_again)
{
    go("noisy.conf", "20s", "j");
    size_t before = session->n_runs;
    go("noisy.conf", "20s", "j");
    assert_true(answer.confirming && answer.chosen.replays >= TUNE_CONFIRMING_LEAST);
    assert_true(session_seconds(session) < 0.35 * 20);
    /* What is fresh was made now: 6 replays to check the journal and the baseline that every search
     * begins with; all others are the confirmation. */
    assert_int_equal(session->n_runs - before, count_confirming() + 7);
}

TEST(a_larger_budget_extends_the_search)
{
    go("noisy.conf", "10s", "j");
    uint64_t duration_ns = tune.duration_ns;
    go("noisy.conf", "40s", "j");
    /* Without an extension, the confirmation alone would be left. */
    assert_true(session_seconds(session) > 12 && tune.n_looks > 1);
    assert_int_equal(tune.duration_ns, duration_ns); /* replays of one length */
}

/* The pilot of the first command decided after its first 8 runs; 20 runs of the new length followed. */
TEST(the_length_that_a_pilot_decided_holds_and_its_runs_stay_dropped)
{
    const struct journal_length decided = {80000000, 40000000, 30000000, false};
    go("peak.conf", "20s", "j");
    assert_int_not_equal(tune.duration_ns, decided.run_ns);
    end_search();
    cut("j", 28);
    decide_behind("j", 8, &decided);
    go("peak.conf", "20s", "j");
    assert_int_equal(tune.duration_ns, decided.run_ns);
    assert_int_equal(tune.length.warmup_limit_ns, decided.warmup_limit_ns);
    assert_int_equal(tune.length.warmup_least_ns, decided.warmup_least_ns);
    assert_string_equal(tune.length.why, "as in the journal");
    json_t *resumed = resume_json(session);
    assert_int_equal(json_integer_value(json_object_get(resumed, "runs")), 20);
    json_decref(resumed);
    const struct record *record = &tune.records[tune.chosen];
    const struct sample *newest = &record->samples[record->n - 1];
    assert_true(newest->confirming && newest->seconds >= 0.08 && newest->seconds < 0.1);
    assert_true(newest->warmup_seconds >= 0.03 && newest->warmup_seconds < 0.05);
}

/* What the pilot of this command decides stands in the journal for the next one. */
TEST(the_next_command_goes_on_with_the_length_of_the_pilot)
{
    rig_simulator("rising", "run_cv = 0.02; setup_seconds = 0.05; warmup_seconds = 0.2; warmup_factor = 0.3;",
                  rig_peak_bps);
    go("rising.conf", "60s", "j");
    struct tune_length length = tune.length;
    uint64_t duration_ns = tune.duration_ns;
    assert_true(length.n_discarded > 0 && length.warmup_least_ns > 0);
    go("rising.conf", "80s", "j");
    assert_int_equal(tune.duration_ns, duration_ns);
    assert_int_equal(tune.length.warmup_least_ns, length.warmup_least_ns);
    assert_int_equal(tune.length.warmup_limit_ns, length.warmup_limit_ns);
    assert_false(has_warning("journal_disagrees"));
    assert_int_equal(tune.length.n_discarded, 0);
}

TEST(an_interrupted_search_goes_on)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--resume", "j", NULL);
    assert_int_equal(begin(), 0);
    size_t points[4] = {0, 1, 2, 3};
    assert_int_equal(tune_measure(&tune, points, 4, false, UINT64_MAX, &err), 0);
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(tune_run(&tune, &err), 0);
    atomic_store(&interrupt_signal, 0);
    assert_int_equal(tune.stop, TUNE_STOP_INTERRUPTED);
    go("peak.conf", "60s", "j");
    assert_true(session->n_runs > 4);
    assert_true(factors_equal(chosen(), &hill));
    assert_true(tune.conclusive);
}

TEST(a_changed_file_system_makes_old_runs_prior_knowledge)
{
    rig_simulator("later", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    go("later.conf", "20s", "j");
    size_t before = session->n_runs;
    /* The same name, three times slower. */
    rig_simulator("later", "run_cv = 0.02; setup_seconds = 0.05;", third_of_peak_bps);
    go("later.conf", "40s", "j");
    assert_true(has_warning("journal_disagrees"));
    size_t told = 0;
    for (size_t i = 0; i < tune.n_records; i++)
        told += tune.records[i].n;
    assert_int_equal(told, session->n_runs - before);
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / (2e9 / 3), 1, 0.05);
    assert_true(tune.belief.prior.transfer[0].weight > 0.9);
    /* The next command does not believe them again either. */
    go("later.conf", "40s", "j");
    assert_false(has_warning("journal_disagrees"));
    assert_close(answer.chosen.mean_bps / (2e9 / 3), 1, 0.05);
}

TEST(what_differs_is_named)
{
    static const struct {
        const char *option, *value, *part;
    } cases[] = {
        {"--pattern", "randread", "pattern"},    {"--objective", "latency", "objective"},
        {"--tolerance", "5%", "tolerance"},      {"--simulate", "third.conf", "surface"},
        {"--duration", "1s", "duration_ns"},     {"--seed", "99", "seed"},
        {"--queue-depth", "1,4", "queue_depth"}, {"--cache", "warm", "cache"},
        {"--file-size", "2g", "file_size"},
    };
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--budget", "5s", "--seed",
                 "3", "--resume", "j", NULL);
    run_on();
    for (size_t i = 0; i < RIG_COUNT(cases); i++) {
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--resume", "j",
                     cases[i].option, cases[i].value, NULL);
        if (begin() != -EINVAL || strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s %s: %s", cases[i].option, cases[i].value, err.text);
    }
}

TEST(a_dry_run_makes_no_journal)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--dry-run", "--resume", "j",
                 NULL);
    session = rig_open_session(&settings);
    memset(&tune, 0, sizeof tune);
    assert_int_equal(resume_open(session, &err), 0);
    assert_false(rig_exists("j"));
}

TEST(one_journal_gives_one_answer)
{
    double mean[2];
    go("flat.conf", "10s", "j");
    end_search();
    cut("j", 25);
    assert_int_equal(system("cp j k"), 0);
    for (int i = 0; i < 2; i++) {
        go("flat.conf", "10s", i == 0 ? "j" : "k");
        mean[i] = answer.chosen.mean_bps;
    }
    assert_close(mean[0], mean[1], 0);
}

TEST(a_prior_steers_and_is_not_measured)
{
    go("third.conf", "30s", "j");
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "4", "--prior",
                 "j", NULL);
    run_on();
    assert_int_equal(session->prior->n, 1);
    assert_true(tune.belief.prior.transfer[0].weight > 0.9);
    assert_true(tune.belief.prior.transfer[0].agreement > 0.9);
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / 2e9, 1, 0.05);
    check_bounds();
}

TEST(a_prior_turned_round_does_no_harm)
{
    go("turned.conf", "30s", "j");
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--seed", "4", "--prior",
                 "j", NULL);
    run_on();
    assert_close(tune.belief.prior.transfer[0].weight, 0, 0);
    assert_true(factors_equal(chosen(), &hill));
    assert_true(tune.conclusive);
}

TEST(what_is_no_prior_is_refused)
{
    static const char *const texts[] = {
        "", "nonsense\n", "{\"schema\": \"fstune/plan/1\"}\n",
        "{\"schema\": \"fstune/recommendation/1\", \"points\": []}",
        "{\"schema\": \"fstune/recommendation/1\", \"points\": [{\"mean\": 1}]}"};
    for (size_t i = 0; i < RIG_COUNT(texts); i++) {
        rig_write("no", "%s", texts[i]);
        rig_settings(&settings, "--pattern", "randwrite", "--simulate", "peak.conf", "--prior", "no", NULL);
        assert_int_equal(begin(), -EINVAL);
        assert_non_null(strstr(err.text, "--prior no"));
    }
}
