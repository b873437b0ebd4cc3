/* What the measurements of a calibration share, and the two that need no device. */
#include "bench/run/calibrate.h"

#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/run/calibrate_internal.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGN_BYTES   4096
#define MEMORY_COPIES 4

/* Waits at most so long until others have no more dirty memory than this, which is too little to matter. */
#define CALM_BYTES    (32ULL << 20)
#define CALM_LIMIT_NS (2 * CLOCK_NS_PER_S)

bool calibrate_is_interrupted(const struct calibrate *calibrate)
{
    return calibrate->interrupted != NULL && atomic_load(calibrate->interrupted) != 0;
}

double calibrate_seconds(const struct calibrate *calibrate, uint64_t start_ns)
{
    return fmax((double)(clock_now_ns(calibrate->clock) - start_ns), 1) / 1e9;
}

int calibrate_fail(struct err *err, int code)
{
    if (code == -EINTR)
        return err_set(err, code, "interrupted");
    if (code == -EFBIG)
        return err_set(err, code, "the limit on the size of files (ulimit -f) is too small to calibrate");
    return err_io(err, code, "a file of the calibration");
}

int calibrate_scratch(const struct calibrate *calibrate, int *ret_fd, struct err *err)
{
    bool tmpfile;
    return target_create_nameless(calibrate->directory_fd, "the directory", ret_fd, &tmpfile, err);
}

/* Large writes come from all of the memory in turn, because what a program writes, or a disk's host copies,
 * is rarely in the processor's cache. */
static const unsigned char *source(const struct calibrate *calibrate, uint64_t offset_bytes,
                                   uint64_t size_bytes)
{
    uint64_t room = 2 * calibrate->memory_bytes;
    if (size_bytes < CALIBRATE_REQUEST_BYTES || size_bytes > room / 2)
        return calibrate->data;
    return calibrate->memory + offset_bytes % (room - size_bytes + 1) / ALIGN_BYTES * ALIGN_BYTES;
}

int calibrate_write(const struct calibrate *calibrate, int fd, uint64_t offset_bytes, uint64_t size_bytes,
                    size_t n_calls)
{
    int code = 0;
    for (size_t i = 0; i < n_calls && code == 0; i++) {
        code = calibrate_is_interrupted(calibrate)
                   ? -EINTR
                   : full_io_write(fd, source(calibrate, offset_bytes + i * size_bytes, size_bytes),
                                   size_bytes, offset_bytes + i * size_bytes, NULL);
    }
    return code;
}

int calibrate_write_timed(const struct calibrate *calibrate, int fd, uint64_t offset_bytes,
                          uint64_t size_bytes, size_t n_group, size_t n_times, double *times_s)
{
    int code = 0;
    for (size_t i = 0; i < n_times && code == 0; i++) {
        uint64_t start_ns = clock_now_ns(calibrate->clock);
        code = calibrate_write(calibrate, fd, offset_bytes + i * n_group * size_bytes, size_bytes, n_group);
        times_s[i] = calibrate_seconds(calibrate, start_ns) / (double)n_group;
    }
    return code;
}

int calibrate_replay(const struct calibrate *calibrate, enum replay_mode mode, bool calm,
                     const struct replay_write *writes, size_t n, uint32_t n_files, struct replay_result *ret,
                     struct err *err)
{
    struct replay_plan plan = {.directory = calibrate->directory,
                               .mode = mode,
                               .writes = writes,
                               .n = n,
                               .n_files = n_files,
                               .max_write_bytes = UINT64_MAX,
                               .calm_bytes = calm ? CALM_BYTES : UINT64_MAX,
                               .calm_limit_ns = calm ? CALM_LIMIT_NS : 0,
                               .seed = calibrate->seed,
                               .clock = calibrate->clock,
                               .interrupted = calibrate->interrupted};
    int code = replay_run(&plan, ret, err);
    return code == -EINTR || code == -EFBIG ? calibrate_fail(err, code) : code;
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

double calibrate_middle(double *values, size_t n)
{
    size_t cut = n / 4;
    double sum = 0;
    qsort(values, n, sizeof *values, compare);
    for (size_t i = cut; i < n - cut; i++)
        sum += values[i];
    return sum / (double)(n - 2 * cut);
}

int calibrate_open(struct calibrate *calibrate, struct err *err)
{
    struct rng rng;
    calibrate->memory = aligned_alloc(ALIGN_BYTES, 2 * calibrate->memory_bytes);
    calibrate->data = aligned_alloc(ALIGN_BYTES, CALIBRATE_LARGEST_BYTES);
    if (calibrate->memory == NULL || calibrate->data == NULL) {
        calibrate_close(calibrate);
        return err_set(err, -ENOMEM, "no memory to calibrate");
    }
    /* Random data, so that a device that compresses has no advantage. */
    rng_init(&rng, calibrate->seed);
    rng_fill(&rng, calibrate->memory, 2 * calibrate->memory_bytes);
    rng_fill(&rng, calibrate->data, CALIBRATE_LARGEST_BYTES);
    return 0;
}

void calibrate_close(struct calibrate *calibrate)
{
    free(calibrate->memory);
    free(calibrate->data);
    calibrate->memory = calibrate->data = NULL;
}

int calibrate_memory(struct calibrate *calibrate, double *ret_bps, struct err *err)
{
    unsigned char *one = calibrate->memory, *other = calibrate->memory + calibrate->memory_bytes;
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    for (int i = 0; i < MEMORY_COPIES; i++) {
        if (calibrate_is_interrupted(calibrate))
            return calibrate_fail(err, -EINTR);
        memcpy(i % 2 == 0 ? one : other, i % 2 == 0 ? other : one, calibrate->memory_bytes);
        /* Keeps the compiler from leaving out copies that nobody reads. */
        __asm__ volatile("" : : "r"(calibrate->memory) : "memory");
    }
    *ret_bps = MEMORY_COPIES * (double)calibrate->memory_bytes / calibrate_seconds(calibrate, start_ns);
    return 0;
}

int calibrate_stream(struct calibrate *calibrate, double *ret_bytes, struct err *err)
{
    int fd;
    int code = calibrate_scratch(calibrate, &fd, err);
    if (code < 0)
        return code;
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL) {
        code = err_sys(err, -errno, "a stream of the C library");
        close(fd);
        return code;
    }
    /* The C library makes the buffer with the first byte. */
    if (putc('x', stream) == EOF || __fbufsize(stream) == 0)
        code = err_set(err, -EIO, "the C library shows no buffer of a stream");
    else
        *ret_bytes = (double)__fbufsize(stream);
    fclose(stream);
    return code;
}
