/* What one request costs in fstune, beside a bare loop in C and beside fio: 4 KiB random reads from the warm
 * page cache at depth 1 (pread) and with io_uring at depth 32. All three run in turn, in random order, for
 * several rounds; ratios are taken round by round.
 *
 * usage: overhead [DIRECTORY [ROUNDS]]     needs fio for its third column */
#include "bench/arena.h"
#include "bench/measure.h"
#include "models/student.h"

#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUEST    4096U
#define FILE_BYTES (256ULL << 20)
#define RUN_NS     400000000ULL
#define DEPTH      32U
#define MAX_ROUNDS 99
#define CHUNK      64 /* requests between two looks at the clock in the bare loops */

struct bench {
    struct target target;
    struct arena arena;
    struct rng rng;
    const char *directory;
    char fio_file[4096];
};

static double bare_pread(struct bench *bench)
{
    static _Alignas(4096) unsigned char buffer[REQUEST];
    uint64_t start = clock_now_ns(&clock_monotonic), now = start, n = 0;
    for (; now - start < RUN_NS; now = clock_now_ns(&clock_monotonic)) {
        for (int i = 0; i < CHUNK; i++, n++) {
            uint64_t block = rng_next(&bench->rng) % (FILE_BYTES / REQUEST);
            if (pread(bench->target.fd, buffer, REQUEST, (off_t)(block * REQUEST)) != REQUEST)
                return 0;
        }
    }
    return (double)n / ((double)(now - start) / 1e9);
}

static void bare_prepare(struct bench *bench, struct io_uring *ring, unsigned char *buffer)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    uint64_t block = rng_next(&bench->rng) % (FILE_BYTES / REQUEST);
    io_uring_prep_read(sqe, bench->target.fd, buffer, REQUEST, block * REQUEST);
    io_uring_sqe_set_data(sqe, buffer);
}

static double bare_uring(struct bench *bench)
{
    static _Alignas(4096) unsigned char buffers[DEPTH][REQUEST];
    struct io_uring_cqe *cqes[DEPTH];
    struct io_uring ring;
    if (io_uring_queue_init(2 * DEPTH, &ring, 0) < 0)
        return 0;
    for (unsigned i = 0; i < DEPTH; i++)
        bare_prepare(bench, &ring, buffers[i]);
    uint64_t start = clock_now_ns(&clock_monotonic), now = start, n = 0;
    for (; now - start < RUN_NS; now = clock_now_ns(&clock_monotonic)) {
        io_uring_submit_and_wait(&ring, 1);
        unsigned done = io_uring_peek_batch_cqe(&ring, cqes, DEPTH);
        for (unsigned i = 0; i < done; i++) {
            unsigned char *buffer = io_uring_cqe_get_data(cqes[i]);
            n += cqes[i]->res == REQUEST;
            bare_prepare(bench, &ring, buffer);
        }
        io_uring_cq_advance(&ring, done);
    }
    io_uring_queue_exit(&ring);
    return (double)n / ((double)(now - start) / 1e9);
}

static double fstune_iops(struct bench *bench, enum api api, uint32_t depth)
{
    struct measure_env env = {.clock = &clock_monotonic,
                              .target = &bench->target,
                              .cache = MEASURE_CACHE_WARM,
                              .arena = &bench->arena,
                              .settle_limit_ns = 1};
    struct measure_plan plan = {
        .point = {REQUEST, depth, 0, api, 1, SYNC_END},
        .duration_ns = RUN_NS,
        .warmup_coef = WARMUP_COEF_DEFAULT,
        .warmup_window = WARMUP_WINDOW_DEFAULT,
        .batch_requests = WARMUP_BATCH_DEFAULT,
        .seed = rng_next(&bench->rng),
    };
    static struct histogram latency;
    struct measure_result result;
    struct err err = {0};
    histogram_init(&latency);
    if (pattern_parse("randread", &plan.pattern, &err) < 0 ||
        measure_run(&env, &plan, &result, &latency, &err) < 0) {
        fprintf(stderr, "overhead: %s\n", err.text);
        return 0;
    }
    return result.iops;
}

/* fio's own figure; 0 where fio is missing. */
static double fio_iops(const struct bench *bench, const char *engine, unsigned depth)
{
    char command[8192], line[512];
    double iops = 0;
    snprintf(command, sizeof command,
             "fio --name=x --filename='%s' --rw=randread --bs=4k --ioengine=%s --iodepth=%u --thread "
             "--invalidate=0 --pre_read=1 "
             "--fadvise_hint=0 --time_based --runtime=400ms --size=256m --output-format=terse "
             "--terse-version=3 2>/dev/null",
             bench->fio_file, engine, depth);
    FILE *pipe = popen(command, "re");
    if (pipe == NULL)
        return 0;
    if (fgets(line, sizeof line, pipe) != NULL) {
        char *rest = line, *field = NULL;
        for (int i = 0; i <= 7 && (field = strsep(&rest, ";")) != NULL; i++) {
            if (i == 7)
                iops = strtod(field, NULL);
        }
    }
    /* fio must not meet a closed pipe. */
    while (fgetc(pipe) != EOF) {
    }
    pclose(pipe);
    return iops;
}

static void print_ratio(const char *name, const double *a, const double *b, size_t n)
{
    double ratio[MAX_ROUNDS], low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        ratio[i] = b[i] > 0 ? a[i] / b[i] : 0;
        low = i == 0 || ratio[i] < low ? ratio[i] : low;
        high = i == 0 || ratio[i] > high ? ratio[i] : high;
    }
    printf("  %-28s median %.3f  (%.3f to %.3f, %zu rounds)\n", name, median_of(ratio, n), low, high, n);
}

static void compare(struct bench *bench, bool uring, size_t n_rounds)
{
    double rates[3][MAX_ROUNDS];
    for (size_t round = 0; round < n_rounds; round++) {
        size_t first = rng_next(&bench->rng) % 3;
        for (size_t k = 0; k < 3; k++) {
            size_t which = (first + k) % 3;
            if (which == 0)
                rates[0][round] = uring ? bare_uring(bench) : bare_pread(bench);
            else if (which == 1)
                rates[1][round] =
                    uring ? fstune_iops(bench, API_IO_URING, DEPTH) : fstune_iops(bench, API_PSYNC, 1);
            else
                rates[2][round] = uring ? fio_iops(bench, "io_uring", DEPTH) : fio_iops(bench, "psync", 1);
        }
    }
    printf("%s\n", uring ? "io_uring, depth 32, 4 KiB randread, warm cache"
                         : "psync, depth 1, 4 KiB randread, warm cache");
    print_ratio("fstune / bare loop (IOPS)", rates[1], rates[0], n_rounds);
    if (rates[2][0] > 0)
        print_ratio("fstune / fio (IOPS)", rates[1], rates[2], n_rounds);
    else
        puts("  fio is not installed: no comparison with it");
    printf("  medians: bare %.0f, fstune %.0f, fio %.0f requests/s\n", median_of(rates[0], n_rounds),
           median_of(rates[1], n_rounds), median_of(rates[2], n_rounds));
}

int main(int argc, char **argv)
{
    struct bench bench = {.directory = argc > 1 ? argv[1] : "."};
    size_t n_rounds = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 9;
    n_rounds = n_rounds < 1 ? 1 : n_rounds > MAX_ROUNDS ? MAX_ROUNDS : n_rounds;
    struct err err = {0};
    rng_init(&bench.rng, 1);
    struct target_plan plan = {.directory = bench.directory,
                               .size_bytes = FILE_BYTES,
                               .max_write_bytes = UINT64_MAX,
                               .clock = &clock_monotonic};
    if (target_create(&bench.target, &plan, &err) < 0 || target_warm_cache(&bench.target, NULL, &err) < 0) {
        fprintf(stderr, "overhead: %s\n", err.text);
        return 1;
    }
    snprintf(bench.fio_file, sizeof bench.fio_file, "%s/overhead-fio-%d.tmp", bench.directory, (int)getpid());
    fio_iops(&bench, "psync", 1); /* writes its file, which stays in the page cache */
    compare(&bench, false, n_rounds);
    compare(&bench, true, n_rounds);
    unlink(bench.fio_file);
    target_close(&bench.target);
    arena_free(&bench.arena);
    return 0;
}
