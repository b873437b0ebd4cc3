/* Writes into the page cache: new bytes, the same again, small ones, and while others are written back. */
#include "bench/run/calibrate_internal.h"
#include "bench/run/replay_internal.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BACK_STEP_BYTES (8ULL << 20) /* the writing back can end between two */
#define BACK_SHARE      2            /* times cache_bytes */
#define LEAST_REQUESTS  8
#define CACHE_WRITES    3  /* the first one of a file costs more */
#define FLUSHED_WRITES  16 /* into all of it, at least */
#define N_FLUSHES       2  /* the last one counts */
#define LEAST_WRITES    2  /* a replay's, with others being written back */

static int cut(int fd, uint64_t bytes)
{
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : -errno;
}

/* Empties the file, so that closing it writes nothing back. */
static int finish(int fd, int code, struct err *err)
{
    int cut_code = cut(fd, 0);
    close(fd);
    code = code < 0 ? code : cut_code;
    return code < 0 ? calibrate_fail(err, code) : 0;
}

/* Lists n_passes times the same bytes, one after the other, in at least n_least writes, so large that they
 * come from memory and not from the processor's cache. The caller frees them. */
static int plan_passes(uint64_t total_bytes, size_t n_least, size_t n_passes,
                       struct replay_write **ret_writes, size_t *ret_n)
{
    uint64_t size = total_bytes / n_least;
    size = size < CALIBRATE_WRITE_BYTES ? size : CALIBRATE_WRITE_BYTES;
    size_t n = total_bytes / size;
    struct replay_write *writes = calloc(n * n_passes, sizeof *writes);
    if (writes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n * n_passes; i++)
        writes[i] = (struct replay_write){.offset_bytes = i % n * size, .size_bytes = size};
    *ret_writes = writes;
    *ret_n = n * n_passes;
    return 0;
}

static double rate_of(const struct replay_write *writes, const struct replay_result *result, size_t from,
                      size_t below)
{
    double bytes = 0, ns = 0;
    for (size_t i = from; i < below; i++) {
        bytes += (double)writes[i].size_bytes;
        ns += (double)result->costs_ns[i];
    }
    return 1e9 * bytes / fmax(ns, 1);
}

int calibrate_cache(struct calibrate *calibrate, double *ret_bps, double *ret_rewrite_bps, struct err *err)
{
    struct replay_write *writes;
    struct replay_result result;
    size_t n;
    /* As much as may be dirty, but no more than a few of the largest writes. */
    uint64_t most = CACHE_WRITES * CALIBRATE_WRITE_BYTES, bytes = CACHE_WRITES * calibrate->cache_bytes;
    int code = plan_passes(bytes < most ? bytes : most, CACHE_WRITES, 2, &writes, &n);
    if (code < 0)
        return calibrate_fail(err, code);
    code = calibrate_replay(calibrate, REPLAY_NOSYNC, true, writes, n, 1, &result, err);
    if (code == 0) {
        *ret_bps = rate_of(writes, &result, 0, n / 2);
        *ret_rewrite_bps = rate_of(writes, &result, n / 2, n);
    }
    replay_done(&result);
    free(writes);
    return code;
}

/* Position of the first write that found so much memory dirty that writers wait; else the number of
 * writes. */
static size_t first_waiting(const struct replay_result *result, uint64_t limit_bytes)
{
    uint64_t at_ns = UINT64_MAX;
    for (size_t i = result->n_samples; i-- > 0;)
        if (result->samples[i].dirty_bytes >= limit_bytes)
            at_ns = result->samples[i].at_ns;
    for (size_t i = 0; i < result->n; i++)
        if (result->ends_ns[i] >= at_ns)
            return i;
    return result->n;
}

int calibrate_flushed(struct calibrate *calibrate, uint64_t bytes, uint64_t limit_bg_bytes,
                      uint64_t limit_hard_bytes, double *ret_bps, bool *ret_waited, struct err *err)
{
    struct replay_write *writes;
    struct replay_result result;
    size_t n;
    int code = plan_passes(bytes, FLUSHED_WRITES, 1, &writes, &n);
    if (code < 0)
        return calibrate_fail(err, code);
    code = calibrate_replay(calibrate, REPLAY_NOSYNC, true, writes, n, 1, &result, err);
    if (result.written_bytes > limit_bg_bytes)
        calibrate->written_bytes += result.written_bytes - limit_bg_bytes;
    if (code == 0) {
        size_t from = limit_bg_bytes / writes[0].size_bytes + 1,
               below = first_waiting(&result, limit_bg_bytes + (limit_hard_bytes - limit_bg_bytes) / 2);
        code = from + LEAST_WRITES > below ? -EAGAIN : 0;
        *ret_waited = below < n;
        if (code == 0)
            *ret_bps = rate_of(writes, &result, from, below);
    }
    replay_done(&result);
    free(writes);
    return code;
}

/* n small writes of one size, one after the other; what others write meanwhile hardly matters.
 * replay_done(ret) in any case. */
static int replay_alike(const struct calibrate *calibrate, enum replay_mode mode, uint64_t size_bytes,
                        size_t n, struct replay_result *ret, struct err *err)
{
    struct replay_write *writes = calloc(n, sizeof *writes);
    *ret = (struct replay_result){0};
    if (writes == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu writes", n);
    for (size_t i = 0; i < n; i++)
        writes[i] = (struct replay_write){.offset_bytes = i * size_bytes, .size_bytes = size_bytes};
    int code = calibrate_replay(calibrate, mode, false, writes, n, 1, ret, err);
    free(writes);
    return code;
}

int calibrate_call(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err)
{
    struct replay_result result;
    int code = replay_alike(calibrate, REPLAY_NOSYNC, size_bytes, n_calls, &result, err);
    if (code == 0) {
        double ns = 0;
        for (size_t i = 0; i < n_calls; i++)
            ns += (double)result.costs_ns[i];
        *ret_s = ns / 1e9 / (double)n_calls;
    }
    replay_done(&result);
    return code;
}

int calibrate_buffer(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                     struct err *err)
{
    struct replay_result result;
    double *costs_s = malloc(n_calls * sizeof *costs_s);
    if (costs_s == NULL)
        return calibrate_fail(err, -ENOMEM);
    int code = replay_alike(calibrate, REPLAY_STDIO, size_bytes, n_calls, &result, err);
    for (size_t i = 0; i < n_calls && code == 0; i++)
        costs_s[i] = (double)result.costs_ns[i] / 1e9;
    /* Writes that flush the buffer are an eighth at most and cost more than all others, so the middle leaves
     * them out. */
    if (code == 0)
        *ret_s = calibrate_middle(costs_s, n_calls);
    replay_done(&result);
    free(costs_s);
    return code;
}

/* The beginning of a file is written to the device while its end grows. */
struct back {
    int fd;
    uint64_t bytes, sent_bytes;
    atomic_bool stop, done;
};

static void *write_back(void *context)
{
    struct back *back = context;
    while (back->sent_bytes < back->bytes && !atomic_load(&back->stop)) {
        uint64_t left = back->bytes - back->sent_bytes,
                 step = left < BACK_STEP_BYTES ? left : BACK_STEP_BYTES;
        if (sync_file_range(back->fd, (off_t)back->sent_bytes, (off_t)step, SYNC_FILE_RANGE_WRITE) != 0)
            break;
        back->sent_bytes += step;
    }
    /* Some of what was sent is still in the queue. */
    if (!atomic_load(&back->stop))
        sync_file_range(back->fd, 0, (off_t)back->bytes, SYNC_FILE_RANGE_WAIT_BEFORE);
    atomic_store(&back->done, true);
    return NULL;
}

/* Writes for as long as pages are written back. */
static int write_beside(const struct calibrate *calibrate, struct back *back, double *ret_bps)
{
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    size_t n = 0, n_most = calibrate->cache_bytes / CALIBRATE_REQUEST_BYTES;
    double seconds = 0;
    int code = 0;
    while (n < n_most && code == 0) {
        code = calibrate_write(calibrate, back->fd, back->bytes + n * CALIBRATE_REQUEST_BYTES,
                               CALIBRATE_REQUEST_BYTES, 1);
        if (atomic_load(&back->done))
            break;
        n++;
        seconds = calibrate_seconds(calibrate, start_ns);
    }
    if (code == 0 && n < LEAST_REQUESTS && n < n_most)
        code = -EAGAIN;
    if (code == 0)
        *ret_bps = (double)(n * CALIBRATE_REQUEST_BYTES) / seconds;
    return code;
}

static int measure_beside(struct calibrate *calibrate, struct back *back, double *ret_bps)
{
    pthread_t thread;
    int code = -pthread_create(&thread, NULL, write_back, back);
    if (code < 0)
        return code;
    code = write_beside(calibrate, back, ret_bps);
    atomic_store(&back->stop, true);
    pthread_join(thread, NULL);
    calibrate->written_bytes += back->sent_bytes;
    return code;
}

int calibrate_reduced(struct calibrate *calibrate, double *ret_bps, struct err *err)
{
    struct back back = {.bytes = BACK_SHARE * calibrate->cache_bytes};
    struct replay_write all = {.size_bytes = back.bytes + calibrate->cache_bytes};
    struct replay_plan plan = {.mode = REPLAY_NOSYNC, .writes = &all, .n = 1};
    struct replay_warm warm;
    double bps = 0;
    int code = calibrate_scratch(calibrate, &back.fd, err);
    if (code < 0)
        return code;
    replay_warm_open(&warm, &plan);
    (void)replay_warm_give(&warm, back.bytes);
    code =
        calibrate_write(calibrate, back.fd, 0, CALIBRATE_REQUEST_BYTES, back.bytes / CALIBRATE_REQUEST_BYTES);
    (void)replay_warm_give(&warm, calibrate->cache_bytes);
    if (code == 0)
        code = measure_beside(calibrate, &back, &bps);
    replay_warm_close(&warm);
    code = finish(back.fd, code, err);
    if (code == 0)
        *ret_bps = bps;
    return code;
}

/* The kernel may have begun a flush; then less is left of it, and the rate comes out too high. Memory that
 * was touched before is given to the page cache, whose copy is not timed. */
static int flush_timed(const struct calibrate *calibrate, int fd, uint64_t offset_bytes, uint64_t bytes,
                       struct replay_warm *warm, double *ret_s)
{
    (void)replay_warm_give(warm, bytes);
    int code = calibrate_write(calibrate, fd, offset_bytes, CALIBRATE_REQUEST_BYTES,
                               bytes / CALIBRATE_REQUEST_BYTES);
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    if (code == 0 && fdatasync(fd) != 0)
        code = -errno;
    *ret_s = calibrate_seconds(calibrate, start_ns);
    return code;
}

int calibrate_writeback(struct calibrate *calibrate, uint64_t bytes, double *ret_bps, struct err *err)
{
    struct replay_write all = {.size_bytes = N_FLUSHES * bytes};
    struct replay_plan plan = {.mode = REPLAY_NOSYNC, .writes = &all, .n = 1};
    struct replay_warm warm;
    double seconds = 0;
    int fd, code = calibrate_scratch(calibrate, &fd, err);
    if (code < 0)
        return code;
    replay_warm_open(&warm, &plan);
    code = syncfs(fd) == 0 ? 0 : -errno;
    for (uint64_t i = 0; i < N_FLUSHES && code == 0; i++) {
        code = flush_timed(calibrate, fd, i * bytes, bytes, &warm, &seconds);
        calibrate->written_bytes += bytes;
    }
    replay_warm_close(&warm);
    code = finish(fd, code, err);
    if (code == 0)
        *ret_bps = (double)bytes / seconds;
    return code;
}
