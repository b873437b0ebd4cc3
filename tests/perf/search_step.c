/* What one step of the search costs on one processor, by the number of candidates and of points measured so
 * far: taking in new data, choosing the next batch, and what the race asks on top. Medians of a few
 * repetitions, in milliseconds; the refit of the hyper-parameters stands apart, because only some steps make
 * one.
 *
 * usage: search_step [MODEL [REPETITIONS]]             (MODEL: auto, gp or quadratic) */
#include "models/search/belief.h"
#include "models/search/search.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_DIMS           5
#define BATCH            4
#define N_DRAWS          128
#define N_JOINT          256
#define MAX_REPETITIONS  99
#define RUN_STD          0.1
#define STEP_GOAL_MS     50.0   /* at 1,000 candidates */
#define BIG_STEP_GOAL_MS 1000.0 /* at 100,000 */

enum part { UPDATE, REFIT, ASK, JUDGE, SAMPLE, N_PARTS };

/* Levels of request size, depth, threads, API and direct. */
struct shape {
    size_t n_candidates, n_measured, levels[N_DIMS];
    double goal_ms; /* update and ask together; 0: none */
};

static const struct shape shapes[] = {
    {138, 60, {11, 5, 1, 3, 2}, 0},
    {1000, 200, {11, 12, 1, 4, 2}, STEP_GOAL_MS},
    {1000, 400, {11, 12, 1, 4, 2}, 0},
    {20000, 200, {28, 15, 6, 4, 2}, 0},
    {100000, 200, {60, 30, 7, 4, 2}, BIG_STEP_GOAL_MS},
};

struct bench {
    struct space space;
    struct belief belief;
    const struct search_ops *search;
    gsl_rng *rng;
};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int make_space(const struct shape *shape, struct space *ret_space)
{
    static const enum space_kind kinds[] = {SPACE_ORDERED, SPACE_ORDERED, SPACE_ORDERED, SPACE_CATEGORY,
                                            SPACE_CATEGORY};
    double *raw = malloc(shape->n_candidates * N_DIMS * sizeof *raw);
    if (raw == NULL)
        return -1;
    for (size_t i = 0; i < shape->n_candidates; i++) {
        size_t rest = i;
        for (size_t dim = N_DIMS; dim-- > 0; rest /= shape->levels[dim])
            raw[i * N_DIMS + dim] = (double)(rest % shape->levels[dim]);
    }
    int result = space_init(ret_space, raw, shape->n_candidates, N_DIMS, kinds);
    free(raw);
    return result;
}

/* A surface with one best region, a category that decides and one that matters little. */
static double truth(const struct space *space, size_t point)
{
    const double *x = space_row(space, point);
    double peak = pow(x[0] - 0.7, 2) + pow(x[1] - 0.6, 2) + 0.5 * pow(x[2] - 0.3, 2);
    return 20 - 2.5 * peak - 0.5 * x[4] + 0.05 * x[3] - 0.3 * x[4] * x[0];
}

static void tell(struct bench *bench, size_t point)
{
    belief_tell(&bench->belief, point, truth(&bench->space, point) + gsl_ran_gaussian(bench->rng, RUN_STD));
}

/* Measured as a search would leave it: a third spread over the space, the rest mostly where it is good, and
 * that twice. */
static void measure_some(struct bench *bench, size_t n)
{
    while (bench->belief.n_measured < n) {
        size_t point = gsl_rng_uniform_int(bench->rng, bench->space.n_points);
        double quality = fmin(1, exp(5 * (truth(&bench->space, point) - 19.8)));
        bool spread = bench->belief.n_measured < n / 3;
        if (bench->belief.moments[point].n > 0 ||
            (!spread && gsl_rng_uniform(bench->rng) > fmax(quality, 0.01)))
            continue;
        tell(bench, point);
        if (!spread)
            tell(bench, point);
    }
}

static size_t joint_points(const struct bench *bench, size_t *ret_points)
{
    size_t n = bench->space.n_points < N_JOINT ? bench->space.n_points : N_JOINT;
    gsl_sort_largest_index(ret_points, n, bench->belief.mean, 1, bench->space.n_points);
    return n;
}

static int run_sample(struct bench *bench)
{
    size_t points[N_JOINT], n = joint_points(bench, points);
    double *draws = malloc(n * N_DRAWS * sizeof *draws);
    int result = draws == NULL ? -1 : belief_sample(&bench->belief, points, n, N_DRAWS, bench->rng, draws);
    free(draws);
    return result;
}

static int run_ask(struct bench *bench)
{
    size_t points[BATCH], n = 0;
    void *state = calloc(1, bench->search->state_size);
    int result = state == NULL ? -1 : bench->search->init(state, &bench->space, 0, bench->rng);
    if (result == 0)
        result = bench->search->ask(state, &bench->belief, BATCH, bench->rng, points, &n);
    bench->search->done(state);
    free(state);
    return result;
}

static int run_part(struct bench *bench, enum part part)
{
    bool within;
    switch (part) {
    case UPDATE:
    case REFIT:
        return belief_update(&bench->belief, part == REFIT, bench->rng);
    case ASK:
        return run_ask(bench);
    case JUDGE:
        return belief_is_within(&bench->belief, belief_best(&bench->belief, 1), 0.03, 0.95, &within);
    default:
        return run_sample(bench);
    }
}

/* Times of all parts, a point told anew before each step so that there is something to take in. */
static int time_parts(struct bench *bench, size_t n_repetitions, double *ret_medians)
{
    double times[N_PARTS][MAX_REPETITIONS];
    int result = belief_update(&bench->belief, true, bench->rng);
    for (size_t k = 0; k < n_repetitions && result == 0; k++) {
        tell(bench, belief_best(&bench->belief, 1));
        for (enum part part = 0; part < N_PARTS && result == 0; part++) {
            double start = now_ms();
            result = run_part(bench, part);
            times[part][k] = now_ms() - start;
        }
    }
    for (enum part part = 0; part < N_PARTS && result == 0; part++)
        ret_medians[part] = gsl_stats_median(times[part], 1, n_repetitions);
    return result;
}

static int bench_shape(const struct shape *shape, const struct search_ops *search, size_t n_repetitions)
{
    struct bench bench = {.search = search, .rng = gsl_rng_alloc(gsl_rng_mt19937)};
    double medians[N_PARTS];
    int result = bench.rng == NULL ? -1 : make_space(shape, &bench.space);
    if (result == 0)
        result = belief_init(&bench.belief, &bench.space, search->surrogate, RUN_STD);
    if (result == 0) {
        measure_some(&bench, shape->n_measured);
        result = time_parts(&bench, n_repetitions, medians);
    }
    if (result == 0) {
        double step = medians[UPDATE] + medians[ASK];
        printf("%10zu %8zu %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f  %s\n", shape->n_candidates,
               shape->n_measured, medians[UPDATE], medians[ASK], step, medians[REFIT], medians[SAMPLE],
               medians[JUDGE],
               shape->goal_ms <= 0      ? ""
               : step <= shape->goal_ms ? "goal met"
                                        : "TOO SLOW");
        fflush(stdout);
    }
    belief_done(&bench.belief);
    space_done(&bench.space);
    gsl_rng_free(bench.rng);
    return result;
}

int main(int argc, char **argv)
{
    const struct search_ops *search = search_find(argc > 1 ? argv[1] : "auto");
    size_t n_repetitions = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 3;
    if (search == NULL || n_repetitions == 0 || n_repetitions > MAX_REPETITIONS) {
        fprintf(stderr, "usage: search_step [auto|gp|quadratic [REPETITIONS, 1..%d]]\n", MAX_REPETITIONS);
        return 2;
    }
    gsl_set_error_handler_off();
    printf("one step of the search, %s, processor time in ms, medians of %zu\n", search->name, n_repetitions);
    printf("%10s %8s %10s %10s %10s %10s %10s %10s\n", "candidates", "measured", "update", "ask", "step",
           "refit", "sample", "judge");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        if (bench_shape(&shapes[k], search, n_repetitions) != 0) {
            fprintf(stderr, "search_step: a step failed\n");
            return 1;
        }
    }
    return 0;
}
