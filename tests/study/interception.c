/* What it costs the reference programs of `fstune cost` that their observation points are watched: opens of
 * planted files, which the kernel reports (Qian and Wang 2006 had 0.15 %). Each runs with and without an
 * observer in turn, in random order, and notes its own times in both.
 *
 * usage: interception [DIRECTORY [PAIRS [MILLISECONDS]]] (., 3, 20)
 *
 * Printed is by how much the watched run takes longer: the median over the pairs, and its 95 % interval. */
#include "bench/base/rng.h"
#include "bench/observe/neighbour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_POINTS   7
#define MOST_PAIRS 1000
#define NS_OF_MS   1000000ULL

enum { ALONE, WATCHED, N_WAYS };

struct study {
    struct reference reference;
    struct observer observer[N_WAYS];
    double excess[MOST_PAIRS];
};

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int time_once(struct study *study, int way, double *ret_s, struct err *err)
{
    double times_s[N_POINTS];
    struct neighbour neighbour = {
        .reference = &study->reference, .observer = &study->observer[way], .interrupt_fd = -1};
    struct neighbour_run run = {.times_s = times_s};
    int result = neighbour_run(&neighbour, NULL, &run, err);
    const uint64_t *passed_ns = study->reference.board->passed_ns;
    *ret_s = (double)(passed_ns[N_POINTS - 1] - passed_ns[0]) / 1e9;
    return result;
}

static int run_pairs(struct study *study, size_t n, struct err *err)
{
    struct rng rng;
    int result = 0;
    rng_init(&rng, 1);
    for (size_t i = 0; i < n && result == 0; i++) {
        double seconds[N_WAYS] = {0, 0};
        const int first = rng_uniform(&rng) < 0.5 ? ALONE : WATCHED;
        result = time_once(study, first, &seconds[first], err);
        if (result == 0)
            result = time_once(study, !first, &seconds[!first], err);
        study->excess[i] = seconds[WATCHED] / seconds[ALONE] - 1;
    }
    qsort(study->excess, n, sizeof study->excess[0], compare);
    return result;
}

static int compare_ways(struct study *study, enum reference_kind kind, const char *directory, size_t n,
                        uint64_t run_ns, struct err *err)
{
    *study = (struct study){0};
    int result = reference_open(&study->reference, kind, directory, N_POINTS, err);
    const struct reference *reference = &study->reference;
    if (result == 0)
        result = reference_size(&study->reference, run_ns, err);
    if (result == 0)
        result = observer_open(&study->observer[ALONE], OBSERVER_SELF, reference->planted,
                               reference->n_planted, err);
    if (result == 0)
        result = observer_open(&study->observer[WATCHED], OBSERVER_N, reference->planted,
                               reference->n_planted, err);
    if (result == 0)
        result = run_pairs(study, n, err);
    return result;
}

static void print_excess(const struct study *study, enum reference_kind kind, size_t n)
{
    const double half = 0.98 * sqrt((double)n);
    const size_t low = half < (double)n / 2 ? (size_t)((double)n / 2 - half) : 0;
    printf("%s, watched by %s, %zu pairs: %+.2f %% (%+.2f to %+.2f)\n", reference_names[kind],
           observer_names[study->observer[WATCHED].kind], n, 100 * study->excess[n / 2],
           100 * study->excess[low], 100 * study->excess[n - 1 - low]);
}

static size_t number_of(const char *text, size_t least, size_t most)
{
    const size_t n = strtoul(text, NULL, 10);
    return n < least ? least : n > most ? most : n;
}

int main(int argc, char **argv)
{
    static struct study study; /* large */
    const size_t n = number_of(argc > 2 ? argv[2] : "3", 3, MOST_PAIRS);
    const uint64_t run_ns = number_of(argc > 3 ? argv[3] : "20", 1, 10000) * NS_OF_MS;
    for (enum reference_kind kind = REFERENCE_FILES; kind <= REFERENCE_MEMORY; kind++) {
        struct err err = {0};
        int result = compare_ways(&study, kind, argc > 1 ? argv[1] : ".", n, run_ns, &err);
        if (result == 0)
            print_excess(&study, kind, n);
        for (int way = 0; way < N_WAYS; way++)
            observer_close(&study.observer[way]);
        reference_close(&study.reference);
        if (result < 0) {
            fprintf(stderr, "interception: %s\n", err.text);
            return 1;
        }
    }
    return 0;
}
