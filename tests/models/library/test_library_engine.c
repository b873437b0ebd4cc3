/* The library adds nothing to the engine: over recorded surfaces it asks for the same runs, and gives the
 * same answer to the last bit, as the engine of a search by the command that is told the same of each run. */
#include "models/library/library_internal.h"
#include "tests/models/rng.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS   256
#define BUDGET_RUNS 120

struct table {
    double rows[MOST_ROWS][4], bps[MOST_ROWS]; /* size, depth, direct, api */
    size_t n;
};

static const char *const apis[] = {"psync", "pool", "libaio", "io_uring"};

static void read_table(const char *name, const char *pattern, struct table *ret_table)
{
    char path[64], line[256], of[16], api[16];
    snprintf(path, sizeof path, "configs/surfaces/recorded-%s.csv", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    ret_table->n = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        double *row = ret_table->rows[ret_table->n];
        if (sscanf(line, "%15[^,],%lf,%lf,%lf,%15[^,],1,%lf", of, &row[0], &row[1], &row[2], api,
                   &ret_table->bps[ret_table->n]) != 6 ||
            strcmp(of, pattern) != 0)
            continue;
        for (row[3] = 0; strcmp(apis[(size_t)row[3]], api) != 0;)
            row[3]++;
        assert_true(++ret_table->n < MOST_ROWS);
    }
    fclose(file);
}

static double rate_of(const struct table *table, const double *values)
{
    for (size_t i = 0; i < table->n; i++) {
        size_t k = 0;
        while (k < 4 && (uint64_t)table->rows[i][k] == (uint64_t)values[k])
            k++;
        if (k == 4)
            return table->bps[i];
    }
    return 0;
}

static int is_missing(const double *values, void *table)
{
    return rate_of(table, values) <= 0;
}

static double in_flight(const double *values, void *context)
{
    (void)context;
    return values[0] * values[1];
}

static struct fst_search *new_search(struct table *table, const struct fst_options *options)
{
    static const double sizes[] = {4096, 16384, 65536, 262144, 1048576, 4194304}, depths[] = {1, 4, 16, 64};
    struct fst_space *space = fst_space_new();
    assert_non_null(space);
    assert_int_equal(fst_space_add_levels(space, "size", sizes, 6), 0);
    assert_int_equal(fst_space_add_levels(space, "depth", depths, 4), 0);
    assert_int_equal(fst_space_add_choices(space, "direct", 2), 0);
    assert_int_equal(fst_space_add_choices(space, "api", 4), 0);
    fst_space_forbid(space, is_missing, table);
    struct fst_search *search = fst_search_new(space, options);
    fst_space_free(space);
    assert_non_null(search);
    assert_int_equal(fst_search_size(search), table->n);
    return search;
}

/* What a search by the command sets, but for what is known of files. */
static void begin_twin(struct engine *twin, const struct fst_search *search,
                       const struct fst_options *options)
{
    double margin = -log1p(-options->tolerance);
    *twin = (struct engine){
        .space = &search->space,
        .search = search_find("auto"),
        .policy = {.final_share = 0.2, .races_on = true, .races_again = true, .chooses_again = true},
        .margin = margin,
        .tolerance = margin,
        .confidence_share = options->confidence,
        .budget_seconds = options->budget,
        .end_seconds = options->budget,
        .run_seconds = options->run_cost,
        .duration_seconds = options->run_cost,
        .design_share = 1,
    };
    assert_int_equal(engine_init(twin, 0, options->seed), 0);
    for (size_t i = 0; i < search->n; i++)
        twin->points[i].in_flight_bytes = in_flight(library_values(search, i), NULL);
    twin->baseline = 0;
    engine_expect_costs(twin);
}

static bool ask_twin(struct engine *twin, double used, struct engine_run *ret_run)
{
    int asked = ENGINE_TURN;
    while (asked == ENGINE_TURN)
        asked = engine_ask(twin, used, ret_run);
    assert_true(asked >= 0);
    return asked == ENGINE_RUN;
}

static void tell_twin(struct engine *twin, const struct engine_run *run, double used, double rate)
{
    struct engine_result result = {.response = log(rate),
                                   .bps = INFINITY,
                                   .latency_ns = NAN,
                                   .p99_ns = NAN,
                                   .seconds = 1,
                                   .at_seconds = used};
    assert_int_equal(engine_tell(twin, run, &result), 0);
    engine_tell_cost(twin, run->point, 1, 0, 1, INFINITY);
    twin->duration_seconds = twin->run_seconds;
}

static void compare_answers(const struct fst_search *search, const struct engine *twin)
{
    struct fst_answer answer;
    double share = -expm1(-twin->shortfall);
    assert_int_equal(fst_answer(search, &answer), 0);
    assert_int_equal(answer.recommended.setting, twin->chosen);
    assert_int_equal(answer.best.setting, twin->best);
    assert_int_equal(answer.conclusive, twin->conclusive);
    assert_memory_equal(&answer.shortfall, &share, sizeof share);
    assert_memory_equal(search->engine.belief.mean, twin->belief.mean, search->n * sizeof(double));
    assert_memory_equal(search->engine.belief.variance, twin->belief.variance, search->n * sizeof(double));
}

static void search_both(struct table *table, double cv, uint64_t seed)
{
    struct fst_options options = FST_OPTIONS;
    struct engine twin;
    struct fst_run run;
    struct engine_run twins;
    size_t n = 0;
    gsl_rng_set(rng, seed);
    options.budget = BUDGET_RUNS;
    options.run_cost = 1;
    options.seed = seed;
    options.price = in_flight;
    options.baseline = table->rows[0];
    struct fst_search *search = new_search(table, &options);
    begin_twin(&twin, search, &options);
    while (fst_ask(search, FST_USED_COSTS, &run) == 1) {
        double rate = rate_of(table, run.values) * exp(gsl_ran_gaussian(rng, cv));
        assert_true(ask_twin(&twin, (double)n, &twins));
        assert_int_equal(twins.point, run.setting);
        assert_int_equal(twins.confirming, run.confirming);
        assert_int_equal(fst_tell(search, &run, rate, 1), 0);
        tell_twin(&twin, &twins, (double)n, rate);
        n++;
    }
    assert_in_range(n, BUDGET_RUNS / 4, BUDGET_RUNS);
    assert_false(ask_twin(&twin, (double)n, &twins));
    compare_answers(search, &twin);
    /* The twin's space is that of the search. */
    engine_done(&twin);
    fst_search_free(search);
}

static void search_surfaces(const char *name)
{
    static const char *const patterns[] = {"read", "write", "randread", "randwrite"};
    struct table table;
    for (size_t i = 0; i < TRIALS(4); i++) {
        read_table(name, patterns[i], &table);
        assert_true(table.n > 100);
        search_both(&table, 0.05, 1 + i);
        search_both(&table, 0.2, 10 + i);
    }
}

TEST(recorded_ext4_with_noise_is_searched_as_by_the_engine)
{
    search_surfaces("ext4");
}

TEST(recorded_xfs_with_noise_is_searched_as_by_the_engine)
{
    search_surfaces("xfs");
}
