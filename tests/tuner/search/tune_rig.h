/* tests/tuner/search/tune_rig: a search on a simulated surface, for the tests of tuner/search/tune and of its
 * parts. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/report/answer.h"
#include "tuner/search/tune.h"

static struct settings settings;
static struct session *session;
static struct tune tune;
static struct answer answer;
static struct err err;

static inline int enter(void **state)
{
    if (rig_enter(state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("noisy", "run_cv = 0.5; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("calm", "", rig_peak_bps);
    rig_simulator("flat", "run_cv = 0.05; setup_seconds = 0.05;", rig_flat_bps);
    rig_simulator("still", "", rig_flat_bps);
    rig_simulator("wild", "run_cv = 0.5; setup_seconds = 0.05;", rig_flat_bps);
    return 0;
}

static inline void done(void)
{
    tune_done(&tune);
    memset(&tune, 0, sizeof tune);
    if (session != NULL)
        rig_close_session(session);
    session = NULL;
}

static inline int end_search(__attribute__((unused)) void **state)
{
    done();
    return 0;
}

/* A file of tests each of which may leave a search behind. */
#define SEARCHES(setup)                                                                                      \
    GROUP(setup, rig_leave);                                                                                 \
    EACH_TEST(NULL, end_search)

/* The same with further surfaces: each its name, its noise and its rates, as rig_simulator wants them. */
#define SEARCHES_ON(...)                                                                                     \
    FIXTURE(enter_more)                                                                                      \
    {                                                                                                        \
        static const struct {                                                                                \
            const char *name, *noise;                                                                        \
            double (*bps)(const struct point *point);                                                        \
        } more[] = {__VA_ARGS__};                                                                            \
        int result = enter(test_state);                                                                      \
        for (size_t i = 0; i < N_OF(more) && result == 0; i++)                                               \
            rig_simulator(more[i].name, more[i].noise, more[i].bps);                                         \
        return result;                                                                                       \
    }                                                                                                        \
    SEARCHES(enter_more)

/* The space's point that the surface was made to be best at. */
static const struct point hill = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};

/* A line of options made of parts; valid until the next one. */
static inline const char *words(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const char *words(const char *format, ...)
{
    static char text[2048];
    va_list arguments;
    va_start(arguments, format);
    assert_in_range(vsnprintf(text, sizeof text, format, arguments), 1, sizeof text - 1);
    va_end(arguments);
    return text;
}

/* Settings on a simulator: its file and further options; for random writes, or the pattern among them. The
 * search before is over. */
static inline void given(const char *simulator_and_options)
{
    char text[2048];
    done();
    const char *pattern = strstr(simulator_and_options, "--pattern") != NULL ? "" : "--pattern randwrite ";
    snprintf(text, sizeof text, "%s--simulate %s", pattern, simulator_and_options);
    rig_settings_line(&settings, text);
    /* The surfaces of these tests tell settings apart by a few per cent. */
    if (strstr(simulator_and_options, "--tolerance") == NULL)
        settings.search.tolerance_share = 0.03;
}

static inline void open_session(void)
{
    done();
    memset(&err, 0, sizeof err);
    session = rig_open_session(&settings);
}

static inline int init(void)
{
    open_session();
    return tune_init(&tune, session, &err);
}

/* A search before its first run. */
static inline void begin_on(const char *simulator_and_options)
{
    given(simulator_and_options);
    if (init() != 0)
        fail_msg("%s", err.text);
}

/* The pilot and what it decided. */
static inline void pilot(const char *simulator_and_options)
{
    begin_on(simulator_and_options);
    assert_int_equal(tune_length(&tune, &err), 0);
}

/* From the first run to the answer. */
static inline void run_on(void)
{
    if (tune_run(&tune, &err) != 0)
        fail_msg("%s", err.text);
    answer_prepare(&answer, &tune);
}

/* Of a night like those of tuner/nightly/retune_measure. */
static const struct tune_policy night_policy = {.judges = {.final_share = 0.3,
                                                           .most_replays = 40,
                                                           .n_contenders = 3,
                                                           .sentinel_runs = TUNE_SENTINEL_RUNS,
                                                           .weighs_chances = true,
                                                           .baseline_first = true,
                                                           .costs_alike = true},
                                                .limits_writes = true,
                                                .has_pilot = true,
                                                .has_counterpart = true};

static inline void run(void)
{
    if (init() != 0)
        fail_msg("%s", err.text);
    run_on();
}

static inline const struct point *chosen(void)
{
    assert_true(tune.engine.chosen < tune.space.n_points);
    return &tune.records[tune.engine.chosen].point;
}

/* What must hold after every search, whatever it found. */
static inline void check_bounds(void)
{
    size_t told = tune.length.n_discarded;
    for (size_t i = 0; i < tune.n_records; i++) {
        told += tune.records[i].n;
        for (size_t k = 0; k < tune.records[i].n; k++)
            assert_true(tune.records[i].samples[k].throughput_bps > 0);
    }
    assert_int_equal(told, session->n_runs);
    assert_true(tune.engine.probability >= 0 && tune.engine.probability <= 1);
    assert_true(session_seconds(session) <= (double)settings.limits.budget_ns / 1e9 + 5);
    assert_int_not_equal(tune.engine.stop, ENGINE_STOP_NOT_YET);
    if (tune.engine.conclusive)
        assert_true(tune.engine.probability >= settings.runs.confidence_share);
}

/* Everything, up to the answer. */
static inline void search(const char *simulator_and_options)
{
    given(simulator_and_options);
    run();
    check_bounds();
}

static inline size_t count_confirming(size_t point)
{
    return record_count(&tune.records[point], true);
}

/* NULL where there is none. */
static inline const struct note *find_note(const struct notes *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++) {
        if (strcmp(notes->note[i].code, code) == 0)
            return &notes->note[i];
    }
    return NULL;
}

static inline bool is_warned_of(const char *code)
{
    return find_note(&session->warnings, code) != NULL;
}

static inline void check_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not hold '%s'", text, part);
}

/* One that was run and is none of those that an answer names. */
static inline size_t rig_other_setting(void)
{
    for (size_t i = 0; i < tune.space.n_points; i++) {
        bool is_named = i == tune.engine.chosen || i == tune.engine.best || i == tune.engine.baseline;
        if (tune.records[i].n > 0 && !is_named)
            return i;
    }
    fail_msg("only the named settings were run");
    return 0;
}
