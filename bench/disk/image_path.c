/* Requests through the page cache and past it, whole or in pieces at once. */
#include "bench/disk/image_path.h"

#include "bench/base/full_io.h"
#include "bench/io/ioapi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define LANE_ALIGN_BYTES 4096U
/* The kernel reads no more ahead for one call than its own read-ahead, or a request of the device. */
#define AHEAD_STEP_BYTES (128U << 10)

struct image_lane {
    struct image_lane *next;
    unsigned char *bounce; /* IMAGE_LANE_BYTES; NULL: not needed so far */
    void *ring;            /* state of io_uring; NULL: not needed so far */
};

/* A request on its way. */
struct transfer {
    int fd;
    bool is_write;
    uint32_t piece_bytes;
    struct image_lane *lane;
};

bool image_can_split(void)
{
    return ioapi_io_uring.probe(NULL) == 0;
}

int image_lanes_open(struct image_lanes *lanes)
{
    lanes->free = NULL;
    return -pthread_mutex_init(&lanes->lock, NULL);
}

/* What is still under way has ended afterwards, so that nobody moves bytes behind the client's back. */
static void drop_ring(struct image_lane *lane)
{
    if (lane->ring != NULL)
        ioapi_io_uring.close(lane->ring);
    free(lane->ring);
    lane->ring = NULL;
}

static void free_lane(struct image_lane *lane)
{
    drop_ring(lane);
    free(lane->bounce);
    free(lane);
}

void image_lanes_close(struct image_lanes *lanes)
{
    while (lanes->free != NULL) {
        struct image_lane *lane = lanes->free;
        lanes->free = lane->next;
        free_lane(lane);
    }
    pthread_mutex_destroy(&lanes->lock);
}

static struct image_lane *take_lane(struct image_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    struct image_lane *lane = lanes->free;
    if (lane != NULL)
        lanes->free = lane->next;
    pthread_mutex_unlock(&lanes->lock);
    return lane != NULL ? lane : calloc(1, sizeof(*lane));
}

static void give_lane(struct image_lanes *lanes, struct image_lane *lane)
{
    pthread_mutex_lock(&lanes->lock);
    lane->next = lanes->free;
    lanes->free = lane;
    pthread_mutex_unlock(&lanes->lock);
}

static bool has_bounce(struct image_lane *lane)
{
    if (lane->bounce == NULL)
        lane->bounce = aligned_alloc(LANE_ALIGN_BYTES, IMAGE_LANE_BYTES);
    return lane->bounce != NULL;
}

static bool has_ring(struct image_lane *lane)
{
    struct ioapi_config config = {.n_calls = IMAGE_MAX_PIECES, .requests_per_call = 1};
    if (lane->ring != NULL)
        return true;
    void *ring = calloc(1, ioapi_io_uring.state_size);
    if (ring != NULL && ioapi_io_uring.open(ring, &config, NULL) == 0) {
        lane->ring = ring;
        return true;
    }
    if (ring != NULL)
        ioapi_io_uring.close(ring);
    free(ring);
    return false;
}

static int move_whole(const struct transfer *transfer, void *buffer, size_t n_bytes, uint64_t offset)
{
    int result = transfer->is_write ? full_io_write(transfer->fd, buffer, n_bytes, offset, NULL)
                                    : full_io_read(transfer->fd, buffer, n_bytes, offset);
    /* The end of the file where none should be: somebody made it shorter. */
    return result == -ESTALE ? -EIO : result;
}

/* What a piece left undone is made by the plain calls. */
static int finish_piece(const struct transfer *transfer, const struct io_call *call)
{
    if (call->result < 0 && call->result != -EINTR && call->result != -EAGAIN)
        return (int)call->result;
    size_t done = call->result > 0 ? (size_t)call->result : 0;
    return move_whole(transfer, (unsigned char *)call->buffer + done, call->size_bytes - done,
                      call->offset_bytes + done);
}

/* At most IMAGE_MAX_PIECES pieces, all of which have ended afterwards, whatever became of them. */
static int move_pieces(const struct transfer *transfer, unsigned char *buffer, size_t n_bytes,
                       uint64_t offset)
{
    struct io_call calls[IMAGE_MAX_PIECES], *waiting[IMAGE_MAX_PIECES], *done[IMAGE_MAX_PIECES];
    size_t n = 0, n_submitted = 0, n_reaped = 0, n_now;
    void *ring = transfer->lane->ring;
    int result = 0;
    for (size_t at = 0; at < n_bytes; at += transfer->piece_bytes, n++) {
        size_t left = n_bytes - at;
        calls[n] = (struct io_call){.buffer = buffer + at,
                                    .fd = transfer->fd,
                                    .offset_bytes = offset + at,
                                    .size_bytes = left < transfer->piece_bytes ? left : transfer->piece_bytes,
                                    .is_write = transfer->is_write,
                                    .slot = (uint32_t)n,
                                    .n_requests = 1,
                                    .n_rounds = 1};
        waiting[n] = &calls[n];
    }
    while (n_reaped < n_submitted || (n_submitted < n && result == 0)) {
        n_now = 0;
        if (n_submitted < n && result == 0) {
            result = ioapi_io_uring.submit(ring, waiting + n_submitted, n - n_submitted, &n_now, NULL);
            n_submitted += result == 0 ? n_now : 0;
        }
        if (n_reaped == n_submitted)
            continue;
        int reaped = ioapi_io_uring.reap(ring, done, IMAGE_MAX_PIECES, IOAPI_NO_END, &n_now, NULL);
        if (reaped < 0) {
            drop_ring(transfer->lane);
            return reaped;
        }
        for (size_t i = 0; i < n_now; i++, n_reaped++) {
            int finished = finish_piece(transfer, done[i]);
            result = result == 0 ? finished : result;
        }
    }
    return result;
}

static int move(const struct transfer *transfer, unsigned char *buffer, size_t n_bytes, uint64_t offset)
{
    size_t piece = transfer->piece_bytes, step = piece * IMAGE_MAX_PIECES;
    if (piece == 0 || n_bytes <= piece)
        return move_whole(transfer, buffer, n_bytes, offset);
    int result = 0;
    for (size_t at = 0; at < n_bytes && result == 0; at += step)
        result = move_pieces(transfer, buffer + at, n_bytes - at < step ? n_bytes - at : step, offset + at);
    return result;
}

/* Direct requests need aligned memory, and nobody promises that of the client's. */
static int move_bounced(const struct transfer *transfer, unsigned char *buffer, size_t n_bytes,
                        uint64_t offset)
{
    unsigned char *bounce = transfer->lane->bounce;
    int result = 0;
    for (size_t at = 0; at < n_bytes && result == 0; at += IMAGE_LANE_BYTES) {
        size_t n = n_bytes - at < IMAGE_LANE_BYTES ? n_bytes - at : IMAGE_LANE_BYTES;
        if (transfer->is_write)
            memcpy(bounce, buffer + at, n);
        result = move(transfer, bounce, n, offset + at);
        if (result == 0 && !transfer->is_write)
            memcpy(buffer + at, bounce, n);
    }
    return result;
}

static int transfer_all(struct image_lanes *lanes, struct transfer *transfer, bool direct,
                        unsigned char *buffer, size_t n_bytes, uint64_t offset)
{
    bool is_split = transfer->piece_bytes > 0 && n_bytes > transfer->piece_bytes;
    if (!direct && !is_split)
        return move_whole(transfer, buffer, n_bytes, offset);
    transfer->lane = take_lane(lanes);
    if (transfer->lane == NULL)
        return -ENOMEM;
    /* Without a ring the pieces are not made at once, but the bytes are the same. */
    if (is_split && !has_ring(transfer->lane))
        transfer->piece_bytes = 0;
    int result = !direct                      ? move(transfer, buffer, n_bytes, offset)
                 : has_bounce(transfer->lane) ? move_bounced(transfer, buffer, n_bytes, offset)
                                              : -ENOMEM;
    give_lane(lanes, transfer->lane);
    return result;
}

int image_read(const struct image *image, struct image_lanes *lanes, struct image_way way, void *buffer,
               size_t n_bytes, uint64_t offset_bytes)
{
    int cached = way.ahead_bytes == 0 ? image->fd_scattered : image->fd_cached;
    struct transfer transfer = {.fd = way.direct ? image->fd_direct : cached, .piece_bytes = way.piece_bytes};
    return transfer_all(lanes, &transfer, way.direct, buffer, n_bytes, offset_bytes);
}

int image_write(const struct image *image, struct image_lanes *lanes, struct image_way way,
                const void *buffer, size_t n_bytes, uint64_t offset_bytes)
{
    struct transfer transfer = {.fd = way.direct ? image->fd_direct : image->fd_cached,
                                .is_write = true,
                                .piece_bytes = way.piece_bytes};
    /* Nothing is read into the buffer of a write. */
    return transfer_all(lanes, &transfer, way.direct, (unsigned char *)(uintptr_t)buffer, n_bytes,
                        offset_bytes);
}

void image_read_ahead(const struct image *image, uint64_t offset_bytes, uint64_t n_bytes)
{
    uint64_t end = offset_bytes + n_bytes < image->size_bytes ? offset_bytes + n_bytes : image->size_bytes;
    for (uint64_t at = offset_bytes; at < end; at += AHEAD_STEP_BYTES) {
        uint64_t n = end - at < AHEAD_STEP_BYTES ? end - at : AHEAD_STEP_BYTES;
        posix_fadvise(image->fd_cached, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
    }
}

int image_write_out(const struct image *image)
{
    if (sync_file_range(image->fd_cached, 0, 0, SYNC_FILE_RANGE_WRITE) == 0)
        return 0;
    bool is_kept = errno == ENOMEM || errno == EAGAIN || errno == EINTR || errno == ENOSYS || errno == EPERM;
    return is_kept ? 0 : -errno;
}
