/* tuner/emit/snippet: what the settings of virtual machines have in common. */
#include "tuner/emit/snippet.h"

#define SEGMENT_BYTES    4096U /* a guest's page: the least that a segment of a request holds */
#define RESERVED_ENTRIES 2U    /* of a queue: head and status of a request */
#define QUEUE_LEAST      256U
#define QUEUE_MOST       1024U

const char *snippet_cache_mode(const struct snippet_request *request)
{
    if (request->directsync)
        return request->recommendation->point.direct ? "directsync" : "writethrough";
    return request->recommendation->point.direct ? "none" : "writeback";
}

const char *snippet_cache_meaning(const struct snippet_request *request)
{
    if (request->directsync)
        return request->recommendation->point.direct
                   ? "past the host's page cache, and every write is durable before it counts"
                   : "through the host's page cache, and every write is durable before it counts";
    return request->recommendation->point.direct
               ? "past the host's page cache; the guest's flushes reach the host's disk"
               : "through the host's page cache; the guest's flushes are honoured";
}

const char *snippet_aio(const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    if (point->api == API_IO_URING)
        return "io_uring";
    return point->api == API_LIBAIO && point->direct ? "native" : "threads";
}

bool snippet_version_before(const struct snippet_request *request, unsigned major, unsigned minor)
{
    const unsigned *version = request->version;
    if (version[0] == 0 && version[1] == 0)
        return false;
    return version[0] != major ? version[0] < major : version[1] < minor;
}

unsigned snippet_queue_size(const struct snippet_request *request, uint32_t n_queues)
{
    const struct point *point = &request->recommendation->point;
    uint64_t least = factors_largest_size_bytes(point) / SEGMENT_BYTES + RESERVED_ENTRIES;
    unsigned size = QUEUE_LEAST;
    uint64_t in_flight = ((uint64_t)point->queue_depth * point->threads + n_queues - 1) / n_queues;
    if (least < in_flight)
        least = in_flight;
    while (size < least && size < QUEUE_MOST)
        size *= 2;
    return size;
}
