/* tuner/emit/snippet: what the settings of virtual machines have in common. */
#include "bench/base/units.h"
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

static void note_api(struct snippet_writer *writer, const struct point *point)
{
    switch (point->api) {
    case API_IO_URING:
        snippet_comment(writer,
                        "fallback where io_uring is refused (kernel.io_uring_disabled, seccomp, an old "
                        "or a built-without host): %s",
                        point->direct ? "native" : "threads");
        break;
    case API_LIBAIO:
        if (!point->direct)
            snippet_comment(writer,
                            "libaio without direct I/O is synchronous, and refused by QEMU: threads instead");
        break;
    case API_PSYNC:
        snippet_comment(writer,
                        "measured at 1 in flight (psync); threads is the same call with as many in flight "
                        "as the guest has");
        break;
    case API_PVEC:
        snippet_comment(writer, "measured with vectored calls (pvec): threads is the nearest that exists");
        break;
    default:
        break;
    }
}

void snippet_guest_notes(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    char size[UNITS_TEXT_SIZE], write_size[UNITS_TEXT_SIZE];
    units_format_size(point->request_size_bytes, size);
    units_format_size(factors_write_size_bytes(point), write_size);
    snippet_comment(writer, "not mapped: request size %s%s%s - set it in the guest's application, not here",
                    size, factors_is_split(point) ? " for reads and for writes " : "",
                    factors_is_split(point) ? write_size : "");
    snippet_comment(writer,
                    "not mapped: queue depth %u%s - the guest's application decides it; a queue here is "
                    "only an upper bound",
                    point->queue_depth, point->threads > 1 ? " in each of several threads" : "");
    if (point->threads > 1)
        snippet_comment(writer, "not mapped: %u threads - as many writers or readers in the guest",
                        point->threads);
    if (point->sync == SYNC_EACH)
        snippet_comment(writer,
                        "measured with every write made durable: that is the guest's flushes to ask for, "
                        "which every mode here honours");
}

void snippet_machine_notes(struct snippet_writer *writer, const struct snippet_request *request)
{
    snippet_guest_notes(writer, request);
    note_api(writer, &request->recommendation->point);
}
