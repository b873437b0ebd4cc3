/* Tests of models/online/online, on loads whose rates are known. */
#include "models/online/online.h"
#include "tests/models/online/latencies.h"
#include "tests/test.h"

#define READS  0U /* kinds: any two */
#define WRITES 3U
#define NOISE  0.03
#define SLICE  0.05 /* seconds */
#define MS     1000000U

/* The rates of three settings, over the first one's, for each of two kinds. */
static struct {
    double rate[2][3];
    bool forbidden; /* the third setting */
    uint64_t random;
    double drift;       /* of all rates, for each slice */
    unsigned n_slow[3]; /* by setting: of the 100 requests of a slice, those that take 10 ms instead of 1 */
    double seconds;     /* that have passed */
    struct online online;
    uint64_t n_run[3];
    struct online_setting watched;
    uint64_t n_watched; /* slices that ran it */
} load;

static struct fst_space *space_of(void *context, unsigned kind)
{
    (void)context;
    (void)kind;
    static const double two[] = {0, 1}, three[] = {0, 1, 2};
    struct fst_space *space = fst_space_new();
    fst_space_add_levels(space, "setting", three, 3);
    fst_space_add_choices(space, "nothing", 2);
    fst_space_add_levels(space, "either", two, 2);
    return space;
}

static bool may_use(void *context, const struct online_setting *setting)
{
    (void)context;
    return setting->values[0] < 2 || !load.forbidden;
}

static void begin(double regret_share, bool dry_run)
{
    struct online_options options = {.regret_share = regret_share,
                                     .dry_run = dry_run,
                                     .n_factors = 3,
                                     .is_timed = true,
                                     .seed = 1,
                                     .space = space_of,
                                     .may_use = may_use};
    load.random = 1;
    load.drift = 0;
    load.seconds = 0;
    load.watched.values[0] = -1;
    load.n_watched = 0;
    memset(load.n_slow, 0, sizeof(load.n_slow));
    load.forbidden = false;
    memset(load.n_run, 0, sizeof(load.n_run));
    online_init(&load.online, &options);
}

FIXTURE(tear_down)
{
    online_done(&load.online);
    return 0;
}

EACH_TEST(NULL, tear_down);

/* Nearly normal, with the noise's standard deviation. */
static double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        load.random = load.random * 6364136223846793005ULL + 1442695040888963407ULL;
        sum += (double)(load.random >> 11) / 9007199254740992.0;
    }
    return NOISE * (sum - 6);
}

static bool is_watched(const struct online_setting *setting)
{
    double difference = 0;
    for (size_t i = 0; i < ONLINE_FACTORS; i++)
        difference += fabs(setting->values[i] - load.watched.values[i]);
    return difference < 0.5;
}

static struct online_slice slice_of(unsigned kind, struct online_setting setting, double bps)
{
    struct online_slice slice = {.kind = kind,
                                 .setting = setting,
                                 .n_bytes = (uint64_t)(bps * SLICE),
                                 .seconds = SLICE,
                                 .end_seconds = load.seconds += SLICE,
                                 .is_whole = true};
    unsigned n_slow = load.n_slow[(unsigned)setting.values[0]];
    latencies_add(&slice.latencies, MS, 100 - n_slow);
    latencies_add(&slice.latencies, 10 * MS, n_slow);
    return slice;
}

static void think(void)
{
    struct online_thought thought;
    while (online_thought_take(&load.online, &thought)) {
        online_think(&thought);
        online_thought_give(&load.online, &thought);
    }
}

/* n slices of a kind, as the disk would make them. */
static void run(unsigned kind, size_t n)
{
    static struct online_setting next;
    next = online_running(&load.online);
    for (size_t i = 0; i < n; i++) {
        unsigned which = (unsigned)next.values[0];
        double bps = 1e9 * load.rate[kind == WRITES][which] * exp(noise() + load.drift * (double)i);
        struct online_slice slice = slice_of(kind, next, bps);
        load.n_run[which]++;
        load.n_watched += is_watched(&next);
        next = online_next(&load.online, &slice);
        think();
    }
}

static void set_rates(double read1, double read2, double write1, double write2)
{
    load.rate[0][0] = load.rate[1][0] = 1;
    load.rate[0][1] = read1;
    load.rate[0][2] = read2;
    load.rate[1][1] = write1;
    load.rate[1][2] = write2;
}

static double running(void)
{
    return online_running(&load.online).values[0];
}

TEST(each_kind_gets_its_own_setting_and_at_once_when_it_returns)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 0.5, 2);
    run(READS, 20000);
    assert_close(running(), 1, 0);
    run(WRITES, 20000);
    assert_close(running(), 2, 0);
    run(READS, 2);
    assert_close(running(), 1, 0);
    run(WRITES, 2);
    assert_close(running(), 2, 0);
    assert_close(load.online.mind[READS].gain, 1.5, 0.1);
}

TEST(nothing_changes_where_nothing_is_faster)
{
    begin(0.03, false);
    set_rates(1, 0.9, 1, 1);
    run(READS, 20000);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
}

TEST(trials_cost_no_more_than_they_may)
{
    begin(0.03, false);
    set_rates(0.01, 0.02, 1, 1);
    for (size_t i = 0; i < 200; i++) {
        run(READS, 50);
        assert_true(load.online.regret_bytes <= 0.03 * load.online.served_bytes);
    }
    assert_true(load.online.regret_bytes > 0);
    assert_close(running(), 0, 0);
}

TEST(a_slow_drift_of_all_rates_chooses_nothing)
{
    begin(0.03, false);
    set_rates(1, 1, 1, 1);
    load.drift = 0.001;
    run(READS, 3000);
    assert_close(running(), 0, 0);
}

TEST(a_dry_run_and_a_freeze_try_nothing)
{
    begin(0.03, true);
    set_rates(2, 2, 2, 2);
    run(READS, 1000);
    assert_int_equal(load.n_run[1] + load.n_run[2], 0);
    assert_int_equal(load.online.mind[READS].n_slices, 999);
    online_done(&load.online);
    begin(0.03, false);
    online_freeze(&load.online);
    run(READS, 1000);
    assert_int_equal(load.n_run[1] + load.n_run[2], 0);
}

TEST(a_setting_that_cannot_be_taken_is_not_tried_and_not_run)
{
    begin(0.03, false);
    load.forbidden = true;
    set_rates(1.2, 3, 1, 1);
    run(READS, 20000);
    assert_int_equal(load.n_run[2], 0);
    assert_close(running(), 1, 0);
}

TEST(a_trial_ends_when_its_setting_cannot_be_taken_any_more)
{
    begin(0.5, false);
    set_rates(1, 2, 1, 1);
    for (size_t i = 0; i < 2000 && load.online.tried.values[0] < 2; i++)
        run(READS, 1);
    load.online.step = ONLINE_TRYING;
    load.forbidden = true;
    struct online_slice late = {.kind = READS, .n_bytes = 1 << 20, .seconds = SLICE, .is_whole = true};
    assert_close(load.online.tried.values[0], 2, 0);
    assert_true(online_next(&load.online, &late).values[0] < 2);
}

TEST(what_is_remembered_runs_at_once_and_is_given_up_when_it_is_slower_by_now)
{
    begin(0.03, false);
    set_rates(1.5, 1, 1, 1);
    struct online_setting best = {{1}};
    online_remember(&load.online, READS, &best, 1.5);
    run(READS, 2);
    assert_close(running(), 1, 0);
    run(READS, 5000);
    assert_close(running(), 1, 0);
    set_rates(0.5, 1, 1, 1);
    run(READS, 5000);
    assert_close(running(), 0, 0);
}

TEST(slices_whose_writes_are_not_flushed_begin_no_trial)
{
    begin(0.03, false);
    for (size_t i = 0; i < 1000; i++) {
        struct online_slice slice = {.kind = WRITES, .n_bytes = 1 << 20, .seconds = SLICE};
        assert_close(online_next(&load.online, &slice).values[0], 0, 0);
    }
    assert_int_equal(load.online.n_trials, 0);
}

TEST(a_pin_runs_whatever_the_load)
{
    struct online_setting pinned = {{2}};
    begin(0.03, false);
    set_rates(1, 0.1, 1, 0.1);
    online_pin(&load.online, &pinned);
    run(READS, 100);
    run(WRITES, 100);
    assert_int_equal(load.n_run[2], 200);
    online_pin(&load.online, NULL);
    assert_close(running(), 0, 0);
}

TEST(a_tried_slice_that_goes_badly_ends_early)
{
    begin(0.03, false);
    load.online.step = ONLINE_TRYING;
    load.online.before_bps = 1e6;
    load.online.before_seconds = 0.5;
    assert_true(online_should_end(&load.online, 16, 10000, 0.1));
    assert_false(online_should_end(&load.online, 15, 10000, 0.1));
    assert_true(online_should_end(&load.online, 1, 10000, 0.6));
    assert_false(online_should_end(&load.online, 16, 600000, 1));
}

TEST(what_is_forgotten_while_it_is_thought_about_stays_forgotten)
{
    struct online_thought thought;
    struct online_slice slice = {.kind = READS, .n_bytes = 1 << 20, .seconds = SLICE, .is_whole = true};
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    for (size_t i = 0; i < 3; i++)
        online_next(&load.online, &slice);
    assert_true(online_thought_take(&load.online, &thought));
    assert_false(online_thought_take(&load.online, &thought));
    online_forget(&load.online);
    online_think(&thought);
    assert_false(online_thought_give(&load.online, &thought));
    assert_null(load.online.mind[READS].search);
    assert_false(load.online.mind[READS].has_run);
}

TEST(a_setting_that_is_faster_and_makes_requests_wait_is_not_taken)
{
    begin(0.03, false);
    set_rates(2, 0.5, 1, 1);
    load.n_slow[1] = 5;
    run(READS, 20000);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused > 0);
}

/* As with a queue: what the tried setting delays ends after its slice. */
static void run_with_late(size_t n, unsigned n_late)
{
    struct online_setting next = online_running(&load.online);
    bool was_tried = false;
    for (size_t i = 0; i < n; i++) {
        struct online_slice slice = slice_of(READS, next, 1e9 * load.rate[0][(unsigned)next.values[0]]);
        if (was_tried)
            latencies_add(&slice.late_tried, 100 * MS, n_late);
        was_tried = next.values[0] > 0 && !online_is_same(&next, &load.online.mind[READS].best);
        slice.n_tried_under_way = was_tried ? n_late : 0;
        next = online_next(&load.online, &slice);
        think();
    }
}

TEST(what_a_setting_delays_beyond_its_slice_refuses_it)
{
    begin(0.03, false);
    set_rates(2, 0.5, 1, 1);
    run_with_late(20000, 4);
    assert_true(load.online.mind[READS].is_settled);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused > 0);
}

TEST(a_trial_is_judged_when_its_requests_are_over)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    while (load.online.step != ONLINE_AFTER)
        run(READS, 1);
    uint64_t n_trials = load.online.n_trials;
    struct online_slice slice = slice_of(READS, load.online.options.first, 1e9);
    slice.n_tried_under_way = 1;
    online_next(&load.online, &slice);
    assert_int_equal(load.online.n_trials, n_trials);
    slice.n_tried_under_way = 0;
    online_next(&load.online, &slice);
    assert_int_equal(load.online.n_trials, n_trials + 1);
}

/* Four trials, where nobody times requests. */
TEST(a_comparison_without_latencies_is_short)
{
    struct online_setting best = {{1}};
    begin(0.5, false);
    load.online.options.is_timed = false;
    set_rates(2, 1, 1, 1);
    online_remember(&load.online, READS, &best, 2);
    run(READS, 150);
    assert_in_range(load.online.n_trials, 4, 6);
    assert_true(load.online.mind[READS].next_check > 200);
}

/* What is remembered of a machine with less memory, say. */
TEST(a_best_that_cannot_be_used_now_is_not_compared)
{
    struct online_setting best = {{2}};
    begin(0.5, false);
    set_rates(1, 2, 1, 1);
    load.forbidden = true;
    online_remember(&load.online, READS, &best, 2);
    run(READS, 500);
    assert_int_equal(load.online.n_trials, 0);
    assert_close(load.online.mind[READS].gain, 2, 0);
}

TEST(the_next_best_that_makes_nobody_wait_is_taken)
{
    begin(0.03, false);
    set_rates(1.3, 2, 1, 1);
    load.n_slow[2] = 10;
    run(READS, 20000);
    assert_close(running(), 1, 0);
    assert_true(load.online.n_refused > 0);
}

TEST(waits_that_all_settings_have_refuse_none)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    for (size_t i = 0; i < 3; i++)
        load.n_slow[i] = 5;
    run(READS, 20000);
    assert_close(running(), 1, 0);
    assert_int_equal(load.online.n_refused, 0);
}

TEST(a_setting_that_makes_requests_wait_by_now_is_given_up_and_not_tried_again)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    run(READS, 3000);
    assert_close(running(), 1, 0);
    load.n_slow[1] = 3;
    run(READS, 1000);
    assert_close(running(), 0, 0);
    assert_true(load.online.n_refused >= 1);
    load.watched = load.online.mind[READS].slow;
    run(READS, 3000);
    assert_int_equal(load.n_watched, 0);
}

TEST(a_best_that_makes_many_requests_wait_is_given_up_at_once)
{
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    run(READS, 3000);
    for (int i = 0; i < 100 && load.online.mind[READS].n_slices + 100 > load.online.mind[READS].next_check;
         i++)
        run(READS, 50);
    assert_close(running(), 1, 0);
    load.n_slow[1] = 50;
    run(READS, 20);
    assert_close(running(), 0, 0);
}

TEST(what_is_remembered_and_makes_requests_wait_is_given_up)
{
    struct online_setting best = {{1}};
    begin(0.03, false);
    set_rates(1.5, 0.5, 1, 1);
    load.n_slow[1] = 5;
    online_remember(&load.online, READS, &best, 1.5);
    run(READS, 1000);
    assert_close(running(), 0, 0);
    online_forget(&load.online);
    assert_false(load.online.mind[READS].has_slow);
}

TEST(a_trial_ends_early_when_an_eighth_of_its_requests_are_slow)
{
    struct latency_counts latencies = {0};
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    assert_true(online_slow_ns(&load.online) == UINT64_MAX);
    run(READS, 30);
    load.online.step = ONLINE_TRYING;
    load.online.is_check = false;
    assert_in_range(online_slow_ns(&load.online), 15 * MS / 10, 17 * MS / 10);
    latencies_add(&latencies, 3 * MS, 7);
    latencies_add(&latencies, MS, 9);
    assert_false(online_waits_too_long(&load.online, &latencies));
    latencies_add(&latencies, 3 * MS, 1);
    assert_true(online_waits_too_long(&load.online, &latencies));
    load.online.step = ONLINE_IDLE;
    assert_false(online_waits_too_long(&load.online, &latencies));
}

TEST(a_trial_that_ends_for_its_waits_proves_no_gain)
{
    begin(0.5, false);
    load.n_slow[1] = load.n_slow[2] = 13;
    run(READS, 10);
    const struct online_mind *mind = &load.online.mind[READS];
    unsigned n_slow = 0;
    for (size_t trial = 0; trial < 8; trial++) {
        struct online_setting next = online_running(&load.online);
        for (size_t i = 0; i < 10 && !mind->is_due; i++) {
            struct online_slice slice = slice_of(READS, next, next.values[0] > 0 ? 2e9 : 1e9);
            next = online_next(&load.online, &slice);
        }
        assert_true(mind->is_due);
        assert_close(mind->thought.value, 1, 1e-6);
        n_slow += load.online.tried.values[0] > 0;
        think();
    }
    assert_true(n_slow > 0);
}

TEST(nothing_is_tried_before_the_usual_latencies_are_known)
{
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    run(READS, 2);
    assert_int_equal(load.n_run[0], 2);
    assert_int_equal(load.online.mind[READS].usual.total, 100);
    run(READS, 1);
    assert_int_equal(load.online.step, ONLINE_IDLE);
    run(READS, 20);
    assert_true(load.online.n_trials > 0);
}

/* Reads and writes take turns, of some 6 seconds each, and something is always tried. Returns how many trials
 * were dropped. */
static uint64_t take_turns(size_t n, double jitter)
{
    uint64_t before = load.online.n_dropped;
    for (size_t i = 0; i < n; i++) {
        unsigned kind = i % 2 == 0 ? READS : WRITES;
        load.online.mind[kind].is_settled = false;
        run(kind, (size_t)(120 * exp(jitter / NOISE * noise())));
    }
    return load.online.n_dropped - before;
}

TEST(nothing_is_tried_where_the_next_phase_is_foreseen)
{
    struct phases_forecast next;
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    uint64_t n_unforeseen = take_turns(16, 0.02);
    assert_true(phases_foresee(&load.online.phases, &next));
    uint64_t n_trials = load.online.n_trials, n_foreseen = take_turns(100, 0.02);
    assert_true(n_unforeseen >= 5);
    assert_true(n_foreseen <= 5);
    assert_true(load.online.n_trials > n_trials + 100 * 20);
    online_forget(&load.online);
    assert_false(phases_foresee(&load.online.phases, &next));
}

TEST(phases_of_any_length_end_in_the_midst_of_trials)
{
    struct phases_forecast next;
    begin(0.5, false);
    set_rates(1, 1, 1, 1);
    take_turns(16, 0.7);
    assert_true(take_turns(100, 0.7) >= 30);
    assert_false(phases_foresee(&load.online.phases, &next));
}

/* A tenth of a minute's work is lost by two changes as long as the last one. */
TEST(a_trial_waits_until_its_changes_can_be_paid)
{
    begin(0.05, false);
    set_rates(2, 3, 1, 1);
    run(READS, 15);
    struct online_slice slice = {
        .n_bytes = (uint64_t)(1e9 * SLICE), .seconds = SLICE, .switch_seconds = 3, .is_whole = true};
    online_next(&load.online, &slice);
    run(READS, 200);
    assert_int_equal(load.online.n_trials, 0);
    run(READS, 3000);
    assert_true(load.online.n_trials > 0);
}

/* A trial that stood for a second lost twenty slices: the next one waits until as much can be paid again. */
TEST(after_a_trial_that_stalled_the_next_ones_wait_longer)
{
    begin(0.1, false);
    set_rates(1, 1, 1, 1);
    while (load.online.step != ONLINE_TRYING ||
           online_is_same(&load.online.tried, &load.online.options.first))
        run(READS, 1);
    struct online_slice slice = slice_of(READS, load.online.tried, 1e9);
    slice.n_bytes = 1;
    slice.seconds = 20 * SLICE;
    online_next(&load.online, &slice);
    uint64_t n_trials = load.online.n_trials;
    run(READS, 300);
    assert_in_range(load.online.n_trials - n_trials, 0, 2);
    run(READS, 3000);
    assert_true(load.online.n_trials > n_trials + 50);
    assert_true(load.online.regret_bytes < 0.1 * load.online.served_bytes);
}

TEST(the_share_is_kept_over_the_window_that_is_asked_for)
{
    begin(0.05, false);
    set_rates(2, 3, 1, 1);
    load.online.options.window_seconds = 10 * SLICE;
    run(READS, 300);
    assert_int_equal(load.online.n_trials, 0);
    begin(0.2, false);
    load.online.options.window_seconds = 10 * SLICE;
    run(READS, 300);
    assert_true(load.online.n_trials > 0);
}
