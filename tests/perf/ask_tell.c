/* How many fst_ask and fst_tell a second one processor makes in a space of 1,000 settings, over whole
 * searches and over the hundred measurements around the 200th; and which setting they end with, so that a
 * change that makes them faster at the price of the answer shows.
 *
 * usage: ask_tell [SEEDS [RUNS [RUN_STD [GROWTH]]]] */
#include "models/library/fstune.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FIRST_COUNTED 150
#define LAST_COUNTED  250
#define RUN_STD       0.05 /* unless another one is given */

struct tally {
    double seconds, counted_seconds, longest_seconds;
    size_t n, n_counted, n_conclusive, n_right;
    double lost, shortfall;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A surface with one best region, a category that decides and one that matters little; 1 at its best. */
static double truth(const double *x)
{
    double size = log2(x[0]) / 9 - 0.7, depth = x[1] / 9 - 0.6;
    return exp(-1.25 * size * size - 1.25 * depth * depth - 0.3 * x[3] - 0.03 * x[2]);
}

/* The sum of twelve even numbers is as good as normal. */
static double noise(uint64_t *state, double run_std)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return exp(run_std * sum);
}

static struct fst_search *new_search(uint64_t seed, double runs, double growth)
{
    struct fst_space *space = fst_space_new();
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = NULL;
    options.budget = runs;
    options.run_cost = 1;
    options.tolerance = 0.02;
    options.seed = seed;
    options.prefer_best = 1;
    options.growth = growth;
    if (space != NULL && fst_space_add_sizes(space, "size", 1, 512) == 0 &&
        fst_space_add_reals(space, "depth", 0, 9, 10, 0) == 0 &&
        fst_space_add_choices(space, "api", 5) == 0 && fst_space_add_choices(space, "direct", 2) == 0)
        search = fst_search_new(space, &options);
    fst_space_free(space);
    return search;
}

/* 1, or what fst_ask and fst_tell return else. */
static int step(struct fst_search *search, double run_std, uint64_t *state, struct tally *tally)
{
    struct fst_run run;
    double before = now_seconds();
    int asked = fst_ask(search, FST_USED_COSTS, &run);
    double seconds = now_seconds() - before;
    if (asked == 1) {
        double value = truth(run.values) * noise(state, run_std);
        before = now_seconds();
        int told = fst_tell(search, &run, value, 1);
        seconds += now_seconds() - before;
        asked = told < 0 ? told : asked;
    }
    tally->seconds += seconds;
    tally->longest_seconds = fmax(tally->longest_seconds, seconds);
    tally->n++;
    return asked;
}

static int search_once(uint64_t seed, double runs, double run_std, double growth, struct tally *tally)
{
    struct fst_search *search = new_search(seed, runs, growth);
    struct fst_answer answer;
    uint64_t state = seed;
    int result = search != NULL ? 1 : -1;
    for (size_t n = 0; result == 1; n++) {
        double before = tally->seconds;
        result = step(search, run_std, &state, tally);
        if (n >= FIRST_COUNTED && n < LAST_COUNTED) {
            tally->counted_seconds += tally->seconds - before;
            tally->n_counted++;
        }
    }
    if (result == 0)
        result = fst_answer(search, &answer);
    if (result == 0) {
        double lost = 1 - truth(answer.recommended.values);
        tally->lost += lost;
        tally->shortfall += answer.shortfall;
        tally->n_conclusive += answer.conclusive != 0;
        tally->n_right += lost <= answer.shortfall;
    }
    fst_search_free(search);
    return result;
}

int main(int argc, char **argv)
{
    size_t n_seeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
    double runs = argc > 2 ? strtod(argv[2], NULL) : 400;
    double run_std = argc > 3 ? strtod(argv[3], NULL) : RUN_STD;
    double growth = argc > 4 ? strtod(argv[4], NULL) : 0;
    struct tally tally = {0};
    for (size_t seed = 1; seed <= n_seeds; seed++) {
        if (search_once(seed, runs, run_std, growth, &tally) < 0) {
            fprintf(stderr, "ask_tell: a search failed\n");
            return 1;
        }
    }
    printf("1,000 settings, %zu searches of %.0f runs: %.0f asks and tells a second of processor time, %.0f "
           "around the 200th; the longest took %.0f ms\n",
           n_seeds, runs, (double)tally.n / tally.seconds, (double)tally.n_counted / tally.counted_seconds,
           1e3 * tally.longest_seconds);
    printf("%.0f runs on average; lost on average %.4f, at most by the bound %.3f; %zu conclusive; the bound "
           "held in %zu\n",
           (double)(tally.n - n_seeds) / (double)n_seeds, tally.lost / (double)n_seeds,
           tally.shortfall / (double)n_seeds, tally.n_conclusive, tally.n_right);
    return 0;
}
