/* A program that has nothing but fstune.h, and measures as the command does, decides as the command does: it
 * makes the same runs in the same order, and gives the same answer to the last bit. Here over the recorded
 * surfaces, at several noises and budgets; runs have a given length, since only the command has a pilot. */
#include "models/library/fstune.h"
#include "tests/tuner/search/tune_rig.h"

#include <limits.h>
#include <unistd.h>

#define MOST_RUNS     4096
#define SEARCH_STREAM 2 /* of the seed: that of the command's search; its runs draw from others */
/* What the command takes for searches. */
#define GRACE_SECONDS  3
#define FASTEST_MARGIN 0.03

FIXTURE(enter_surfaces)
{
    char root[PATH_MAX], surfaces[PATH_MAX + 32];
    if (getcwd(root, sizeof root) == NULL || rig_enter(test_state) != 0)
        return -1;
    snprintf(surfaces, sizeof surfaces, "%s/configs/surfaces", root);
    return symlink(surfaces, "surfaces");
}

SEARCHES(enter_surfaces);

/* The settings that were run, in order. */
static struct {
    struct point settings[MOST_RUNS];
    bool confirming[MOST_RUNS];
    size_t n;
} made;

static void note_run(struct tune *searching, size_t point, bool confirming)
{
    assert_true(made.n < MOST_RUNS);
    made.settings[made.n] = searching->records[point].point;
    made.confirming[made.n++] = confirming;
}

/* --- the program --- */

/* Its settings are named as fstune.h wants them. */
enum { SIZE, DEPTH, THREADS, DIRECT, API, SYNC };

static struct point point_of(const double *values)
{
    return (struct point){.request_size_bytes = (uint64_t)values[SIZE],
                          .queue_depth = (uint32_t)values[DEPTH],
                          .threads = (uint32_t)values[THREADS],
                          .direct = values[DIRECT] > 0,
                          .api = (enum api)values[API],
                          .sync = SYNC_END};
}

static int cannot_be_measured(const double *values, void *program)
{
    struct point point = point_of(values);
    return candidates_check(program, &point, UINT64_MAX, NULL) < 0;
}

static double bytes_in_flight(const double *values, void *program)
{
    (void)program;
    return values[SIZE] * values[DEPTH] * values[THREADS];
}

static double least_bytes(const double *values, void *program)
{
    (void)program;
    return values[SIZE] * MEASURE_MIN_REQUESTS;
}

static double api_rank(const double *values, void *program)
{
    (void)program;
    return values[API];
}

static struct fst_space *new_space(void)
{
    static const double sizes[] = {4096, 16384, 65536, 262144, 1048576, 4194304}, depths[] = {1, 4, 16, 64},
                        threads[] = {1};
    struct fst_space *space = fst_space_new();
    assert_non_null(space);
    assert_int_equal(fst_space_add_levels(space, "size", sizes, N_OF(sizes)), 0);
    assert_int_equal(fst_space_add_levels(space, "depth", depths, N_OF(depths)), 0);
    assert_int_equal(fst_space_add_levels(space, "threads", threads, N_OF(threads)), 0);
    assert_int_equal(fst_space_add_choices(space, "direct", 2), 0);
    assert_int_equal(fst_space_add_choices(space, "api", API_IO_URING + 1), 0);
    assert_int_equal(fst_space_add_choices(space, "sync", 1), 0);
    fst_space_forbid(space, cannot_be_measured, session);
    return space;
}

static struct fst_search *new_search(void)
{
    static const double baseline[FST_MAX_FACTORS] = {[SIZE] = 65536, [DEPTH] = 1, [THREADS] = 1};
    struct fst_options options = FST_OPTIONS;
    double length = (double)settings.runs.duration_ns / 1e9;
    options.tolerance = settings.search.tolerance_share;
    options.confidence = settings.runs.confidence_share;
    options.budget = (double)settings.limits.budget_ns / 1e9;
    options.run_cost = length * 1.1 + session->simulator.world.noise.setup_seconds;
    options.seed = rng_derive(session->seed, SEARCH_STREAM);
    options.price = bytes_in_flight;
    options.context = session;
    options.baseline = baseline;
    options.rates = 1;
    options.length = length;
    options.least_work = least_bytes;
    options.rank = api_rank;
    options.grace = GRACE_SECONDS;
    if (settings.search.prefers == PREFERS_FASTEST) {
        options.prefer_best = 1;
        options.alike = -expm1(-FASTEST_MARGIN);
    }
    struct fst_space *space = new_space();
    struct fst_search *library = fst_search_new(space, &options);
    fst_space_free(space);
    assert_non_null(library);
    return library;
}

static double used_seconds(void)
{
    return ((double)clock_now_ns(&session->clock) - (double)session->start_ns) / 1e9;
}

/* One run, and what it showed. */
static void measure(struct fst_search *library, const struct fst_run *run)
{
    static struct histogram latency;
    struct measure_plan plan = {
        .pattern = settings.workload.pattern,
        .point = point_of(run->values),
        .duration_ns = settings.runs.duration_ns,
        .warmup_limit_ns = settings.runs.duration_ns,
        .hopeless_bps = fst_hopeless(library, run),
        .warmup_coef = settings.runs.warmup_coef_share,
        .warmup_window = settings.runs.warmup_window,
        .batch_requests = settings.runs.batch_requests,
    };
    struct measure_result measured;
    uint64_t start_ns = clock_now_ns(&session->clock);
    histogram_init(&latency);
    assert_int_equal(session_measure(session, &plan, &measured, &latency, &err), 0);
    struct sample sample = sample_of(&measured, &latency, 0);
    struct fst_result result = {.value = sample.throughput_bps,
                                .cost = (double)(clock_now_ns(&session->clock) - start_ns) / 1e9};
    struct fst_timing timing = FST_TIMING;
    timing.used = used_seconds();
    timing.span = measured.seconds;
    timing.warmup = measured.warmup_seconds;
    timing.latency = sample.latency_mean_ns;
    timing.cut = measured.cut;
    assert_int_equal(fst_tell_timed(library, run, &result, &timing), 0);
}

/* --- both --- */

static void check_run(const struct fst_run *run, size_t i)
{
    struct point point = point_of(run->values);
    char theirs[FACTORS_TEXT_SIZE], ours[FACTORS_TEXT_SIZE];
    assert_true(i < made.n);
    if (!factors_equal(&point, &made.settings[i]) || made.confirming[i] != (run->confirming != 0))
        fail_msg("run %zu of %zu: the command ran %s, the program %s", i, made.n,
                 factors_format(&made.settings[i], theirs), factors_format(&point, ours));
}

/* What the command answered. */
struct said {
    struct point recommended, best;
    double shortfall_share;
    bool conclusive;
    size_t n_cut;
};

static struct said ask_command(const char *simulator_and_options)
{
    static const struct tune_observer observer = {.run_begins = note_run};
    begin_on(simulator_and_options);
    made.n = 0;
    tune.observer = &observer;
    run_on();
    check_bounds();
    assert_true(tune.engine.chosen < tune.space.n_points && made.n > 0);
    return (struct said){.recommended = tune.records[tune.engine.chosen].point,
                         .best = tune.records[tune.engine.best].point,
                         .shortfall_share = tune_shortfall_share(&tune),
                         .conclusive = tune.engine.conclusive,
                         .n_cut = tune.n_cut};
}

static void compare_answers(const struct fst_search *library, const struct said *said)
{
    struct fst_answer found;
    assert_int_equal(fst_answer(library, &found), 0);
    struct point recommended = point_of(found.recommended.values), best = point_of(found.best.values);
    assert_true(factors_equal(&recommended, &said->recommended));
    assert_true(factors_equal(&best, &said->best));
    assert_memory_equal(&found.shortfall, &said->shortfall_share, sizeof found.shortfall);
    assert_int_equal(found.conclusive, said->conclusive);
}

/* How many runs were cut. */
static size_t search_both(const char *surface, double run_cv, const char *line)
{
    struct fst_run asked;
    size_t n = 0;
    rig_write("cell.conf",
              "name = \"cell\"; points = \"surfaces/recorded-%s.csv\";\n"
              "noise = { run_cv = %g; op_cv = 0.1; setup_seconds = 0.005; };\n",
              surface, run_cv);
    struct said said = ask_command(line);
    open_session();
    struct fst_search *library = new_search();
    while (fst_ask(library, used_seconds(), &asked) == 1) {
        check_run(&asked, n++);
        measure(library, &asked);
    }
    assert_int_equal(n, made.n);
    compare_answers(library, &said);
    fst_search_free(library);
    return said.n_cut;
}

/* At three noises. */
static size_t search_pattern(const char *surface, const char *pattern, const char *options)
{
    static const double cvs[] = {0, 0.05, 0.2};
    size_t n_cut = 0;
    for (size_t i = 0; i < N_OF(cvs); i++)
        n_cut += search_both(surface, cvs[i],
                             words("cell.conf --pattern %s --seed %zu --tolerance 10%% --budget 20s %s",
                                   pattern, 1 + i, options));
    return n_cut;
}

static void search_surface(const char *surface)
{
    static const char *const patterns[] = {"read", "write", "randread", "randwrite"};
    for (size_t i = 0; i < TRIALS(N_OF(patterns)); i++)
        search_pattern(surface, patterns[i], "--duration 50ms");
}

TEST(a_recorded_ext4_is_searched_as_by_the_command)
{
    search_surface("ext4");
}

TEST(a_recorded_xfs_is_searched_as_by_the_command)
{
    search_surface("xfs");
}

TEST(the_fastest_setting_is_looked_for_as_by_the_command)
{
    search_pattern("ext4", "read", "--prefer fastest --duration 50ms");
}

TEST(hopeless_runs_are_cut_as_by_the_command)
{
    assert_true(search_pattern("xfs", "randread", "--duration 200ms") > 0);
}
