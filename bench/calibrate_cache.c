/* Writes into the page cache: alone, small, and while other pages are written back. */
#include "bench/calibrate_internal.h"
#include "bench/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define BACK_STEP_BYTES (8ULL << 20) /* the writing back can end between two */
#define BACK_SHARE      2            /* times cache_bytes */
#define LEAST_REQUESTS  8
#define GROUPS          16

static int cut(int fd, uint64_t bytes)
{
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : -errno;
}

static size_t n_requests(const struct calibrate *calibrate)
{
    return calibrate->cache_bytes / CALIBRATE_REQUEST_BYTES;
}

/* Memory of a file that was just cut is the next that is given out. */
static int touch(const struct calibrate *calibrate, int fd, uint64_t offset_bytes)
{
    int code = calibrate_write(calibrate, fd, offset_bytes, CALIBRATE_REQUEST_BYTES, n_requests(calibrate));
    int cut_code = cut(fd, offset_bytes);
    return code < 0 ? code : cut_code;
}

/* Nothing is left for the closing of the file to write back. */
static int finish(int fd, int code, struct err *err)
{
    int cut_code = cut(fd, 0);
    close(fd);
    code = code < 0 ? code : cut_code;
    return code < 0 ? calibrate_fail(err, code) : 0;
}

int calibrate_cache(struct calibrate *calibrate, double *ret_bps, struct err *err)
{
    double times_s[GROUPS];
    int fd;
    int code = calibrate_scratch(calibrate, &fd, err);
    if (code < 0)
        return code;
    size_t n_group = n_requests(calibrate) / GROUPS;
    size_t n_times = n_group > 0 ? GROUPS : n_requests(calibrate);
    n_group = n_group > 0 ? n_group : 1;
    code = touch(calibrate, fd, 0);
    if (code == 0)
        code = calibrate_write_timed(calibrate, fd, 0, CALIBRATE_REQUEST_BYTES, n_group, n_times, times_s);
    code = finish(fd, code, err);
    if (code == 0)
        *ret_bps = (double)CALIBRATE_REQUEST_BYTES / calibrate_middle(times_s, n_times);
    return code;
}

int calibrate_call(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err)
{
    int fd;
    double times_s[GROUPS];
    size_t n_group = (n_calls + GROUPS - 1) / GROUPS;
    int code = calibrate_scratch(calibrate, &fd, err);
    if (code < 0)
        return code;
    code = calibrate_write(calibrate, fd, 0, size_bytes, GROUPS * n_group);
    if (code == 0)
        code = cut(fd, 0);
    if (code == 0)
        code = calibrate_write_timed(calibrate, fd, 0, size_bytes, n_group, GROUPS, times_s);
    code = finish(fd, code, err);
    if (code == 0)
        *ret_s = calibrate_middle(times_s, GROUPS);
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
    while (back->sent_bytes < back->bytes && !atomic_load(&back->stop) &&
           sync_file_range(back->fd, (off_t)back->sent_bytes, (off_t)BACK_STEP_BYTES,
                           SYNC_FILE_RANGE_WRITE) == 0)
        back->sent_bytes += BACK_STEP_BYTES;
    /* Sent is not written: the queue holds some of it. */
    if (!atomic_load(&back->stop))
        sync_file_range(back->fd, 0, (off_t)back->bytes, SYNC_FILE_RANGE_WAIT_BEFORE);
    atomic_store(&back->done, true);
    return NULL;
}

/* Writes for as long as pages are written back. */
static int write_beside(const struct calibrate *calibrate, struct back *back, double *ret_bps)
{
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    size_t n = 0;
    double seconds = 0;
    int code = 0;
    while (n < n_requests(calibrate) && code == 0) {
        code = calibrate_write(calibrate, back->fd, back->bytes + n * CALIBRATE_REQUEST_BYTES,
                               CALIBRATE_REQUEST_BYTES, 1);
        if (atomic_load(&back->done))
            break;
        n++;
        seconds = calibrate_seconds(calibrate, start_ns);
    }
    if (code == 0 && n < LEAST_REQUESTS && n < n_requests(calibrate))
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
    double bps = 0;
    int code = calibrate_scratch(calibrate, &back.fd, err);
    if (code < 0)
        return code;
    code =
        calibrate_write(calibrate, back.fd, 0, CALIBRATE_REQUEST_BYTES, BACK_SHARE * n_requests(calibrate));
    if (code == 0)
        code = touch(calibrate, back.fd, back.bytes);
    if (code == 0)
        code = measure_beside(calibrate, &back, &bps);
    code = finish(back.fd, code, err);
    if (code == 0)
        *ret_bps = bps;
    return code;
}
