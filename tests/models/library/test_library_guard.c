/* Tests of models/library/library_guard and of searches in several threads. */
#include "tests/models/library/library_rig.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

#define N_THREADS 4

static size_t n_seen;

static void see(const char *reason, const char *file, int line, int code)
{
    (void)reason;
    (void)file;
    (void)line;
    (void)code;
    n_seen++;
}

/* Another thread that meets an error of GSL's while this one is inside of fst_search_new. */
static void *meet_error(void *unused)
{
    (void)unused;
    gsl_error("of another thread", __FILE__, __LINE__, GSL_EDOM);
    return NULL;
}

static double price_with_errors(const double *values, void *context)
{
    pthread_t thread;
    (void)values;
    if (*(bool *)context)
        return 1;
    *(bool *)context = true;
    gsl_error("of this thread", __FILE__, __LINE__, GSL_EDOM);
    assert_int_equal(n_seen, 0);
    assert_int_equal(pthread_create(&thread, NULL, meet_error, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(n_seen, 1);
    return 1;
}

TEST(only_errors_inside_the_library_are_passed_over)
{
    bool done = false;
    struct fst_options options = FST_OPTIONS;
    gsl_error_handler_t *before = gsl_set_error_handler(see);
    n_seen = 0;
    options.price = price_with_errors;
    options.context = &done;
    fst_search_free(rig_search(&options));
    assert_true(done);
    assert_ptr_equal(gsl_set_error_handler(before), see);
}

struct outcome {
    uint64_t seed;
    size_t n;
    struct fst_answer answer;
};

/* A whole search with figures of its own generator. */
static void *search_alone(void *context)
{
    struct outcome *outcome = context;
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    uint64_t chance = outcome->seed;
    options.seed = outcome->seed;
    options.budget = 120;
    options.run_cost = 1;
    struct fst_space *space = rig_space();
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    for (outcome->n = 0; fst_ask(search, FST_USED_COSTS, &run) == 1; outcome->n++) {
        chance = chance * 6364136223846793005 + 1442695040888963407;
        double noise = 1 + 0.1 * ((double)(chance >> 11) / (double)(UINT64_C(1) << 53) - 0.5);
        fst_tell(search, &run, rig_rate(run.values) * noise, 1);
    }
    fst_answer(search, &outcome->answer);
    fst_search_free(search);
    return NULL;
}

TEST(searches_in_several_threads_do_not_know_of_each_other)
{
    struct outcome alone = {.seed = 7}, beside[N_THREADS];
    pthread_t threads[N_THREADS];
    search_alone(&alone);
    for (size_t i = 0; i < N_THREADS; i++) {
        beside[i] = (struct outcome){.seed = i % 2 == 0 ? 7 : 8};
        assert_int_equal(pthread_create(&threads[i], NULL, search_alone, &beside[i]), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < N_THREADS; i += 2) {
        assert_int_equal(beside[i].n, alone.n);
        assert_int_equal(beside[i].answer.recommended.setting, alone.answer.recommended.setting);
        assert_memory_equal(&beside[i].answer.shortfall, &alone.answer.shortfall, sizeof(double));
    }
}
