/* Writes that reach the device before they return, and reads from it. */
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/run/calibrate_internal.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* On a slow device fewer calls are enough. */
#define SYNC_SECONDS     0.5
#define SYNC_LEAST_CALLS 2

#define SEEK_GROUP    8  /* writes of one kind before the other has its turn */
#define SEEK_DISTANCE 16 /* of the random places, in writes */

static bool is_proved(enum target_proof proof)
{
    return proof == TARGET_DIRECT_PROVED;
}

/* Opens the file again, durable with each write, and past the page cache where that is proved. */
static int reopen_durable(const struct calibrate *calibrate, int fd, int *ret_fd, struct err *err)
{
    int direct = is_proved(calibrate->target->direct_write) ? O_DIRECT : 0;
    return target_reopen(fd, "a file of the calibration", O_RDWR | O_DSYNC | direct, ret_fd, err);
}

/* A new file that grows by durable writes, from its second one on: the first makes its metadata. Ends after
 * n_most calls, or after the least of them when `seconds` have passed. */
static int grow(struct calibrate *calibrate, uint64_t size_bytes, size_t n_most, double seconds,
                double *ret_mean_s, struct err *err)
{
    int scratch_fd, fd = -1;
    int code = calibrate_scratch(calibrate, &scratch_fd, err);
    if (code < 0)
        return code;
    code = reopen_durable(calibrate, scratch_fd, &fd, err);
    close(scratch_fd);
    if (code < 0)
        return code;
    /* What others left to be written must not count for this file. */
    code = syncfs(fd) == 0 ? calibrate_write(calibrate, fd, 0, size_bytes, 1) : -errno;
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    double taken_s = 0;
    size_t n = 0;
    while (n < n_most && code == 0 && (n < SYNC_LEAST_CALLS || taken_s < seconds)) {
        code = calibrate_write(calibrate, fd, (n + 1) * size_bytes, size_bytes, 1);
        taken_s = calibrate_seconds(calibrate, start_ns);
        n++;
    }
    close(fd);
    calibrate->written_bytes += (n + 1) * size_bytes;
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_mean_s = taken_s / (double)n;
    return 0;
}

int calibrate_sync(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err)
{
    double mean_s = 0;
    int code = grow(calibrate, size_bytes, n_calls, SYNC_SECONDS, &mean_s, err);
    if (code == 0)
        *ret_s = mean_s;
    return code;
}

static size_t n_large(uint64_t size_bytes, uint64_t each_bytes)
{
    return size_bytes < each_bytes ? each_bytes / size_bytes : 1;
}

static size_t add_alike(struct replay_write *writes, size_t at, uint64_t size_bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, at++) {
        uint64_t end = at > 0 ? writes[at - 1].offset_bytes + writes[at - 1].size_bytes : 0;
        writes[at] = (struct replay_write){.offset_bytes = end, .size_bytes = size_bytes};
    }
    return at;
}

/* Writes that do not count, and then those of each size. The caller frees them. */
static int plan_large(const uint64_t *sizes_bytes, size_t n_sizes, uint64_t each_bytes,
                      struct replay_write **ret_writes, size_t *ret_n)
{
    size_t n_most = CALIBRATE_SETTLE_WRITES;
    for (size_t i = 0; i < n_sizes; i++)
        n_most += n_large(sizes_bytes[i], each_bytes);
    struct replay_write *writes = calloc(n_most, sizeof *writes);
    if (writes == NULL)
        return -ENOMEM;
    size_t n = add_alike(writes, 0, each_bytes / CALIBRATE_SETTLE_WRITES, CALIBRATE_SETTLE_WRITES);
    for (size_t i = 0; i < n_sizes; i++)
        n = add_alike(writes, n, sizes_bytes[i], n_large(sizes_bytes[i], each_bytes));
    *ret_writes = writes;
    *ret_n = n;
    return 0;
}

static enum replay_mode durable_mode(const struct calibrate *calibrate)
{
    return is_proved(calibrate->target->direct_write) ? REPLAY_DIRECT : REPLAY_SYNC;
}

int calibrate_large(struct calibrate *calibrate, const uint64_t *sizes_bytes, size_t n_sizes,
                    uint64_t each_bytes, double *ret_s, struct err *err)
{
    struct replay_write *writes;
    struct replay_result result;
    size_t n, at = CALIBRATE_SETTLE_WRITES;
    int code = plan_large(sizes_bytes, n_sizes, each_bytes, &writes, &n);
    if (code < 0)
        return calibrate_fail(err, code);
    code = calibrate_replay(calibrate, durable_mode(calibrate), true, writes, n, 1, &result, err);
    calibrate->written_bytes += result.written_bytes;
    for (size_t i = 0; i < n_sizes && code == 0; i++) {
        size_t n_calls = n_large(sizes_bytes[i], each_bytes);
        double ns = 0;
        for (size_t k = 0; k < n_calls; k++)
            ns += (double)result.costs_ns[at++];
        ret_s[i] = ns / 1e9 / (double)n_calls;
    }
    replay_done(&result);
    free(writes);
    return code;
}

/* Groups of writes to file 0, one after the other, and to file 1, in random order, in turn. */
static void plan_seeks(struct replay_write writes[CALIBRATE_SEEK_WRITES], uint64_t size_bytes, uint64_t seed)
{
    uint64_t places[CALIBRATE_SEEK_WRITES / 2] = {0};
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < CALIBRATE_SEEK_WRITES / 2; i++) {
        size_t k = rng_next(&rng) % (i + 1);
        places[i] = places[k];
        places[k] = i;
    }
    for (size_t i = 0; i < CALIBRATE_SEEK_WRITES; i++) {
        uint32_t file = i / SEEK_GROUP % 2;
        size_t k = i / SEEK_GROUP / 2 * SEEK_GROUP + i % SEEK_GROUP;
        /* Places apart from one another: neighbours might share what one of them made. */
        writes[i] =
            (struct replay_write){.file = file,
                                  .offset_bytes = (file == 0 ? k : places[k] * SEEK_DISTANCE) * size_bytes,
                                  .size_bytes = size_bytes};
    }
}

/* The first write of a group comes from somewhere else in any case. */
static double mean_difference_s(const struct replay_result *result)
{
    double ns = 0;
    for (size_t i = 0; i < CALIBRATE_SEEK_WRITES; i++)
        if (i % SEEK_GROUP != 0)
            ns += (i / SEEK_GROUP % 2 == 0 ? -1 : 1) * (double)result->costs_ns[i];
    return ns / 1e9 / (CALIBRATE_SEEK_WRITES / 2.0) * SEEK_GROUP / (SEEK_GROUP - 1.0);
}

uint64_t calibrate_seek_bytes(const struct calibrate *calibrate)
{
    uint64_t align_bytes = calibrate->target->direct_offset_align_bytes;
    return align_bytes > CALIBRATE_SEEK_BYTES ? align_bytes : CALIBRATE_SEEK_BYTES;
}

int calibrate_seek(struct calibrate *calibrate, double *ret_s, struct err *err)
{
    struct replay_write writes[CALIBRATE_SEEK_WRITES];
    struct replay_result result;
    plan_seeks(writes, calibrate_seek_bytes(calibrate), rng_derive(calibrate->seed, ++calibrate->n_seeks));
    int code = calibrate_replay(calibrate, durable_mode(calibrate), true, writes, CALIBRATE_SEEK_WRITES, 2,
                                &result, err);
    calibrate->written_bytes += result.written_bytes;
    if (code == 0)
        *ret_s = mean_difference_s(&result);
    replay_done(&result);
    return code;
}

int calibrate_read(struct calibrate *calibrate, uint64_t bytes, double *ret_bps, struct err *err)
{
    bool direct = is_proved(calibrate->target->direct_read);
    uint64_t n_whole = calibrate->target->size_bytes / CALIBRATE_REQUEST_BYTES;
    uint64_t n = bytes / CALIBRATE_REQUEST_BYTES;
    int fd;
    enum target_cold cold;
    int code = direct ? 0 : target_drop_cache(calibrate->target, &cold, err);
    if (code == 0)
        code = target_reopen(calibrate->target->fd, calibrate->target->name,
                             O_RDONLY | (direct ? O_DIRECT : 0), &fd, err);
    if (code < 0)
        return code;
    uint64_t first = calibrate->n_reads++ * n;
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    for (uint64_t i = 0; i < n && code == 0; i++)
        code = calibrate_is_interrupted(calibrate)
                   ? -EINTR
                   : full_io_read(fd, calibrate->data, CALIBRATE_REQUEST_BYTES,
                                  (first + i) % n_whole * CALIBRATE_REQUEST_BYTES);
    double seconds = calibrate_seconds(calibrate, start_ns);
    close(fd);
    calibrate->read_bytes += n * CALIBRATE_REQUEST_BYTES;
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_bps = (double)(n * CALIBRATE_REQUEST_BYTES) / seconds;
    return 0;
}
