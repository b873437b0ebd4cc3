/* models/statistics/trace_split: two clusters of windows, by the cut of the sorted values that leaves the
 * least scatter inside. */
#include "models/statistics/trace_internal.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Halves of normal noise stand 2.7 of their own standard deviations apart, of a sine 4.2, of few windows of
 * correlated noise now and then 4.5. */
#define SEPARATION  5.0
#define LEAST_SHARE 0.08 /* windows in the smaller cluster */
#define LEAST_GAP   0.15 /* of the upper level */
#define STAY_SHARE  0.25 /* of all windows, and */
#define STAY_FACTOR 2    /* times the longest stay there before: the last level is here to stay */
#define BLOCKS      50   /* noise is averaged out over so many blocks, where windows alone do not separate */

struct sums {
    double sum, squares;
};

static double scatter_of(struct sums sums, size_t n)
{
    return fmax(0, sums.squares - sums.sum * sums.sum / (double)n);
}

/* Sets the clusters' means and share; their distance in standard deviations inside them. */
static double cut(const double *sorted, size_t n, struct trace_split *ret_split)
{
    struct sums all = {0}, below = {0};
    double least = INFINITY;

    for (size_t i = 0; i < n; i++) {
        all.sum += sorted[i];
        all.squares += sorted[i] * sorted[i];
    }
    for (size_t k = 1; k < n; k++) {
        struct sums above;
        double inside;
        below.sum += sorted[k - 1];
        below.squares += sorted[k - 1] * sorted[k - 1];
        above = (struct sums){.sum = all.sum - below.sum, .squares = all.squares - below.squares};
        inside = scatter_of(below, k) + scatter_of(above, n - k);
        if (inside >= least)
            continue;
        least = inside;
        ret_split->low = below.sum / (double)k;
        ret_split->high = above.sum / (double)(n - k);
        ret_split->high_share = (double)(n - k) / (double)n;
    }
    return (ret_split->high - ret_split->low) / fmax(sqrt(least / (double)n), 1e-6);
}

struct stays {
    size_t since, longest[2], last_rise;
    double sum, squares; /* of cycles */
};

static void note_switch(struct trace_split *split, struct stays *stays, size_t at, bool up, size_t n)
{
    size_t stay = at - stays->since;

    split->n_switches++;
    if (stay > stays->longest[!up])
        stays->longest[!up] = stay;
    stays->since = at;
    if (!up)
        return;
    if (stays->last_rise < n) {
        double cycle = (double)(at - stays->last_rise);
        stays->sum += cycle;
        stays->squares += cycle * cycle;
        split->n_cycles++;
    }
    stays->last_rise = at;
}

/* A switch counts when a window passes two thirds of the way, so that scatter around the middle makes none.
 */
static void follow(const double *values, size_t n, struct trace_split *split)
{
    double gap = split->high - split->low, last_stay;
    bool up = values[0] > split->low + gap / 2;
    struct stays stays = {.last_rise = n};

    split->starts_high = up;
    for (size_t i = 1; i < n; i++) {
        if (up ? values[i] < split->low + gap / 3 : values[i] > split->high - gap / 3) {
            up = !up;
            note_switch(split, &stays, i, up, n);
        }
    }
    last_stay = (double)(n - stays.since);
    split->stays =
        last_stay >= STAY_SHARE * (double)n && last_stay >= STAY_FACTOR * (double)stays.longest[up];
    if (split->n_cycles > 0) {
        double mean = stays.sum / (double)split->n_cycles;
        split->cycle_windows = mean;
        split->cycle_cv = sqrt(fmax(0, stays.squares / (double)split->n_cycles - mean * mean)) / mean;
    }
}

/* `sorted` is scratch of n values. */
static void split_values(const double *values, size_t n, double *sorted, struct trace_split *ret_split)
{
    double separation;

    *ret_split = (struct trace_split){0};
    memcpy(sorted, values, n * sizeof(*sorted));
    gsl_sort(sorted, 1, n);
    separation = cut(sorted, n, ret_split);
    ret_split->two = separation >= SEPARATION &&
                     fmin(ret_split->high_share, 1 - ret_split->high_share) >= LEAST_SHARE &&
                     ret_split->high - ret_split->low >= LEAST_GAP * ret_split->high;
    follow(values, n, ret_split);
}

int trace_split_levels(const double *values, size_t n, struct trace_split *ret_split)
{
    double *scratch = malloc(2 * n * sizeof(*scratch)), *sorted;
    size_t width = n / BLOCKS;

    if (scratch == NULL)
        return -ENOMEM;
    sorted = scratch + n;
    split_values(values, n, sorted, ret_split);
    if (!ret_split->two && width > 1) {
        for (size_t i = 0; i < n / width; i++) {
            scratch[i] = 0;
            for (size_t k = 0; k < width; k++)
                scratch[i] += values[i * width + k] / (double)width;
        }
        split_values(scratch, n / width, sorted, ret_split);
        ret_split->cycle_windows *= (double)width;
    }
    free(scratch);
    return 0;
}
