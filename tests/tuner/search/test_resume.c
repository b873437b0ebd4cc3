/* Tests of tuner/search/resume: searches that stop and go on, on simulated surfaces. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/base/interrupt.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/store/journal.h"

#include <errno.h>

static double third_of_peak_bps(const struct point *point)
{
    return rig_peak_bps(point) / 3;
}

/* Another hill, elsewhere. */
static double turned_bps(const struct point *point)
{
    return 1e18 / rig_peak_bps(point);
}

SEARCHES_ON({"third", "run_cv = 0.02; setup_seconds = 0.05;", third_of_peak_bps},
            {"turned", "run_cv = 0.02; setup_seconds = 0.05;", turned_bps});

/* As the command does it: the journal is opened before the search is made. */
static int open_and_init(const char *simulator_and_options)
{
    given(simulator_and_options);
    open_session();
    int result = prior_open(session, &err);
    if (result == 0)
        result = resume_open(session, &err);
    return result == 0 ? tune_init(&tune, session, &err) : result;
}

static void go_on(const char *simulator_and_options)
{
    if (open_and_init(simulator_and_options) != 0)
        fail_msg("%s", err.text);
    run_on();
}

/* A search with the journal "j". A new journal gets a fixed seed; an old one brings its own. */
static void go(const char *simulator_and_options)
{
    go_on(words("%s --resume j%s", simulator_and_options, rig_exists("j") ? "" : " --seed 3"));
}

/* The same with a new journal; returns how many runs it has then. */
static size_t go_first(const char *simulator_and_options)
{
    done();
    unlink("j");
    go(simulator_and_options);
    return session->n_runs;
}

static size_t count_runs(void)
{
    size_t n = 0;
    for (size_t i = 0; i < tune.n_records; i++)
        n += tune.records[i].n;
    return n;
}

/* How many runs were taken over from the journal, with which those of this command agree. */
static size_t count_resumed(void)
{
    json_t *resumed = resume_json(session);
    assert_true(json_is_true(json_object_get(resumed, "agrees")));
    size_t n = (size_t)json_integer_value(json_object_get(resumed, "runs"));
    json_decref(resumed);
    return n;
}

/* What stands in the journal "j" when its search is over; the caller frees it. */
static char *read_journal(void)
{
    int fd = -1;
    char *text = NULL;
    size_t size = 0;
    done();
    assert_int_equal(journal_load("j", 0, &fd, &text, &size, &err), 0);
    close(fd);
    return text;
}

#define LENGTH "{\"length\"" /* so begins the line that says what the pilot decided */

/* Keeps the first n runs of the journal, and half a line behind them. */
static void cut(size_t n)
{
    size_t at = 0;
    AUTO(auto_free) char *text = read_journal();
    for (size_t i = 0; i <= n; i++) {
        const char *row = text + at;
        at = (size_t)(strchr(row, '\n') - text) + 1;
        i -= strncmp(row, LENGTH, strlen(LENGTH)) == 0; /* this line is no run */
    }
    rig_write_bytes("j", text, at + 40);
}

/* Puts a decided length behind the first n runs of the journal, in place of what its pilot decided. */
static void decide_behind(size_t n, const struct journal_length *length)
{
    size_t at = 0;
    char *text = read_journal(), *own = strstr(text, LENGTH);
    if (own != NULL) {
        const char *next = strchr(own, '\n') + 1;
        memmove(own, next, strlen(next) + 1);
    }
    for (size_t i = 0; i <= n; i++)
        at = (size_t)(strchr(text + at, '\n') - text) + 1;
    rig_write("j", "%.*s" LENGTH ":{\"run_ns\":%llu,\"warmup_limit_ns\":%llu,\"warmup_least_ns\":%llu}}\n%s",
              (int)at, text, (unsigned long long)length->run_ns, (unsigned long long)length->warmup_limit_ns,
              (unsigned long long)length->warmup_least_ns, text + at);
    free(text);
}

TEST(a_killed_search_goes_on_with_its_runs)
{
    size_t all = go_first("peak.conf --budget 20s");
    uint64_t seed = session->seed;
    assert_int_equal(seed, 3);
    cut(30);
    go("peak.conf --budget 20s");
    assert_int_equal(session->seed, seed);
    assert_int_equal(count_resumed(), 30);
    assert_true(is_warned_of("journal_torn"));
    assert_false(is_warned_of("journal_disagrees"));
    assert_true(session->n_runs > 30 && all > 30);
    assert_true(factors_equal(chosen(), &hill));
    assert_int_equal(count_runs(), session->n_runs);
    assert_true(answer.confirming);
}

TEST(the_time_already_spent_is_not_spent_again)
{
    go_first("noisy.conf --budget 10s");
    double first = session_seconds(session);
    assert_true(first > 7.5);
    cut(40);
    go("noisy.conf --budget 10s");
    assert_true(session_seconds(session) < 0.7 * first);
    assert_true(answer.confirming);
}

/* Only the confirmation is made again, with replays of this command. */
TEST(a_complete_journal_is_confirmed_again)
{
    size_t n_confirming = 0, before = go_first("noisy.conf --budget 20s");
    go("noisy.conf --budget 20s");
    assert_true(answer.confirming && answer.chosen.replays >= ENGINE_CONFIRMING_LEAST);
    assert_true(session_seconds(session) < 0.35 * 20);
    for (size_t i = 0; i < tune.n_records; i++)
        n_confirming += count_confirming(i);
    /* What is fresh was made now: 6 replays to check the journal and the baseline that every search
     * begins with; all others are the confirmation. */
    assert_int_equal(session->n_runs - before, n_confirming + 7);
}

TEST(a_larger_budget_extends_the_search)
{
    go_first("noisy.conf --budget 10s");
    uint64_t duration_ns = tune.duration_ns;
    go("noisy.conf --budget 40s");
    /* Without an extension, the confirmation alone would be left. */
    assert_true(session_seconds(session) > 12 && tune.engine.n_looks > 1);
    assert_int_equal(tune.duration_ns, duration_ns); /* replays of one length */
}

/* The pilot of the first command decided after its first 8 runs; 20 runs of the new length followed. */
TEST(the_length_that_a_pilot_decided_holds_and_its_runs_stay_dropped)
{
    const struct journal_length decided = {80000000, 40000000, 30000000, false};
    go_first("peak.conf --budget 20s");
    assert_int_not_equal(tune.duration_ns, decided.run_ns);
    cut(28);
    decide_behind(8, &decided);
    go("peak.conf --budget 20s");
    assert_int_equal(tune.duration_ns, decided.run_ns);
    assert_int_equal(tune.length.warmup_limit_ns, decided.warmup_limit_ns);
    assert_int_equal(tune.length.warmup_least_ns, decided.warmup_least_ns);
    assert_string_equal(tune.length.why, "as in the journal");
    assert_int_equal(count_resumed(), 20);
    const struct record *record = &tune.records[tune.engine.chosen];
    const struct sample *newest = &record->samples[record->n - 1];
    assert_true(newest->confirming && newest->seconds >= 0.08 && newest->seconds < 0.1);
    assert_true(newest->warmup_seconds >= 0.03 && newest->warmup_seconds < 0.05);
}

/* What the pilot of this command decides stands in the journal for the next one. */
TEST(the_next_command_goes_on_with_the_length_of_the_pilot)
{
    rig_simulator("rising", "run_cv = 0.02; setup_seconds = 0.05; warmup_seconds = 0.2; warmup_factor = 0.3;",
                  rig_peak_bps);
    go_first("rising.conf --budget 60s");
    struct tune_length length = tune.length;
    uint64_t duration_ns = tune.duration_ns;
    assert_true(length.n_discarded > 0 && length.warmup_least_ns > 0);
    go("rising.conf --budget 80s");
    assert_int_equal(tune.duration_ns, duration_ns);
    assert_int_equal(tune.length.warmup_least_ns, length.warmup_least_ns);
    assert_int_equal(tune.length.warmup_limit_ns, length.warmup_limit_ns);
    assert_false(is_warned_of("journal_disagrees"));
    assert_int_equal(tune.length.n_discarded, 0);
}

TEST(an_interrupted_search_goes_on)
{
    unlink("j");
    assert_int_equal(open_and_init("peak.conf --resume j"), 0);
    size_t points[4] = {0, 1, 2, 3};
    assert_int_equal(tune_measure(&tune, points, 4, INFINITY, &err), 0);
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(tune_run(&tune, &err), 0);
    atomic_store(&interrupt_signal, 0);
    assert_int_equal(tune.engine.stop, ENGINE_STOP_INTERRUPTED);
    go("peak.conf --budget 60s");
    assert_true(session->n_runs > 4);
    assert_true(factors_equal(chosen(), &hill));
    assert_true(tune.engine.conclusive);
}

TEST(a_changed_file_system_makes_old_runs_prior_knowledge)
{
    rig_simulator("later", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    size_t before = go_first("later.conf --budget 20s");
    /* The same name, three times slower. */
    rig_simulator("later", "run_cv = 0.02; setup_seconds = 0.05;", third_of_peak_bps);
    go("later.conf --budget 40s");
    assert_true(is_warned_of("journal_disagrees"));
    assert_int_equal(count_runs(), session->n_runs - before);
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / (2e9 / 3), 1, 0.05);
    assert_true(tune.engine.belief.prior.transfer[0].weight > 0.9);
    /* The next command does not believe them again either. */
    go("later.conf --budget 40s");
    assert_false(is_warned_of("journal_disagrees"));
    assert_close(answer.chosen.mean_bps / (2e9 / 3), 1, 0.05);
}

TEST(what_differs_is_named)
{
    static const char *const cases[][2] = {
        {"--pattern randread", "pattern"},    {"--objective latency", "objective"},
        {"--tolerance 5%", "tolerance"},      {"third.conf", "surface"},
        {"--duration 1s", "duration_ns"},     {"--seed 99", "seed"},
        {"--queue-depth 1,4", "queue_depth"}, {"--cache warm", "cache"},
        {"--file-size 2g", "file_size"},
    };
    go_first("peak.conf --budget 5s");
    for (size_t i = 0; i < N_OF(cases); i++) {
        const char *surface = strstr(cases[i][0], ".conf") != NULL ? "" : "peak.conf ";
        assert_int_equal(open_and_init(words("%s%s --resume j", surface, cases[i][0])), -EINVAL);
        check_part(err.text, cases[i][1]);
    }
}

/* The journal of a search with loads beside, given to one without. */
TEST(what_only_the_journal_has_differs_too)
{
    static const char *const members[] = {"\"beside\":[\"write:8k\"]",
                                          "\"device_by_id\":\"/dev/disk/by-id/x\""};
    for (size_t i = 0; i < N_OF(members); i++) {
        unlink("j");
        go_first("peak.conf --budget 5s");
        char *journal = read_journal();
        FILE *file = fopen("j", "we");
        assert_non_null(file);
        fprintf(file, "{%s,%s", members[i], journal + 1);
        fclose(file);
        free(journal);
        assert_int_equal(open_and_init(words("peak.conf --resume j")), -EINVAL);
        check_part(err.text, "missing here and ");
    }
}

TEST(a_dry_run_makes_no_journal)
{
    unlink("j");
    given("peak.conf --dry-run --resume j");
    open_session();
    assert_int_equal(resume_open(session, &err), 0);
    assert_false(rig_exists("j"));
}

TEST(one_journal_gives_one_answer)
{
    double mean[2];
    go_first("flat.conf --budget 10s");
    cut(25);
    assert_int_equal(system("cp j k"), 0);
    for (int i = 0; i < 2; i++) {
        go("flat.conf --budget 10s");
        mean[i] = answer.chosen.mean_bps;
        done();
        assert_int_equal(rename(i == 0 ? "k" : "j", "j"), 0);
    }
    assert_close(mean[0], mean[1], 0);
}

TEST(a_prior_steers_and_is_not_measured)
{
    go_first("third.conf --budget 30s");
    go_on("peak.conf --seed 4 --prior j");
    assert_int_equal(session->prior->n, 1);
    assert_true(tune.engine.belief.prior.transfer[0].weight > 0.9);
    assert_true(tune.engine.belief.prior.transfer[0].agreement > 0.9);
    assert_true(factors_equal(chosen(), &hill));
    assert_close(answer.chosen.mean_bps / 2e9, 1, 0.05);
    check_bounds();
}

static size_t pilot_runs_of(size_t point, const char *simulator_and_options, size_t sentinel_runs)
{
    if (open_and_init(simulator_and_options) != 0)
        fail_msg("%s", err.text);
    tune.engine.policy.sentinel_runs = sentinel_runs;
    assert_int_equal(tune_length(&tune, &err), 0);
    return tune.records[point].n;
}

TEST(the_pilot_looks_first_at_what_a_prior_says_is_best)
{
    size_t best, n_met = 0;
    go_first("turned.conf --budget 30s");
    assert_int_equal(open_and_init("peak.conf --prior j"), 0);
    assert_int_equal(engine_known_points(&tune.engine, &best, 1), 1);
    for (unsigned seed = 1; seed <= 4; seed++) {
        size_t n = pilot_runs_of(best, words("peak.conf --seed %u", seed), 0);
        n_met += n > 0;
        assert_true(pilot_runs_of(best, words("peak.conf --prior j --seed %u", seed), 0) > 0);
        /* A night that is to find out whether it still holds does not. */
        assert_int_equal(pilot_runs_of(best, words("peak.conf --prior j --seed %u", seed), 1), n);
    }
    assert_true(n_met < 4);
}

TEST(a_prior_turned_round_does_no_harm)
{
    go_first("turned.conf --budget 30s");
    go_on("peak.conf --seed 4 --prior j");
    assert_close(tune.engine.belief.prior.transfer[0].weight, 0, 0);
    assert_true(factors_equal(chosen(), &hill));
    assert_true(tune.engine.conclusive);
}

TEST(what_is_no_prior_is_refused)
{
    static const char *const texts[] = {
        "", "nonsense\n", "{\"schema\": \"fstune/plan/1\"}\n",
        "{\"schema\": \"fstune/recommendation/1\", \"points\": []}",
        "{\"schema\": \"fstune/recommendation/1\", \"points\": [{\"mean\": 1}]}"};
    for (size_t i = 0; i < N_OF(texts); i++) {
        rig_write("no", "%s", texts[i]);
        assert_int_equal(open_and_init("peak.conf --prior no"), -EINVAL);
        check_part(err.text, "--prior no");
    }
}
