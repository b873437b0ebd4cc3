/* The highest point of a function that can only be seen through noise, within a budget of 400 looks. A second
 * figure, the weight, may not pass 5. Halfway the search is put away as a text, and goes on from it.
 *
 *     cc noisy_function.c $(pkg-config --cflags --libs fstune) -lm -o noisy_function
 */
#include <fstune/fstune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKS 400

/* Highest at x = 0.25, y = 10, where it is 1; with a weight of at most 5, at y = 5.01. */
static double height(const double *values)
{
    double x = values[0] - 0.25, y = log(values[1] / 10);
    return exp(-4 * x * x - 0.5 * y * y);
}

static double noise(void)
{
    return 0.95 + 0.1 * rand() / RAND_MAX;
}

/* Makes up to so many looks; how many it made. */
static int look(struct fst_search *search, int most)
{
    struct fst_run run;
    int n = 0;
    while (n < most && fst_ask(search, FST_USED_COSTS, &run) == 1) {
        double weight = run.values[1];
        struct fst_result result = {.value = height(run.values) * noise(), .cost = 1, .effects = &weight};
        if (fst_tell_result(search, &run, &result) < 0)
            return n;
        n++;
    }
    return n;
}

static struct fst_search *put_away_and_take_up(struct fst_search *search)
{
    char *text;
    size_t length;
    if (fst_save(search, &text, &length) < 0)
        return search;
    fst_search_free(search);
    search = fst_load(text, length);
    fst_text_free(text);
    return search;
}

int main(void)
{
    static const struct fst_limit light = {"weight", 5.1, 0};
    struct fst_space *space = fst_space_new();
    struct fst_options options = FST_OPTIONS;
    struct fst_answer answer;
    options.budget = LOOKS;
    options.run_cost = 1;
    options.tolerance = 0.05;
    options.prefer_best = 1;
    options.limits = &light;
    options.n_limits = 1;
    if (space == NULL || fst_space_add_reals(space, "x", 0, 1, 21, 0) < 0 ||
        fst_space_add_reals(space, "y", 0.1, 1000, 41, 1) < 0)
        return 2;
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    if (search == NULL)
        return 2;
    int n = look(search, LOOKS / 2);
    search = put_away_and_take_up(search);
    if (search == NULL)
        return 2;
    n += look(search, LOOKS);
    if (fst_answer(search, &answer) < 0) {
        puts("nothing keeps the limit");
        return 1;
    }
    printf("x = %.2f, y = %.2f: %.3f +- %.3f after %d looks\n", answer.recommended.values[0],
           answer.recommended.values[1], answer.recommended.value, answer.recommended.std_error, n);
    fst_search_free(search);
    return 0;
}
