/* Tests of tuner/search/tune_transient: starts that are alike are taken off, and all others are waited out.
 */
#include "models/statistics/line.h"
#include "tests/tuner/search/tune_rig.h"
#include "tuner/search/resume.h"
#include "tuner/store/save.h"

static double tenth_bps(const struct point *point)
{
    return rig_peak_bps(point) / 10;
}

/* Twelve points for random reads, all direct: the default is not among them. */
static void reading_simulator(void)
{
    static const unsigned sizes[] = {4096, 16384, 65536, 262144}, depths[] = {1, 4, 16};
    char rows[1024] = "";
    for (size_t i = 0, n = 0; i < 12; i++)
        n += (size_t)snprintf(rows + n, sizeof rows - n, "randread,%u,%u,1,io_uring,1,%u\n", sizes[i % 4],
                              depths[i / 4], 50000000 + 10000000 * (unsigned)i);
    rig_write("reads.csv", "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n%s", rows);
    rig_write("reads.conf",
              "name = \"reads\"; points = \"reads.csv\"; noise = { run_cv = 0.02; setup_seconds = 0.005; "
              "warmup_seconds = 0.1; warmup_factor = 3.0; };\n");
}

SEARCHES_ON({"fast_start", "run_cv = 0.02; setup_seconds = 0.005; warmup_seconds = 0.1; warmup_factor = 3.0;",
             tenth_bps},
            {"wild_start", "run_cv = 0.5; setup_seconds = 0.05; warmup_seconds = 0.1; warmup_factor = 3.0;",
             rig_flat_bps},
            {"slow_start", "run_cv = 0.02; setup_seconds = 0.005; warmup_seconds = 0.1; warmup_factor = 0.3;",
             tenth_bps},
            {"long_start",
             "run_cv = 0.02; op_cv = 1.0; setup_seconds = 2.0; warmup_seconds = 0.1; warmup_factor = 3.0;",
             tenth_bps},
            {"steady", "run_cv = 0.02; setup_seconds = 0.005;", tenth_bps});

#define SEED_1 " --budget 60s --seed 1"

/* Text of the warning; "" where there is none. */
static const char *warning(const char *code)
{
    const struct note *note = find_note(&session->warnings, code);
    return note != NULL ? note->text : "";
}

static bool has_no_warmup(size_t point)
{
    return measure_writes_once(&settings.workload.pattern, &tune.records[point].point);
}

/* Mean over points of the log of what their replays say by what is true. */
static double mean_error(void)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < tune.n_records; i++) {
        if (tune.records[i].n == 0)
            continue;
        sum += record_log_moments(&tune.records[i], false).mean - log(tenth_bps(&tune.records[i].point));
        n++;
    }
    assert_true(n >= 6);
    return sum / (double)n;
}

TEST(replays_of_the_pilot_are_freed_from_alike_starts)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        pilot(words("fast_start.conf --budget 60s --seed %u", seed));
        assert_true(tune.length.start.taken_off);
        assert_true(tune.length.warmup_least_ns >= 50000000);
        assert_int_equal(tune.duration_ns, MEASURE_MIN_DURATION_NS);
        /* They stay replays, and what a run of the search costs is without the wait. */
        assert_true(session->n_runs - tune.length.n_discarded > TUNE_LENGTH_POINTS + 3);
        assert_true(tune.engine.run_seconds * 1e9 < (double)tune.length.warmup_least_ns);
        assert_close(mean_error(), 0, 0.05);
        /* What the belief was told before is told anew. */
        for (size_t k = 0; k < tune.space.n_points; k++) {
            if (tune.records[k].n > 0)
                assert_close(tune.engine.belief.moments[k].mean,
                             record_log_moments(&tune.records[k], false).mean, 1e-9);
        }
    }
}

/* It is over all requests, over those that tuner/session/initial_transient left out as well. */
TEST(mean_latencies_of_buffered_writes_are_freed_too)
{
    size_t n_trimmed = 0;
    for (unsigned seed = 1; seed <= 4; seed++) {
        double sum = 0;
        search(words("fast_start.conf --budget 60s --seed %u", seed));
        const struct record *record = &tune.records[tune.engine.baseline];
        double settled_ns = 1e9 * (double)record->point.request_size_bytes / tenth_bps(&record->point);
        for (size_t k = 0; k < record->n; k++) {
            const struct sample *sample = &record->samples[k];
            sum += sample->confirming ? log(sample->latency_mean_ns / settled_ns) : 0;
            n_trimmed += sample->confirming && sample->trimmed_seconds > 0;
        }
        assert_close(sum / (double)record_count(record, true), 0, 0.05);
    }
    assert_true(n_trimmed >= 5);
}

/* The same surface, with runs as short, where the start is not looked for. */
TEST(without_that_they_are_far_too_fast)
{
    search("fast_start.conf --budget 60s --seed 1 --duration 50ms --warmup-limit 10ms");
    assert_false(tune.length.start.taken_off);
    assert_true(mean_error() > 0.4);
}

TEST(starts_slower_than_the_rest_are_taken_off_too)
{
    pilot("slow_start.conf" SEED_1);
    assert_true(tune.length.start.taken_off);
    assert_true(tune_transient_ratio(&tune) < 0.8);
    assert_close(mean_error(), 0, 0.1);
}

/* Fewer than ten requests by each slot of the queue in the shortest run, at the settled rate. */
static bool has_few_rounds(size_t i)
{
    const struct point *point = &tune.records[i].point;
    double requests = tenth_bps(point) * (double)tune.duration_ns / 1e9 / (double)point->request_size_bytes;
    return fmax(requests, MEASURE_MIN_REQUESTS) < 10 * point->queue_depth * point->threads;
}

/* Every queue turns over once before it counts, also where no start is waited for. */
static double turnover_seconds(size_t i)
{
    const struct point *point = &tune.records[i].point;
    return (double)factors_bytes_in_flight(point) / tenth_bps(point);
}

/* Replays of the search do not wait, but where rounds are few, and those after the choice do; returns how
 * many of the latter there are. The first of the pilot knew nothing of a start, and may have warmed up for as
 * long as they measured. */
static size_t check_waits(void)
{
    double least = (double)tune.length.warmup_least_ns / 1e9, shortest = (double)tune.duration_ns / 1e9;
    double settling = least / LINE_MARGIN;
    size_t n_confirming = 0, n_long = 0;
    for (size_t i = 0; i < tune.n_records; i++) {
        for (size_t k = 0; k < tune.records[i].n; k++) {
            const struct sample *sample = &tune.records[i].samples[k];
            double waited = sample->warmup_seconds - sample->trimmed_seconds - turnover_seconds(i);
            bool waits = sample->confirming || has_few_rounds(i);
            n_confirming += sample->confirming;
            bool unknown = k == 0 && MEASURE_MIN_REQUESTS < 10 * tune.records[i].point.queue_depth;
            n_long += !waits && !unknown && waited > 0.03;
            if (has_no_warmup(i))
                assert_true(waited < 0.01 && (!waits || sample->seconds > 1.2 * shortest));
            else if (waits)
                assert_true(waited + turnover_seconds(i) >= (sample->confirming ? least : settling - 1e-9));
            else
                assert_true(unknown || waited < 0.06);
        }
    }
    assert_true(n_long <= 2);
    return n_confirming;
}

TEST(a_search_finds_the_best_and_tells_its_settled_rate)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        search(words("fast_start.conf --budget 60s --seed %u", seed));
        assert_true(tune.length.start.taken_off);
        assert_true(tenth_bps(chosen()) >= 0.95 * tenth_bps(&hill));
        assert_true(record_count(&tune.records[tune.engine.chosen], true) >= ENGINE_CONFIRMING_LEAST);
        assert_true(answer.confirming);
        double told = exp(record_log_moments(&tune.records[tune.engine.chosen], true).mean);
        assert_close(told / tenth_bps(chosen()), 1, 0.05);
        assert_close(mean_error(), 0, 0.05);
    }
}

TEST(only_few_rounds_and_replays_after_the_choice_wait)
{
    search("fast_start.conf" SEED_1);
    assert_true(check_waits() >= 2 * ENGINE_CONFIRMING_LEAST);
    /* What these cost is nothing to expect of a run of the search. */
    assert_true(tune.engine.run_seconds * 1e9 < (double)tune.length.warmup_least_ns);
    assert_true(has_no_warmup(tune.engine.baseline));
    double told = exp(record_log_moments(&tune.records[tune.engine.baseline], true).mean);
    assert_close(told / tenth_bps(&tune.records[tune.engine.baseline].point), 1, 0.05);
}

TEST(a_start_is_no_burst_that_ended)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct sustained_verdict verdict;
        size_t n_confirming = 0;
        search(words("fast_start.conf --budget 60s --seed %u", seed));
        for (size_t k = 0; k < tune.n_records; k++)
            n_confirming += k != tune.engine.counterpart ? record_count(&tune.records[k], true) : 0;
        assert_int_equal(tune.sustained.n, n_confirming);
        assert_int_equal(sustained_judge(&tune.sustained, tune.engine.chosen, false, &verdict), 0);
        assert_false(verdict.burst);
        assert_string_equal(warning("burst_ended"), "");
        assert_string_equal(warning("rate_changed"), "");
    }
}

/* Nothing settles among equal points that scatter so much: the search takes all the time there is. */
TEST(the_budget_is_kept_whatever_the_replays_wait_for)
{
    size_t n_confirming = 0;
    for (unsigned seed = 5; seed <= 8; seed++) {
        search(words("wild_start.conf --budget 60s --seed %u", seed));
        assert_true(tune.length.start.taken_off);
        assert_int_equal(tune.engine.stop, ENGINE_STOP_BUDGET);
        assert_true(session_seconds(session) > 0.9 * 60 && session_seconds(session) <= 60);
        n_confirming += record_count(&tune.records[tune.engine.chosen], true);
    }
    assert_true(n_confirming >= 4 * 2 * (size_t)ENGINE_CONFIRMING_LEAST);
}

/* --- waited out --- */

/* That each replay with a warm-up had one as long as the start. */
static void check_waited_out(void)
{
    size_t n = 0;
    assert_false(tune.length.start.taken_off);
    assert_true(tune.length.start.n_runs >= 3);
    assert_true(tune.length.warmup_least_ns >= 50000000);
    assert_string_equal(warning("start_taken_off"), "");
    assert_close(tune_transient_ratio(&tune), 1, 0);
    for (size_t i = 0; i < tune.n_records; i++) {
        for (size_t k = 0; k < tune.records[i].n && !has_no_warmup(i); k++) {
            assert_true(tune.records[i].samples[k].warmup_seconds * 1e9 >=
                        (double)tune.length.warmup_least_ns);
            n++;
        }
    }
    assert_true(n >= 3);
}

TEST(what_cannot_be_freed_from_starts_waits_for_them)
{
    static const char *const options[] = {"--max-latency-p99 10s", "--profiles", "--profile balanced",
                                          "--objective iops", "--objective latency --request-size 16k"};
    for (size_t i = 0; i < N_OF(options); i++) {
        pilot(words("fast_start.conf" SEED_1 " %s", options[i]));
        check_waited_out();
    }
}

/* Other searches read its runs, and know nothing of a start. */
TEST(runs_that_are_kept_elsewhere_wait)
{
    static const char *const options[] = {"--resume journal", "--save history.db"};
    for (size_t i = 0; i < N_OF(options); i++) {
        given(words("fast_start.conf" SEED_1 " %s", options[i]));
        open_session();
        if (resume_open(session, &err) != 0 || save_open(session, &err) != 0)
            fail_msg("%s", err.text);
        save_begin(session, "recommend");
        assert_int_equal(tune_init(&tune, session, &err), 0);
        assert_int_equal(tune_length(&tune, &err), 0);
        check_waited_out();
    }
}

/* A run that shows its start cannot be told from one that is hopeless. */
TEST(runs_within_their_start_are_not_cut)
{
    struct measure_plan plan = {
        .warmup_limit_ns = 400000000, .warmup_least_ns = 150000000, .hopeless_bps = 1};
    pilot("fast_start.conf" SEED_1);
    tune_transient_plan(&tune, 0, false, &plan);
    assert_close(plan.hopeless_bps, 0, 0);
    assert_int_equal(plan.warmup_limit_ns, TUNE_LENGTH_WARMUP_NS);
    assert_int_equal(plan.warmup_least_ns, 0);
}

/* --- what the user is told --- */

TEST(the_ratio_is_that_of_the_shortest_runs)
{
    pilot("steady.conf" SEED_1);
    assert_close(tune_transient_ratio(&tune), 1, 0);
    assert_string_equal(warning("start_taken_off"), "");
    pilot("fast_start.conf" SEED_1);
    double seconds = (double)tune.duration_ns / 1e9;
    assert_true(tune_transient_ratio(&tune) > 1.3);
    assert_close(tune_transient_ratio(&tune), 1 + 2 * (1 - exp(-30 * seconds)) / (30 * seconds), 0.1);
}

TEST(a_start_that_was_taken_off_is_told)
{
    pilot("fast_start.conf" SEED_1);
    check_part(warning("start_taken_off"), words("runs start at %.2f times", tune_transient_ratio(&tune)));
    assert_non_null(strstr(warning("start_taken_off"), "buffered writes, which have no warm-up"));
}

/* Where set-up is dear and requests scatter, runs are longer than the pilot's. */
TEST(what_is_told_is_about_the_length_that_was_chosen)
{
    pilot("long_start.conf --budget 30m --seed 6");
    assert_true(tune.length.start.taken_off);
    assert_true(tune.duration_ns > 80000000 && tune_transient_ratio(&tune) < 1.8);
    check_part(warning("start_taken_off"), words("runs start at %.2f times", tune_transient_ratio(&tune)));
    assert_close(mean_error(), 0, 0.1);
}

TEST(of_reads_nothing_is_said_about_buffered_writes)
{
    reading_simulator();
    search("reads.conf --pattern randread --budget 60s --seed 1");
    assert_true(tune.length.start.taken_off);
    assert_non_null(strstr(warning("start_taken_off"), "wait for it"));
    assert_null(strstr(warning("start_taken_off"), "buffered"));
}
