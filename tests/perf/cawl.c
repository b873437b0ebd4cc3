/* What a prediction costs on one processor, by the load and the number of chunks. The columns after the times
 * are the times divided by n log2 n, relative to that of the smallest n: near 1 means growth like n log n.
 * The smallest loads fit a processor's cache and the largest do not, which is why random ones grow by more.
 *
 * usage: cawl [REPETITIONS] */
#include "models/cawl/cawl.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_SIZES         4
#define MAX_REPETITIONS 99
#define MIN_PREDICTED   20000 /* chunks per timing, so that the clock's grain does not matter */

static const size_t sizes[N_SIZES] = {1000, 10000, 100000, 1000000};

enum order { SEQUENTIAL, RANDOM, OVERLAPPING, HOT };

struct load {
    const char *name;
    enum order order;
    enum cawl_mode mode;
    double limit_bytes, delay_s;
    struct cawl_options options;
};

#define LARGE 1e15 /* everything stays dirty */
#define SMALL 2e8  /* throttled nearly from the start */

static const struct load loads[] = {
    {"direct", RANDOM, CAWL_DIRECT, SMALL, 0, {0}},
    {"sequential, all dirty", SEQUENTIAL, CAWL_NOSYNC, LARGE, 0, {0}},
    {"random, all dirty", RANDOM, CAWL_NOSYNC, LARGE, 0, {0}},
    {"overlapping, all dirty", OVERLAPPING, CAWL_NOSYNC, LARGE, 0, {0}},
    {"rewriting a little", HOT, CAWL_NOSYNC, SMALL, 0, {0}},
    {"sequential, throttled", SEQUENTIAL, CAWL_NOSYNC, SMALL, 0, {0}},
    {"random, throttled", RANDOM, CAWL_NOSYNC, SMALL, 0, {0}},
    {"random, expiring", RANDOM, CAWL_NOSYNC, LARGE, 0.001, {0}},
    {"random, piecewise", RANDOM, CAWL_NOSYNC, SMALL, 0, {.piecewise = true}},
    {"random, first touch", RANDOM, CAWL_NOSYNC, SMALL, 0, {.first_touch = true}},
    {"sequential, stdio", SEQUENTIAL, CAWL_STDIO, SMALL, 0, {0}},
};

static const struct cawl_host host = {.bw_mem_bps = 8e9,
                                      .bw_ramdisk_bps = 4e9,
                                      .bw_ramdisk_first_touch_bps = 4e8,
                                      .bw_reduced_bps = 2e9,
                                      .bw_dev_bps = 5e8,
                                      .bw_rdev_bps = 1e9,
                                      .sc_w_s = 1e-6,
                                      .sc_sw_s = 5e-5,
                                      .c_sk_s = 1e-5,
                                      .bs_bytes = 512,
                                      .bf_bytes = 4096,
                                      .dirty_expire_s = 30};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static uint64_t scrambled(uint64_t i)
{
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static void fill(const struct load *load, struct cawl_chunk *chunks, size_t n)
{
    const uint64_t size = 4096;
    for (size_t i = 0; i < n; i++) {
        uint64_t offset = i * size;
        if (load->order == RANDOM)
            offset = scrambled(i) % (16 * n) * size;
        else if (load->order == OVERLAPPING)
            offset = scrambled(i) % (n * size);
        else if (load->order == HOT)
            offset = scrambled(i) % (1000 * size);
        chunks[i] = (struct cawl_chunk){0, offset, size, load->delay_s};
    }
}

/* Milliseconds of one prediction, or -1. */
static double time_once(const struct load *load, const struct cawl_chunk *chunks, size_t n)
{
    struct cawl_host limited = host;
    size_t n_calls = n < MIN_PREDICTED ? MIN_PREDICTED / n : 1;
    double start = now_ms();
    limited.limit_bg_bytes = load->limit_bytes / 2;
    limited.limit_hard_bytes = load->limit_bytes;
    for (size_t i = 0; i < n_calls; i++) {
        struct cawl_prediction prediction;
        if (cawl_predict(&limited, &load->options, load->mode, chunks, n, &prediction) != 0)
            return -1;
        cawl_prediction_done(&prediction);
    }
    return (now_ms() - start) / (double)n_calls;
}

static int bench_load(const struct load *load, struct cawl_chunk *chunks, size_t n_repetitions)
{
    double medians[N_SIZES], times[MAX_REPETITIONS];
    for (size_t k = 0; k < N_SIZES; k++) {
        fill(load, chunks, sizes[k]);
        for (size_t i = 0; i < n_repetitions; i++) {
            times[i] = time_once(load, chunks, sizes[k]);
            if (times[i] < 0)
                return -1;
        }
        medians[k] = gsl_stats_median(times, 1, n_repetitions);
    }
    printf("%-24s", load->name);
    for (size_t k = 0; k < N_SIZES; k++)
        printf(" %9.2f", medians[k]);
    for (size_t k = 1; k < N_SIZES; k++) {
        double n = (double)sizes[k], n0 = (double)sizes[0];
        printf(" %9.2f", medians[k] / medians[0] * n0 * log2(n0) / (n * log2(n)));
    }
    printf("\n");
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    size_t n_repetitions = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 3;
    struct cawl_chunk *chunks = malloc(sizes[N_SIZES - 1] * sizeof(*chunks));
    int result = chunks == NULL ? -1 : 0;
    if (n_repetitions == 0 || n_repetitions > MAX_REPETITIONS) {
        fprintf(stderr, "usage: cawl [REPETITIONS, 1..%d]\n", MAX_REPETITIONS);
        free(chunks);
        return 2;
    }
    printf("one prediction, processor time in ms, medians of %zu; then over n log2 n, 1,000 chunks = 1\n",
           n_repetitions);
    printf("%-24s %9s %9s %9s %9s %9s %9s %9s\n", "load", "1,000", "10,000", "100,000", "1,000,000", "10,000",
           "100,000", "1,000,000");
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads) && result == 0; i++)
        result = bench_load(&loads[i], chunks, n_repetitions);
    if (result != 0)
        fprintf(stderr, "cawl: a prediction failed\n");
    free(chunks);
    return result == 0 ? 0 : 1;
}
