/* fstune emit rocksdb: part of an OPTIONS file. Names and defaults: RocksDB, include/rocksdb/options.h. */
#include "tuner/emit/snippet.h"

#include <inttypes.h>

#define JOBS_DEFAULT       2U
#define BUFFER_UNIT_BYTES  4096U
#define BUFFER_LEAST_BYTES 65536U /* what a file writer begins with */

static const char *word(uint32_t value)
{
    return value ? "true" : "false";
}

/* Each direction only where it was measured. Memory maps would make an open with direct I/O fail. */
static void print_direct(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    uint32_t direct = recommendation->point.direct;
    bool reads = pattern_reads(&recommendation->pattern), writes = pattern_writes(&recommendation->pattern);
    if (reads)
        fprintf(writer->out, "  use_direct_reads=%s\n", word(direct));
    if (reads && direct)
        fputs("  allow_mmap_reads=false\n", writer->out);
    if (writes)
        fprintf(writer->out, "  use_direct_io_for_flush_and_compaction=%s\n", word(direct));
    if (writes && direct)
        fputs("  allow_mmap_writes=false\n", writer->out);
    if (!reads || !writes)
        snippet_comment(writer, "%s were not measured: %s stays as it is", reads ? "writes" : "reads",
                        reads ? "use_direct_io_for_flush_and_compaction" : "use_direct_reads");
}

static uint64_t buffer_bytes(uint64_t request)
{
    uint64_t bytes = (request + BUFFER_UNIT_BYTES - 1) / BUFFER_UNIT_BYTES * BUFFER_UNIT_BYTES;
    return bytes > BUFFER_LEAST_BYTES ? bytes : BUFFER_LEAST_BYTES;
}

/* Compactions read and write in order; what a Get reads is a block, whose size is the table's. */
static void print_request(struct snippet_writer *writer, const struct recommendation *recommendation)
{
    const uint32_t *percent = recommendation->pattern.percent;
    if (percent[PATTERN_SEQ_READ] > 0)
        fprintf(writer->out, "  compaction_readahead_size=%" PRIu64 "\n",
                buffer_bytes(recommendation->point.request_size_bytes));
    if (percent[PATTERN_SEQ_WRITE] > 0)
        fprintf(writer->out, "  writable_file_max_buffer_size=%" PRIu64 "\n",
                buffer_bytes(factors_write_size_bytes(&recommendation->point)));
    if (pattern_is_random(&recommendation->pattern))
        snippet_comment(writer, "not mapped: request size of random access - a read is a block of the table "
                                "(block_size), and RocksDB writes in order only");
}

static void print_rest(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    if (point->threads > JOBS_DEFAULT)
        fprintf(writer->out, "  max_background_jobs=%" PRIu32 "\n", point->threads);
    else
        snippet_comment(writer,
                        "not mapped: threads - the default of %u background jobs is enough for %" PRIu32,
                        JOBS_DEFAULT, point->threads);
    snippet_comment(writer,
                    "not mapped: queue depth %" PRIu32 " - a Get waits for its read; as many threads of the "
                    "application, or MultiGet with async_io",
                    point->queue_depth);
    snippet_comment(
        writer, "not mapped: API %s - RocksDB reads and writes with calls that wait%s", api_names[point->api],
        point->api == API_IO_URING
            ? "; io_uring serves MultiGet and async_io in a build with liburing, else it falls back by "
              "itself"
            : "");
    if (point->sync == SYNC_EACH || request->directsync)
        snippet_comment(writer, "not mapped: every write durable - WriteOptions::sync in the application");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    (void)err;
    snippet_header(writer, request);
    snippet_comment(writer,
                    "these lines go into the section [DBOptions] of the OPTIONS file that the application "
                    "loads; needs: RocksDB 7 or later (older ones were not tried)");
    fputs("[DBOptions]\n", writer->out);
    print_direct(writer, request->recommendation);
    print_request(writer, request->recommendation);
    print_rest(writer, request);
    return 0;
}

const struct snippet_ops snippet_rocksdb = {
    .name = "rocksdb",
    .title = "lines for [DBOptions] of RocksDB's OPTIONS file",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .threads = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_DISK | SNIPPET_IGNORES_VERSION,
    .hint = "ldb --db=DIR --try_load_options get KEY",
    .emit = emit,
};
