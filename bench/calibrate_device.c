/* Writes that reach the device before they return, and reads from it. */
#include "bench/calibrate_internal.h"
#include "bench/rng.h"
#include "bench/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* On a slow device fewer calls tell enough. */
#define SYNC_SECONDS     0.1
#define SYNC_LEAST_CALLS 4
#define SYNC_MOST_CALLS  512

#define SEEK_GROUP 8 /* writes of one kind before the other has its turn */
#define SEEK_PAIRS 8

static bool is_proved(enum target_proof proof)
{
    return proof == TARGET_DIRECT_PROVED;
}

/* The same file, durable with each write, past the page cache where that is proved. */
static int reopen_durable(const struct calibrate *calibrate, int fd, int *ret_fd, struct err *err)
{
    int direct = is_proved(calibrate->target->direct_write) ? O_DIRECT : 0;
    return target_reopen(fd, "a file of the calibration", O_RDWR | O_DSYNC | direct, ret_fd, err);
}

int calibrate_sync(struct calibrate *calibrate, uint64_t size_bytes, size_t n_calls, double *ret_s,
                   struct err *err)
{
    int scratch_fd, fd = -1;
    int code = calibrate_scratch(calibrate, &scratch_fd, err);
    if (code < 0)
        return code;
    code = reopen_durable(calibrate, scratch_fd, &fd, err);
    close(scratch_fd);
    if (code < 0)
        return code;
    /* The first write makes the file's metadata. */
    code = calibrate_write(calibrate, fd, 0, size_bytes, 1);
    double times_s[SYNC_MOST_CALLS], seconds = 0;
    size_t n = 0, n_most = n_calls < SYNC_MOST_CALLS ? n_calls : SYNC_MOST_CALLS;
    while (n < n_most && code == 0 && (n < SYNC_LEAST_CALLS || seconds < SYNC_SECONDS)) {
        code = calibrate_write_timed(calibrate, fd, (n + 1) * size_bytes, size_bytes, 1, 1, &times_s[n]);
        seconds += times_s[n++];
    }
    close(fd);
    calibrate->written_bytes += (n + 1) * size_bytes;
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_s = calibrate_middle(times_s, n);
    return 0;
}

/* One group; its first write, which comes from somewhere else, does not count. */
static int seek_group(struct calibrate *calibrate, int fd, struct rng *rng, bool random, double *ret_s)
{
    uint64_t n_places = calibrate->target->size_bytes / CALIBRATE_SEEK_BYTES;
    uint64_t place = rng_next(rng) % n_places;
    double times_s[SEEK_GROUP];
    int code = calibrate_write(calibrate, fd, place * CALIBRATE_SEEK_BYTES, CALIBRATE_SEEK_BYTES, 1);
    for (int i = 0; i < SEEK_GROUP && code == 0; i++) {
        place = random ? rng_next(rng) % n_places : (place + 1) % n_places;
        code = calibrate_write_timed(calibrate, fd, place * CALIBRATE_SEEK_BYTES, CALIBRATE_SEEK_BYTES, 1, 1,
                                     &times_s[i]);
    }
    calibrate->written_bytes += (SEEK_GROUP + 1) * CALIBRATE_SEEK_BYTES;
    if (code == 0)
        *ret_s = calibrate_middle(times_s, SEEK_GROUP);
    return code;
}

int calibrate_seek(struct calibrate *calibrate, double *ret_s, struct err *err)
{
    struct rng rng;
    double differences_s[SEEK_PAIRS];
    int fd;
    int code = reopen_durable(calibrate, calibrate->target->fd, &fd, err);
    if (code < 0)
        return code;
    rng_init(&rng, rng_derive(calibrate->seed, ++calibrate->n_seeks));
    for (size_t i = 0; i < SEEK_PAIRS && code == 0; i++) {
        double next_s = 0, random_s = 0;
        code = seek_group(calibrate, fd, &rng, false, &next_s);
        if (code == 0)
            code = seek_group(calibrate, fd, &rng, true, &random_s);
        differences_s[i] = random_s - next_s;
    }
    close(fd);
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_s = calibrate_middle(differences_s, SEEK_PAIRS);
    return 0;
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
                   : target_read_all(fd, calibrate->data, CALIBRATE_REQUEST_BYTES,
                                     (first + i) % n_whole * CALIBRATE_REQUEST_BYTES);
    double seconds = calibrate_seconds(calibrate, start_ns);
    close(fd);
    calibrate->read_bytes += n * CALIBRATE_REQUEST_BYTES;
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_bps = (double)(n * CALIBRATE_REQUEST_BYTES) / seconds;
    return 0;
}
