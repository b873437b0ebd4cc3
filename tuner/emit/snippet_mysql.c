/* fstune emit mysql: lines for my.cnf, of MySQL and of MariaDB.
 *
 * MySQL's manual, "InnoDB Startup Options and System Variables" and "Configuring InnoDB I/O Capacity";
 * MariaDB's "InnoDB Flush Method". */
#include "tuner/emit/snippet.h"

#include <inttypes.h>
#include <math.h>

#define PAGE_BYTES        16384.0
#define CAPACITY_SHARE    0.75
#define CAPACITY_LEAST    100.0
#define CAPACITY_MOST     20000.0 /* more is advised against unless lower values have failed */
#define THREADS_DEFAULT   4U
#define MARIADB           10U /* MySQL's major version is below */
#define MARIADB_BUFFERING 11U

static void print_direct(struct snippet_writer *writer, const struct snippet_request *request)
{
    uint32_t direct = request->recommendation->point.direct;
    if (request->version[0] >= MARIADB_BUFFERING) {
        fprintf(writer->out, "innodb_data_file_buffering = %s\n", direct ? "OFF" : "ON");
        return;
    }
    if (request->version[0] == 0)
        snippet_comment(writer,
                        "MariaDB from version 11 on has innodb_data_file_buffering in the place of the "
                        "next line, which it still takes (--target-version 11 writes it)");
    fprintf(writer->out, "innodb_flush_method = %s\n", direct ? "O_DIRECT" : "fsync");
}

/* Never below the server's own default: these threads do more than wait for the disk. */
static void print_threads(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    uint32_t threads = recommendation->point.threads;
    if (threads <= THREADS_DEFAULT) {
        snippet_comment(writer,
                        "not mapped: %" PRIu32 " thread%s - the server's default I/O threads (%u or more) "
                        "are enough",
                        threads, threads == 1 ? "" : "s", THREADS_DEFAULT);
        return;
    }
    if (pattern_reads(&recommendation->pattern))
        fprintf(writer->out, "innodb_read_io_threads = %" PRIu32 "\n", threads);
    if (pattern_writes(&recommendation->pattern))
        fprintf(writer->out, "innodb_write_io_threads = %" PRIu32 "\n", threads);
}

/* Writes of pages a second: NaN where the measurement says nothing about them. Rates that memory could have
 * absorbed do not count, nor small requests for more than their bytes. */
static double page_writes(const struct recommendation *recommendation)
{
    double share =
        isfinite(recommendation->ci_low_bps) && recommendation->ci_low_bps > 0 && recommendation->mean_bps > 0
            ? recommendation->ci_low_bps / recommendation->mean_bps
            : 1;
    if (recommendation->pattern.percent[PATTERN_RAND_WRITE] != 100 ||
        (!recommendation->point.direct && recommendation->point.sync == SYNC_NONE))
        return NAN;
    return fmin(recommendation->iops, recommendation->mean_bps / PAGE_BYTES) * fmin(share, 1);
}

static void print_capacity(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    double capacity = CAPACITY_SHARE * page_writes(recommendation);
    if (recommendation->simulated) {
        snippet_comment(writer, "innodb_io_capacity: no line, because the answer is simulated: no disk was "
                                "measured");
        return;
    }
    if (!isfinite(capacity) || isnan(recommendation->iops) || isnan(recommendation->mean_bps)) {
        snippet_comment(writer,
                        "innodb_io_capacity: no line, because writes of a random pattern to the disk were "
                        "not measured (--pattern randwrite)");
        return;
    }
    if (capacity < CAPACITY_LEAST) {
        snippet_comment(writer,
                        "innodb_io_capacity: no line, three quarters of the measured rate are below its "
                        "least value");
        return;
    }
    if (capacity > CAPACITY_MOST)
        capacity = CAPACITY_MOST;
    snippet_comment(writer,
                    "at most three quarters of the random writes of 16 KiB a second that were measured, and "
                    "20000; the lower it can be without dirty pages piling up, the better");
    fprintf(writer->out, "innodb_io_capacity = %.0f\n", floor(capacity));
}

static void print_rest(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    snippet_comment(writer,
                    "not mapped: request size - InnoDB writes pages (16 KiB) and joins neighbours by "
                    "itself; queue depth %" PRIu32 " - it sends as many as it has to",
                    point->queue_depth);
    if (point->api == API_LIBAIO || point->api == API_IO_URING)
        snippet_comment(writer,
                        "API %s: the server's native asynchronous I/O is on as it stands (libaio; io_uring "
                        "where a MariaDB was built with it, and its fallback is its own)",
                        api_names[point->api]);
    else
        snippet_comment(writer, "not mapped: API %s - leave the server's native asynchronous I/O on",
                        api_names[point->api]);
    if (point->sync == SYNC_EACH || request->directsync)
        snippet_comment(
            writer,
            "not mapped: every write durable - commits are durable as the server stands; leave that so");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    unsigned version = request->version[0];
    (void)err;
    snippet_header(writer, request);
    snippet_comment(writer, "needs: %s, and a restart",
                    version >= MARIADB_BUFFERING ? "MariaDB 11.0 or later"
                    : version == MARIADB         ? "MariaDB 10"
                                                 : "MySQL 5.7 or later, or MariaDB 10 or later");
    fputs("[mysqld]\n", writer->out);
    print_direct(writer, request);
    print_threads(writer, request->recommendation);
    print_capacity(writer, request->recommendation);
    print_rest(writer, request);
    return 0;
}

const struct snippet_ops snippet_mysql = {
    .name = "mysql",
    .title = "lines for my.cnf of MySQL and MariaDB (InnoDB)",
    .comments = SNIPPET_COMMENTS_HASH,
    .direct = SNIPPET_SAYS_EXACTLY,
    .threads = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_DISK,
    .hint = "mysqld --defaults-file=FILE --validate-config; MariaDB: mariadbd --defaults-file=FILE --help",
    .emit = emit,
};
