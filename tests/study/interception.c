/* What it costs a reference program that its observation points are watched: opens of planted files, which
 * the kernel reports (Qian and Wang 2006 had 0.15 %). It reads all files below a directory, of which eight
 * are watched, with and without the observer in turn, in random order.
 *
 * usage: interception [DIRECTORY [PAIRS]] (tests, 3)
 *
 * Printed is by how much the watched run takes longer: the median over the pairs, and its 95 % interval. */
#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/observe/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILES 50000
#define MOST_PAIRS 1000
#define N_POINTS   8

static char *files[MOST_FILES];
static size_t n_files;
static double excess[MOST_PAIRS];

static int take(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    if (kind == FTW_F && n_files < MOST_FILES)
        files[n_files++] = strdup(path);
    return 0;
}

static double read_all_s(void)
{
    static char block[65536];
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    for (size_t i = 0; i < n_files; i++) {
        int fd = open(files[i], O_RDONLY | O_CLOEXEC);
        while (fd >= 0 && read(fd, block, sizeof block) > 0)
            ;
        if (fd >= 0)
            close(fd);
    }
    return (double)(clock_now_ns(&clock_monotonic) - start_ns) / 1e9;
}

static int open_observer(struct observer *observer, struct err *err)
{
    int fds[N_POINTS];
    for (size_t i = 0; i < N_POINTS; i++) {
        fds[i] = open(files[i * (n_files - 1) / (N_POINTS - 1)], O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0)
            return err_sys(err, -errno, "%s", files[i * (n_files - 1) / (N_POINTS - 1)]);
    }
    int result = observer_open(observer, OBSERVER_N, fds, N_POINTS, err);
    for (size_t i = 0; i < N_POINTS; i++)
        close(fds[i]);
    return result;
}

/* Seconds with the observer, or without; negative: it failed, or saw too little. */
static double run_once(struct observer *observer, bool is_watched, struct err *err)
{
    if (!is_watched)
        return read_all_s();
    if (observer_begin(observer, err) < 0)
        return -1;
    double seconds = read_all_s();
    if (observer_end(observer, err) < 0)
        return -1;
    for (size_t i = 0; i < N_POINTS; i++) {
        if (observer->seen_ns[i] == 0)
            return -1;
    }
    return seconds;
}

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int run_pairs(struct observer *observer, size_t n, struct err *err)
{
    struct rng rng;
    rng_init(&rng, 1);
    read_all_s();
    for (size_t i = 0; i < n; i++) {
        double seconds[2] = {0, 0};
        bool first = rng_uniform(&rng) < 0.5;
        seconds[first] = run_once(observer, first, err);
        seconds[!first] = run_once(observer, !first, err);
        if (seconds[0] <= 0 || seconds[1] <= 0)
            return -EIO;
        excess[i] = seconds[1] / seconds[0] - 1;
    }
    qsort(excess, n, sizeof excess[0], compare);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct observer observer = {0};
    const size_t asked = argc > 2 ? strtoul(argv[2], NULL, 10) : 3, n = asked < 3            ? 3
                                                                        : asked > MOST_PAIRS ? MOST_PAIRS
                                                                                             : asked;
    if (nftw(argc > 1 ? argv[1] : "tests", take, 16, FTW_PHYS) != 0 || n_files < N_POINTS)
        return 1;
    int result = open_observer(&observer, &err);
    if (result == 0)
        result = run_pairs(&observer, n, &err);
    observer_close(&observer);
    if (result < 0) {
        fprintf(stderr, "interception: %s\n", err.text[0] != '\0' ? err.text : "a point was not seen");
        return 1;
    }
    const double half = 0.98 * sqrt((double)n);
    const size_t low = half < (double)n / 2 ? (size_t)((double)n / 2 - half) : 0;
    printf("%zu files, %d watched by %s, %zu pairs: %+.2f %% (%+.2f to %+.2f)\n", n_files, N_POINTS,
           observer_names[observer.kind], n, 100 * excess[n / 2], 100 * excess[low],
           100 * excess[n - 1 - low]);
    for (size_t i = 0; i < n_files; i++)
        free(files[i]);
    return 0;
}
