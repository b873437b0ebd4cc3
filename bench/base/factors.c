/* bench/base/factors: names of the factors' levels, and the rules that hold on every machine. */
#include "bench/base/factors.h"

#include "bench/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const api_names[API_N] = {
    [API_PSYNC] = "psync",   [API_PVEC] = "pvec",         [API_POOL] = "pool",
    [API_LIBAIO] = "libaio", [API_IO_URING] = "io_uring",
};

const char *const sync_names[SYNC_N] = {
    [SYNC_NONE] = "none",
    [SYNC_END] = "end",
    [SYNC_EACH] = "each",
};

const char *const factors_keys[FACTOR_N] = {
    [FACTOR_REQUEST_SIZE] = "request_size",
    [FACTOR_QUEUE_DEPTH] = "queue_depth",
    [FACTOR_DIRECT] = "direct",
    [FACTOR_API] = "api",
    [FACTOR_THREADS] = "threads",
    [FACTOR_SYNC] = "sync",
    [FACTOR_WRITE_SIZE] = "write_request_size",
};

/* What Linux moves in one call at most (MAX_RW_COUNT with 4 KiB pages): a longer preadv comes back short. */
#define PVEC_MAX_BYTES ((2ULL << 30) - 4096)

static int find_name(const char *text, const char *const *names, unsigned n, unsigned *ret_index)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_index = i;
            return 0;
        }
    }
    return -EINVAL;
}

int factors_parse_api(const char *text, enum api *ret_api)
{
    unsigned index;
    int r = find_name(text, api_names, API_N, &index);
    if (r == 0)
        *ret_api = (enum api)index;
    return r;
}

int factors_parse_sync(const char *text, enum sync *ret_sync)
{
    unsigned index;
    int r = find_name(text, sync_names, SYNC_N, &index);
    if (r == 0)
        *ret_sync = (enum sync)index;
    return r;
}

uint64_t factors_level(const struct point *point, enum factor factor)
{
    const uint64_t levels[FACTOR_N] = {
        [FACTOR_REQUEST_SIZE] = point->request_size_bytes,
        [FACTOR_QUEUE_DEPTH] = point->queue_depth,
        [FACTOR_DIRECT] = point->direct,
        [FACTOR_API] = point->api,
        [FACTOR_THREADS] = point->threads,
        [FACTOR_SYNC] = point->sync,
        [FACTOR_WRITE_SIZE] = factors_write_size_bytes(point),
    };
    return levels[factor];
}

struct point factors_point(const uint64_t levels[FACTOR_N])
{
    struct point point = {
        .request_size_bytes = levels[FACTOR_REQUEST_SIZE],
        .queue_depth = (uint32_t)levels[FACTOR_QUEUE_DEPTH],
        .direct = (uint32_t)levels[FACTOR_DIRECT],
        .api = (enum api)levels[FACTOR_API],
        .threads = (uint32_t)levels[FACTOR_THREADS],
        .sync = (enum sync)levels[FACTOR_SYNC],
    };
    factors_set_write_size(&point, levels[FACTOR_WRITE_SIZE]);
    return point;
}

static int check_size(const char *name, uint64_t bytes, struct err *err)
{
    if (bytes < FACTORS_REQUEST_SIZE_MIN_BYTES || bytes > FACTORS_REQUEST_SIZE_MAX_BYTES)
        return err_set(err, -EINVAL, "%s: %" PRIu64 " is out of range; use 512..512m", name, bytes);
    if (bytes % 512 != 0) {
        uint64_t below = bytes - bytes % 512;
        return err_set(err, -EINVAL, "%s: %" PRIu64 " is not a multiple of 512; use %" PRIu64 " or %" PRIu64,
                       name, bytes, below, below + 512);
    }
    return 0;
}

static int check_ranges(const struct point *point, struct err *err)
{
    int r = check_size("request_size", point->request_size_bytes, err);
    if (r == 0 && point->write_size_bytes != 0)
        r = check_size("write_request_size", point->write_size_bytes, err);
    if (r < 0)
        return r;
    if (point->queue_depth < 1 || point->queue_depth > FACTORS_QUEUE_DEPTH_MAX)
        return err_set(err, -EINVAL, "queue_depth: %" PRIu32 " is out of range; use 1..%u",
                       point->queue_depth, FACTORS_QUEUE_DEPTH_MAX);
    if (point->direct > 1)
        return err_set(err, -EINVAL, "direct: %" PRIu32 " is out of range; use 0 or 1", point->direct);
    if (point->threads < 1 || point->threads > FACTORS_THREADS_MAX)
        return err_set(err, -EINVAL, "threads: %" PRIu32 " is out of range; use 1..%u", point->threads,
                       FACTORS_THREADS_MAX);
    if ((unsigned)point->api >= API_N)
        return err_set(err, -EINVAL, "api: unknown; use psync, pvec, pool, libaio or io_uring");
    if ((unsigned)point->sync >= SYNC_N)
        return err_set(err, -EINVAL, "sync: unknown; use none, end or each");
    return 0;
}

/* Blocks of the larger size are cut into whole smaller ones, so that both kinds keep to their alignment. */
static int check_split(const struct point *point, struct err *err)
{
    uint64_t reads = point->request_size_bytes, writes = factors_write_size_bytes(point);
    if (!factors_is_split(point))
        return 0;
    if (point->api == API_PVEC)
        return err_set(err, -EINVAL,
                       "write_request_size: pvec moves one vector at one offset and has one request size; "
                       "use another api");
    if ((reads > writes ? reads % writes : writes % reads) != 0)
        return err_set(err, -EINVAL,
                       "write_request_size: of %" PRIu64 " and request_size %" PRIu64
                       " one must be a multiple of the other; use powers of two",
                       writes, reads);
    return 0;
}

int factors_check(const struct point *point, struct err *err)
{
    int r = check_ranges(point, err);
    if (r == 0)
        r = check_split(point, err);
    if (r < 0)
        return r;
    if (point->api == API_PSYNC && point->queue_depth != 1)
        return err_set(err, -EINVAL,
                       "queue_depth: %" PRIu32 " is impossible with psync, which has one request in flight; "
                       "use 1, or another api",
                       point->queue_depth);
    if (point->api == API_PVEC && point->queue_depth < 2)
        return err_set(err, -EINVAL, "queue_depth: pvec needs at least 2; use psync for depth 1");
    if (point->api == API_PVEC && point->request_size_bytes * point->queue_depth > PVEC_MAX_BYTES)
        return err_set(err, -EINVAL,
                       "request_size x queue_depth: %" PRIu64 " bytes in one pvec call, but the kernel moves "
                       "at most %llu; use a smaller one of the two",
                       point->request_size_bytes * point->queue_depth, PVEC_MAX_BYTES);
    return 0;
}

int factors_read(const uint64_t levels[FACTOR_N], struct point *ret_point)
{
    const struct point point = factors_point(levels);
    /* A level that was cut to its member's width is not the one that was asked for. */
    for (enum factor factor = 0; factor < FACTOR_WRITE_SIZE; factor++) {
        if (factors_level(&point, factor) != levels[factor])
            return -EINVAL;
    }
    if (factors_check(&point, NULL) < 0)
        return -EINVAL;
    *ret_point = point;
    return 0;
}

bool factors_is_split(const struct point *point)
{
    return factors_write_size_bytes(point) != point->request_size_bytes;
}

void factors_set_write_size(struct point *point, uint64_t bytes)
{
    point->write_size_bytes = bytes == point->request_size_bytes ? 0 : bytes;
}

uint64_t factors_write_size_bytes(const struct point *point)
{
    return point->write_size_bytes != 0 ? point->write_size_bytes : point->request_size_bytes;
}

uint64_t factors_largest_size_bytes(const struct point *point)
{
    uint64_t writes = factors_write_size_bytes(point);
    return writes > point->request_size_bytes ? writes : point->request_size_bytes;
}

uint64_t factors_bytes_of_client(const struct point *point)
{
    return factors_largest_size_bytes(point) * point->queue_depth * point->threads;
}

uint64_t factors_bytes_in_flight(const struct point *point)
{
    return factors_bytes_of_client(point) * (point->clients > 0 ? point->clients : 1);
}

bool factors_equal(const struct point *a, const struct point *b)
{
    return a->request_size_bytes == b->request_size_bytes && a->queue_depth == b->queue_depth &&
           a->direct == b->direct && a->api == b->api && a->threads == b->threads && a->sync == b->sync &&
           factors_write_size_bytes(a) == factors_write_size_bytes(b) && a->clients == b->clients;
}

const char *factors_format(const struct point *point, char buffer[FACTORS_TEXT_SIZE])
{
    char size[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE] = "", threads[32] = "", sync[32] = "",
                                clients[32] = "";
    /* A point that factors_check has not seen yet may hold anything. */
    const char *api = (unsigned)point->api < API_N ? api_names[point->api] : "?";
    if (factors_is_split(point))
        units_format_size(point->write_size_bytes, writes);
    if (point->threads != 1)
        snprintf(threads, sizeof(threads), ", %" PRIu32 " threads", point->threads);
    if (point->sync != SYNC_END)
        snprintf(sync, sizeof(sync), ", sync %s",
                 (unsigned)point->sync < SYNC_N ? sync_names[point->sync] : "?");
    if (point->clients != 0)
        snprintf(clients, sizeof(clients), ", %" PRIu32 " client%s", point->clients,
                 point->clients == 1 ? "" : "s");
    snprintf(buffer, FACTORS_TEXT_SIZE, "%s%s%s x %" PRIu32 ", %s, %s%s%s%s",
             units_format_size(point->request_size_bytes, size), writes[0] != '\0' ? "/" : "", writes,
             point->queue_depth, point->direct ? "direct" : "buffered", api, threads, sync, clients);
    return buffer;
}
