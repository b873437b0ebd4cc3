/* What one request costs in fstune, beside a bare loop in C and beside fio: 4 KiB random reads from tmpfs and
 * from the warm page cache. fstune and the bare loop run in turn in short blocks, and ratios are taken pair
 * by pair, so that what else the machine does meets both; CPU times feel it least. User instructions are
 * counted by callgrind over two lengths of run, whose difference has no start-up in it.
 *
 * usage:
 *   overhead [DIRECTORY [PAIRS]]   what is missing of fio and valgrind leaves its column empty
 *   overhead --count bare|fstune SETTING REQUESTS   for callgrind: so many requests in the setting of this
 *                                                   number and nothing else */
#include "bench/io/arena.h"
#include "bench/io/pump.h"
#include "bench/target/target.h"
#include "models/statistics/student.h"

#include <jansson.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define REQUEST      4096U
#define FILE_BYTES   (256ULL << 20)
#define COUNT_BYTES  (16ULL << 20) /* of the file in memory that callgrind's runs read */
#define BLOCK_NS     100000000ULL
#define MAX_DEPTH    32U
#define MAX_ROUNDS   999
#define FIO_ROUNDS   11
#define FIO_BLOCK_MS 500 /* fio counts milliseconds, and starts its workers in each block */
#define COUNT_SHORT  20000
#define COUNT_LONG   60000
#define CHUNK        64 /* requests between two looks at the clock in the bare loop of pread */
#define COOPERATIVE  (IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)
#define MISSING      (-1.0)

struct setting {
    const char *name, *fio_engine;
    enum api api;
    uint32_t depth;
    bool has_bare, cooperative;
};

static const struct setting settings[] = {
    {"psync, depth 1", "psync", API_PSYNC, 1, true, false},
    {"io_uring, depth 32, plain ring", "io_uring", API_IO_URING, 32, true, false},
    /* fio's ring is set up like this. */
    {"io_uring, depth 32, cooperative", "io_uring", API_IO_URING, 32, true, true},
    {"libaio, depth 32", "libaio", API_LIBAIO, 32, false, false},
};

#define N_SETTINGS (sizeof settings / sizeof settings[0])

struct bench {
    int fd;
    uint64_t size_bytes;
    struct arena arena;
    struct rng rng;
};

/* When a block ends: at a time or after so many requests; the other is 0. */
struct limit {
    uint64_t duration_ns, n_requests;
};

struct sample {
    double n, iops;
    double user_ns, system_ns; /* per request; fio tells its own thread's, not that of the kernel's helpers */
};

struct spread {
    double low, median, high;
};

static bool is_over(const struct limit *limit, uint64_t elapsed_ns, uint64_t n)
{
    return limit->n_requests != 0 ? n >= limit->n_requests : elapsed_ns >= limit->duration_ns;
}

static off_t random_offset(struct bench *bench)
{
    return (off_t)(rng_next(&bench->rng) % (bench->size_bytes / REQUEST) * REQUEST);
}

/* Requests made, and the time they took. */
static uint64_t bare_pread(struct bench *bench, const struct limit *limit, uint64_t *ret_ns)
{
    static _Alignas(4096) unsigned char buffer[REQUEST];
    uint64_t start = clock_now_ns(&clock_monotonic), now = start, n = 0;
    for (; !is_over(limit, now - start, n); now = clock_now_ns(&clock_monotonic)) {
        for (int i = 0; i < CHUNK; i++, n++) {
            if (pread(bench->fd, buffer, REQUEST, random_offset(bench)) != REQUEST)
                return 0;
        }
    }
    *ret_ns = now - start;
    return n;
}

static void bare_prepare(struct bench *bench, struct io_uring *ring, unsigned char *buffer)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    io_uring_prep_read(sqe, bench->fd, buffer, REQUEST, (uint64_t)random_offset(bench));
    io_uring_sqe_set_data(sqe, buffer);
}

static uint64_t bare_uring(struct bench *bench, bool cooperative, const struct limit *limit, uint64_t *ret_ns)
{
    static _Alignas(4096) unsigned char buffers[MAX_DEPTH][REQUEST];
    struct io_uring_cqe *cqes[MAX_DEPTH];
    struct io_uring ring;
    if (io_uring_queue_init(2 * MAX_DEPTH, &ring, cooperative ? COOPERATIVE : 0) < 0)
        return 0;
    for (unsigned i = 0; i < MAX_DEPTH; i++)
        bare_prepare(bench, &ring, buffers[i]);
    uint64_t start = clock_now_ns(&clock_monotonic), now = start, n = 0;
    for (; !is_over(limit, now - start, n); now = clock_now_ns(&clock_monotonic)) {
        io_uring_submit_and_wait(&ring, 1);
        unsigned done = io_uring_peek_batch_cqe(&ring, cqes, MAX_DEPTH);
        for (unsigned i = 0; i < done; i++) {
            unsigned char *buffer = io_uring_cqe_get_data(cqes[i]);
            n += cqes[i]->res == REQUEST;
            bare_prepare(bench, &ring, buffer);
        }
        io_uring_cq_advance(&ring, done);
    }
    *ret_ns = now - start;
    io_uring_queue_exit(&ring);
    return n;
}

/* A phase looks here after every batch, as a run with several threads does for the failure of another. */
static bool never(void *context, double batch_latency_ns)
{
    (void)batch_latency_ns;
    return atomic_load_explicit((atomic_int *)context, memory_order_relaxed) != 0;
}

static int make_pump(struct bench *bench, const struct setting *setting, struct pump *pump, struct err *err)
{
    struct pump_config config = {
        .clock = &clock_monotonic,
        .ops = ioapi_table[setting->api],
        .region_bytes = bench->size_bytes,
        .fds = &bench->fd,
        .n_files = 1,
        .n_calls = setting->depth,
        .request_size_bytes = REQUEST,
        .requests_per_call = 1,
        .rounds_per_call = 1,
        .batch_requests = WARMUP_BATCH_DEFAULT,
        .works_in_submit = ioapi_table[setting->api]->inline_io,
        .seed = rng_next(&bench->rng),
    };
    int result = pattern_parse("randread", &config.pattern, err);
    if (result == 0)
        result = arena_reserve(&bench->arena, (uint64_t)setting->depth * REQUEST, 1, err);
    config.buffers = bench->arena.memory;
    if (result == 0)
        result = pump_init(pump, &config, err);
    /* What the warm-up of a run finds out. */
    pump->speed = PUMP_SPEED_FAST;
    return result;
}

static uint64_t fstune_phase(struct bench *bench, const struct setting *setting, struct pump *pump,
                             const struct limit *limit, uint64_t *ret_ns, struct err *err)
{
    static struct histogram latency;
    static atomic_int interrupted;
    struct ioapi_config config = {.fd = bench->fd,
                                  .n_calls = pump->n_calls,
                                  .request_size_bytes = REQUEST,
                                  .requests_per_call = 1,
                                  .cooperative_ring = setting->cooperative};
    struct pump_end end = {.duration_ns = limit->n_requests != 0 ? UINT64_MAX : limit->duration_ns,
                           .max_bytes = limit->n_requests * REQUEST,
                           .interrupted = &interrupted,
                           .after_batch = never,
                           .context = &interrupted,
                           .batches_per_stamp = PUMP_BATCHES_PER_STAMP};
    struct pump_stats stats = {.counted.latency = &latency};
    int result = pump->ops->open(pump->io, &config, err);
    if (result == 0)
        result = pump_phase(pump, &end, &stats, err);
    pump->ops->close(pump->io);
    *ret_ns = stats.last_complete_ns - stats.first_submit_ns;
    return result == 0 ? stats.counted.n_requests : 0;
}

static uint64_t fstune(struct bench *bench, const struct setting *setting, const struct limit *limit,
                       uint64_t *ret_ns)
{
    struct pump pump = {0};
    struct err err = {0};
    uint64_t n = 0;
    if (make_pump(bench, setting, &pump, &err) == 0) {
        pump.io = calloc(1, pump.ops->state_size);
        n = pump.io != NULL ? fstune_phase(bench, setting, &pump, limit, ret_ns, &err) : 0;
        free(pump.io);
    }
    pump_done(&pump);
    if (n == 0)
        fprintf(stderr, "overhead: %s\n", err.text);
    return n;
}

static uint64_t run(struct bench *bench, const struct setting *setting, bool bare, const struct limit *limit,
                    uint64_t *ret_ns)
{
    if (!bare)
        return fstune(bench, setting, limit, ret_ns);
    return setting->api == API_PSYNC ? bare_pread(bench, limit, ret_ns)
                                     : bare_uring(bench, setting->cooperative, limit, ret_ns);
}

static double nanoseconds(const struct timeval *from, const struct timeval *to)
{
    return (double)(to->tv_sec - from->tv_sec) * 1e9 + (double)(to->tv_usec - from->tv_usec) * 1e3;
}

static struct sample block(struct bench *bench, const struct setting *setting, bool bare,
                           uint64_t duration_ns)
{
    const struct limit limit = {.duration_ns = duration_ns};
    struct rusage before, after;
    uint64_t ns = 0;
    getrusage(RUSAGE_SELF, &before);
    uint64_t n = run(bench, setting, bare, &limit, &ns);
    getrusage(RUSAGE_SELF, &after);
    if (n == 0 || ns == 0)
        exit(1);
    return (struct sample){.n = (double)n,
                           .iops = (double)n / ((double)ns / 1e9),
                           .user_ns = nanoseconds(&before.ru_utime, &after.ru_utime) / (double)n,
                           .system_ns = nanoseconds(&before.ru_stime, &after.ru_stime) / (double)n};
}

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* On the same nameless file. False where fio is missing or cannot. */
static bool fio(const struct bench *bench, const struct setting *setting, struct sample *ret)
{
    char command[8192];
    snprintf(
        command, sizeof command,
        "fio --name=x --filename=/proc/%d/fd/%d --rw=randread --bs=4k --ioengine=%s --iodepth=%u --thread "
        "--readonly --invalidate=0 --fadvise_hint=0 --time_based --runtime=%dms --size=256m "
        "--output-format=json 2>/dev/null",
        (int)getpid(), bench->fd, setting->fio_engine, setting->depth, FIO_BLOCK_MS);
    FILE *pipe = popen(command, "re");
    if (pipe == NULL)
        return false;
    json_t *root = json_loadf(pipe, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *job = json_array_get(json_object_get(root, "jobs"), 0);
    const json_t *read = json_object_get(job, "read");
    double n = number_at(read, "total_ios"), percent_ns = number_at(read, "runtime") * 1e6 / 100;
    *ret = (struct sample){.n = n,
                           .iops = number_at(read, "iops"),
                           .user_ns = number_at(job, "usr_cpu") * percent_ns / n,
                           .system_ns = number_at(job, "sys_cpu") * percent_ns / n};
    json_decref(root);
    return pclose(pipe) == 0 && n > 0;
}

static struct spread spread_of(double *values, size_t n)
{
    struct spread spread = {values[0], median_of(values, n), values[0]};
    for (size_t i = 1; i < n; i++) {
        spread.low = values[i] < spread.low ? values[i] : spread.low;
        spread.high = values[i] > spread.high ? values[i] : spread.high;
    }
    return spread;
}

static void print_ratios(const char *what, double *ratios, size_t n)
{
    struct spread spread = spread_of(ratios, n);
    printf("    %-34s %.3f   (%.3f to %.3f, %zu pairs)\n", what, spread.median, spread.low, spread.high, n);
}

/* Of all blocks together: the kernel tells user from system time by ticks, too coarse for one block. */
static void print_cpu(const char *who, const struct sample *samples, size_t n)
{
    double user = 0, system = 0, requests = 0;
    for (size_t i = 0; i < n; i++) {
        user += samples[i].user_ns * samples[i].n;
        system += samples[i].system_ns * samples[i].n;
        requests += samples[i].n;
    }
    printf("    CPU ns per request, %-14s %.0f user + %.0f system\n", who, user / requests,
           system / requests);
}

static void compare_bare(struct bench *bench, const struct setting *setting, size_t n_pairs)
{
    static struct sample bare[MAX_ROUNDS], own[MAX_ROUNDS];
    double iops[MAX_ROUNDS], cpu[MAX_ROUNDS];
    for (size_t i = 0; i < n_pairs; i++) {
        bool bare_first = i % 2 == 0;
        if (bare_first)
            bare[i] = block(bench, setting, true, BLOCK_NS);
        own[i] = block(bench, setting, false, BLOCK_NS);
        if (!bare_first)
            bare[i] = block(bench, setting, true, BLOCK_NS);
        iops[i] = own[i].iops / bare[i].iops;
        cpu[i] = (bare[i].user_ns + bare[i].system_ns) / (own[i].user_ns + own[i].system_ns);
    }
    print_ratios("fstune / bare loop, requests/s", iops, n_pairs);
    print_ratios("bare loop / fstune, CPU time", cpu, n_pairs);
    print_cpu("fstune", own, n_pairs);
    print_cpu("bare loop", bare, n_pairs);
}

static void compare_fio(struct bench *bench, const struct setting *setting)
{
    static struct sample theirs[FIO_ROUNDS], own[FIO_ROUNDS];
    double iops[FIO_ROUNDS];
    for (size_t i = 0; i < FIO_ROUNDS; i++) {
        bool fio_first = i % 2 == 0;
        bool known = !fio_first || fio(bench, setting, &theirs[i]);
        own[i] = block(bench, setting, false, FIO_BLOCK_MS * 1000000ULL);
        if (!known || (!fio_first && !fio(bench, setting, &theirs[i]))) {
            puts("    fio is not installed or failed: no comparison with it");
            return;
        }
        iops[i] = own[i].iops / theirs[i].iops;
    }
    print_ratios("fstune / fio, requests/s", iops, FIO_ROUNDS);
    if (!setting->has_bare)
        print_cpu("fstune", own, FIO_ROUNDS);
    print_cpu("fio", theirs, FIO_ROUNDS);
}

static int measure_place(const char *place, const char *directory, size_t n_pairs)
{
    struct bench bench = {.size_bytes = FILE_BYTES};
    struct target target;
    struct err err = {0};
    struct target_plan plan = {.directory = directory,
                               .size_bytes = FILE_BYTES,
                               .max_write_bytes = UINT64_MAX,
                               .clock = &clock_monotonic};
    rng_init(&bench.rng, 1);
    if (target_create(&target, &plan, &err) < 0 || target_warm_cache(&target, NULL, &err) < 0) {
        fprintf(stderr, "overhead: %s: %s\n", directory, err.text);
        return 1;
    }
    bench.fd = target.fd;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        printf("  %s, %s\n", place, settings[i].name);
        if (settings[i].has_bare)
            compare_bare(&bench, &settings[i], n_pairs);
        compare_fio(&bench, &settings[i]);
        fflush(stdout);
    }
    target_close(&target);
    arena_free(&bench.arena);
    return 0;
}

/* The requests that callgrind looks at: of a file in memory, since no instruction of the kernel counts. */
static int count(const char *who, const char *number, const char *requests)
{
    struct bench bench = {.size_bytes = COUNT_BYTES, .fd = memfd_create("overhead", MFD_CLOEXEC)};
    struct limit limit = {.n_requests = strtoul(requests, NULL, 10)};
    size_t i = strtoul(number, NULL, 10);
    uint64_t ns = 0;
    rng_init(&bench.rng, 1);
    if (i >= N_SETTINGS || bench.fd < 0 || ftruncate(bench.fd, (off_t)bench.size_bytes) != 0)
        return 1;
    uint64_t n = run(&bench, &settings[i], strcmp(who, "bare") == 0, &limit, &ns);
    arena_free(&bench.arena);
    close(bench.fd);
    return n >= limit.n_requests ? 0 : 1;
}

/* Instructions of one run, or MISSING. */
static double callgrind(const char *program, const char *who, size_t setting, unsigned n_requests)
{
    char command[8192], line[512];
    double instructions = MISSING;
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --count %s %zu %u 2>&1", program,
             who, setting, n_requests);
    FILE *pipe = popen(command, "re");
    if (pipe == NULL)
        return MISSING;
    while (fgets(line, sizeof line, pipe) != NULL) {
        const char *found = strstr(line, "Collected : ");
        if (found != NULL)
            instructions = strtod(found + strlen("Collected : "), NULL);
    }
    return pclose(pipe) == 0 ? instructions : MISSING;
}

static void print_instructions(const char *program, const char *who, size_t setting)
{
    const char *name = settings[setting].name;
    double few = callgrind(program, who, setting, COUNT_SHORT);
    double many = callgrind(program, who, setting, COUNT_LONG);
    if (few == MISSING || many == MISSING)
        printf("    %-32s %-10s not counted: valgrind is missing or failed\n", name, who);
    else
        printf("    %-32s %-10s %.1f\n", name, who, (many - few) / (COUNT_LONG - COUNT_SHORT));
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--count") == 0)
        return count(argv[2], argv[3], argv[4]);
    size_t n_pairs = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 50;
    n_pairs = n_pairs < 1 ? 1 : n_pairs > MAX_ROUNDS ? MAX_ROUNDS : n_pairs;
    puts("4 KiB random reads; medians, and the whole range in brackets");
    int result = measure_place("tmpfs", "/dev/shm", n_pairs);
    if (result == 0)
        result = measure_place("page cache", argc > 1 ? argv[1] : ".", n_pairs);
    puts("  user instructions per request (callgrind; the kernel's do not count)");
    for (size_t i = 0; i < N_SETTINGS; i++) {
        print_instructions(argv[0], "fstune", i);
        if (settings[i].has_bare)
            print_instructions(argv[0], "bare", i);
        fflush(stdout);
    }
    return result;
}
