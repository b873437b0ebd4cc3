/* fstune emit postgresql: lines for postgresql.conf.
 *
 * PostgreSQL's manual, "Resource Consumption", I/O, of the versions 13 to 18: effective_io_concurrency
 * 0..1000; io_combine_limit from 17 on, 1 to 32 blocks, from 18 on to 128 below io_max_combine_limit;
 * io_method and io_workers (1..32) from 18 on. Blocks have 8 KiB unless the server was built otherwise. */
#include "tuner/emit/snippet.h"

#include <errno.h>
#include <inttypes.h>

#define CONCURRENCY_MOST 1000U
#define WORKERS_DEFAULT  3U
#define WORKERS_MOST     32U
#define BLOCK_KB         8U
#define COMBINE_MOST_17  256U
#define COMBINE_MOST_18  1024U
#define OLDEST           13U

static void print_concurrency(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    uint32_t depth = recommendation->point.queue_depth;
    if (!pattern_reads(&recommendation->pattern)) {
        snippet_comment(
            writer, "not mapped: queue depth %" PRIu32 " - PostgreSQL has no such setting for writes", depth);
        return;
    }
    fprintf(writer->out, "effective_io_concurrency = %" PRIu32 "\nmaintenance_io_concurrency = %" PRIu32 "\n",
            depth < CONCURRENCY_MOST ? depth : CONCURRENCY_MOST,
            depth < CONCURRENCY_MOST ? depth : CONCURRENCY_MOST);
}

/* Joined reads are those of scans, that is of sequential patterns. */
static void print_combine(struct snippet_writer *writer, const struct recommendation *recommendation,
                          unsigned version)
{
    uint64_t most = version >= 18 ? COMBINE_MOST_18 : COMBINE_MOST_17;
    uint64_t limit = recommendation->point.request_size_bytes / 1024 / BLOCK_KB * BLOCK_KB;
    if (version < 17) {
        snippet_comment(writer, "not mapped: request size - io_combine_limit came with version 17 "
                                "(--target-version 17); before it, reads are single blocks of 8 kB");
        return;
    }
    if (recommendation->pattern.percent[PATTERN_SEQ_READ] == 0 || limit < BLOCK_KB) {
        snippet_comment(writer, "not mapped: request size - a pattern without sequential reads of 8 kB and "
                                "more says nothing about scans, whose reads alone can be larger");
        return;
    }
    if (limit > most) {
        snippet_comment(writer, "%" PRIu64 " kB is the largest request that version %u can make", most,
                        version);
        limit = most;
    }
    if (version >= 18)
        fprintf(writer->out, "io_max_combine_limit = %" PRIu64 "kB\n", limit);
    fprintf(writer->out, "io_combine_limit = %" PRIu64 "kB\n", limit);
}

static void print_workers(struct snippet_writer *writer, const struct point *point)
{
    uint32_t workers = point->queue_depth > WORKERS_DEFAULT ? point->queue_depth : WORKERS_DEFAULT;
    fprintf(writer->out, "io_method = worker\nio_workers = %" PRIu32 "\n",
            workers < WORKERS_MOST ? workers : WORKERS_MOST);
}

static void print_method(struct snippet_writer *writer, const struct recommendation *recommendation,
                         unsigned version)
{
    const struct point *point = &recommendation->point;
    if (version < 18) {
        snippet_comment(writer, "not mapped: API %s - io_method came with version 18 (--target-version 18)",
                        api_names[point->api]);
        return;
    }
    if (!pattern_reads(&recommendation->pattern)) {
        snippet_comment(writer, "not mapped: API %s - io_method is about reads, which were not measured",
                        api_names[point->api]);
        return;
    }
    switch (point->api) {
    case API_IO_URING:
        snippet_comment(writer, "needs: a server built with liburing. Fallback where it does not start with "
                                "io_uring: io_method = worker");
        fputs("io_method = io_uring\n", writer->out);
        break;
    case API_LIBAIO:
        snippet_comment(writer, "libaio is not among PostgreSQL's methods: workers are the nearest");
        print_workers(writer, point);
        break;
    case API_POOL:
        print_workers(writer, point);
        break;
    default:
        snippet_comment(writer,
                        "not mapped: API %s, measured with calls that wait; the server's default "
                        "io_method serves as well",
                        api_names[point->api]);
    }
}

static void print_rest(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    snippet_comment(writer,
                    "not mapped: direct %" PRIu32 " - PostgreSQL reads and writes tables through the page "
                    "cache",
                    point->direct);
    if (point->threads > 1)
        snippet_comment(writer,
                        "not mapped: %" PRIu32 " threads - as many sessions, or parallel workers of a query",
                        point->threads);
    if (point->sync == SYNC_EACH || request->directsync)
        snippet_comment(
            writer,
            "not mapped: every write durable - commits are durable as the server stands; leave that so");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct recommendation *recommendation = request->recommendation;
    unsigned version = request->version[0];
    if (version != 0 && version < OLDEST)
        return err_set(
            err, -EINVAL,
            "effective_io_concurrency had another meaning before version %u; give --target-version "
            "%u or later, or leave it out",
            OLDEST, OLDEST);
    snippet_header(writer, request);
    if (version == 0)
        snippet_comment(writer, "needs: PostgreSQL 13 or later; --target-version 17 or 18 says more");
    else
        snippet_comment(writer, "needs: PostgreSQL %u or later%s",
                        version < 17   ? OLDEST
                        : version < 18 ? 17U
                                       : 18U,
                        version >= 18 ? "; io_method and io_max_combine_limit take a restart" : "");
    print_concurrency(writer, recommendation);
    print_combine(writer, recommendation, version);
    print_method(writer, recommendation, version);
    print_rest(writer, request);
    return 0;
}

const struct snippet_ops snippet_postgresql = {
    .name = "postgresql",
    .title = "lines for postgresql.conf",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_PARTLY,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_DISK,
    .hint = "postgres -D DATA -c config_file=FILE -C effective_io_concurrency",
    .emit = emit,
};
