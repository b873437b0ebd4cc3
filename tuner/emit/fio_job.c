/* A point in fio's words. */
#include "tuner/emit/fio_job.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than about 1 MiB in 4 KiB pages has more pieces than a request to a device may have. */
#define SPLIT_BYTES (512U << 10)

static const char *const engines[API_N] = {
    [API_PSYNC] = "psync",   [API_PVEC] = "pvsync",       [API_POOL] = "psync",
    [API_LIBAIO] = "libaio", [API_IO_URING] = "io_uring",
};

static bool mixes_access(const struct pattern *pattern)
{
    return pattern_is_random(pattern) &&
           pattern->percent[PATTERN_SEQ_READ] + pattern->percent[PATTERN_SEQ_WRITE] > 0;
}

static bool flushes_aside(const struct pattern *pattern, const struct point *point)
{
    bool queues = point->api == API_LIBAIO || point->api == API_IO_URING;
    return pattern_writes(pattern) && point->sync == SYNC_EACH && queues && point->queue_depth > 1;
}

const char *fio_job_difference(const struct pattern *pattern, const struct point *point, size_t i)
{
    const struct {
        bool applies;
        const char *text;
    } rows[] = {
        {point->api == API_PVEC,
         "pvec: fio hands one buffer to a call; this is one buffer of the size of the whole call"},
        {point->api == API_POOL && point->queue_depth > 1,
         "pool: fio has no workers on one stream; this is a job per worker, each on a part of its own"},
        {point->api == API_IO_URING, "io_uring: fio's ring runs completions cooperatively; with "
                                     "--io-uring-ring plain, fstune's does not"},
        {point->direct != 0 && factors_largest_size_bytes(point) >= SPLIT_BYTES,
         "large direct requests: how they are cut on their way to the device depends on where the kernel "
         "found memory for the buffers, in every process anew"},
        {pattern->percent[PATTERN_SEQ_READ] > 0 && pattern->percent[PATTERN_SEQ_WRITE] > 0,
         "fio's sequential reads and writes start at one offset, fstune's half a file apart"},
        {mixes_access(pattern),
         "fio's sequential requests go on behind the latest random one, fstune's behind the latest "
         "sequential one"},
        {flushes_aside(pattern, point),
         "sync each: fio's flushes do not wait for the write they follow, or stop the whole queue"},
        {factors_is_split(point) && pattern->percent[PATTERN_RAND_READ] > 0 &&
             pattern->percent[PATTERN_RAND_WRITE] > 0,
         "fio's random reads and writes of two sizes go all over the file, fstune's to every second block "
         "each"},
        {point->sync == SYNC_END && pattern_writes(pattern) && point->threads > 1,
         "fio flushes once per job, fstune once for all threads"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        if (rows[row].applies && i-- == 0)
            return rows[row].text;
    }
    return NULL;
}

bool fio_job_has_equal(const struct point *point)
{
    return point->api != API_PVEC;
}

/* What one fio job of the file is. */
struct shape {
    uint32_t n_jobs, depth;
    uint64_t request_bytes, write_bytes; /* 0: one size */
    uint64_t region_bytes, offset_increment_bytes, io_bytes;
};

static struct shape shape_of(const struct fio_job *job)
{
    const struct point *point = job->point;
    struct shape shape = {.n_jobs = point->threads, .depth = 1, .request_bytes = point->request_size_bytes};
    if (point->api == API_PVEC)
        shape.request_bytes *= point->queue_depth;
    else if (point->api == API_POOL)
        shape.n_jobs *= point->queue_depth;
    else
        shape.depth = point->queue_depth;
    shape.write_bytes = point->write_size_bytes;
    uint64_t parts = job->shared_region ? 1 : shape.n_jobs;
    uint64_t unit = shape.write_bytes > shape.request_bytes ? shape.write_bytes : shape.request_bytes;
    shape.region_bytes = job->file_bytes / parts / unit * unit;
    shape.offset_increment_bytes = parts > 1 ? shape.region_bytes : 0;
    shape.io_bytes = job->io_bytes / shape.n_jobs / unit * unit;
    if (shape.io_bytes == 0)
        shape.io_bytes = unit;
    return shape;
}

uint64_t fio_job_bytes(const struct fio_job *job)
{
    struct shape shape = shape_of(job);
    return shape.io_bytes * shape.n_jobs;
}

uint64_t fio_job_excess_bytes(const struct fio_job *job)
{
    if (!factors_is_split(job->point))
        return 0;
    return factors_largest_size_bytes(job->point) * shape_of(job).n_jobs;
}

static void print_pattern(FILE *out, const struct pattern *pattern)
{
    const uint32_t *percent = pattern->percent;
    uint32_t reads = percent[PATTERN_SEQ_READ] + percent[PATTERN_RAND_READ], writes = 100 - reads;
    const char *access = pattern_is_random(pattern) ? "rand" : "";
    if (reads == 100 || writes == 100)
        fprintf(out, "rw=%s%s\n", access, reads == 100 ? "read" : "write");
    else
        fprintf(out, "rw=%srw\nrwmixread=%" PRIu32 "\n", access, reads);
    if (mixes_access(pattern))
        fprintf(out, "percentage_random=%" PRIu32 ",%" PRIu32 "\n",
                reads > 0 ? percent[PATTERN_RAND_READ] * 100 / reads : 0,
                writes > 0 ? percent[PATTERN_RAND_WRITE] * 100 / writes : 0);
    if (pattern_is_random(pattern))
        fputs("randrepeat=0\n", out);
}

/* Of zipf fio scatters the places by a hash, fstune by a permutation: some of fio's fall together. */
static void print_skew(FILE *out, const struct skew *skew)
{
    if (skew->kind == SKEW_ZIPF)
        fprintf(out, "random_distribution=zipf:%.10g\n", skew->theta);
    else if (skew->kind == SKEW_HOT)
        fprintf(out, "random_distribution=zoned:%.10g/%.10g:%.10g/%.10g\n", 100 * skew->hot_access_share,
                100 * skew->hot_share, 100 * (1 - skew->hot_access_share), 100 * (1 - skew->hot_share));
}

/* Buffers are random and, without a share that compresses or repeats, not changed between requests. */
static void print_content(FILE *out, const struct content *content)
{
    if (content_is_plain(content)) {
        /* Of fstune's buffers a request changes eight bytes, of fio's scrambled ones sixteen in every 512. */
        fputs("; random buffers, which are not changed between requests\nscramble_buffers=0\n", out);
        return;
    }
    fputs("refill_buffers=1\n", out);
    if (content->zero_share > 0)
        fprintf(out, "buffer_compress_percentage=%.0f\nbuffer_compress_chunk=%d\n", 100 * content->zero_share,
                CONTENT_BLOCK_BYTES);
    if (content->repeat_share > 0)
        fprintf(out, "dedupe_percentage=%.0f\n", 100 * content->repeat_share);
}

static void print_rate(FILE *out, const struct fio_job *job, const struct shape *shape)
{
    if (job->rate_iops <= 0)
        return;
    fprintf(out,
            "; latency from when a request was due wants threads that only submit: io_submit_mode=offload\n"
            "rate_iops=%.0f\nrate_process=%s\n",
            fmax(job->rate_iops / shape->n_jobs, 1), job->random_rate ? "poisson" : "linear");
}

/* fio ends a value at ; and #, takes : for a separator and ${} for a variable. */
static bool can_be_written(const char *path)
{
    for (const char *c = path; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || strchr(";#$\\\"", *c) != NULL)
            return false;
    }
    return path[0] != '\0' && path[0] != ' ' && path[strlen(path) - 1] != ' ';
}

static void print_path(FILE *out, const char *key, const char *path)
{
    if (!can_be_written(path)) {
        fprintf(out, "; its name cannot be written in a job file: rename it, or make a link\n%s=fstune-fio\n",
                key);
        return;
    }
    fprintf(out, "%s=", key);
    for (const char *c = path; *c != '\0'; c++)
        fprintf(out, "%s%c", *c == ':' ? "\\" : "", *c);
    fputc('\n', out);
}

static void print_file(FILE *out, const struct fio_job *job, const struct shape *shape)
{
    if (job->directory != NULL) {
        fputs("; fio writes this file before the first run; delete it when you are done\n", out);
        print_path(out, "directory", job->directory);
        fputs("filename=fstune-fio.tmp\noverwrite=1\n", out);
    } else {
        print_path(out, "filename", job->file);
        fputs("allow_file_create=0\n", out);
    }
    fprintf(out, "size=%" PRIu64 "\n", shape->region_bytes);
    if (shape->offset_increment_bytes > 0)
        fprintf(out, "offset_increment=%" PRIu64 "\n", shape->offset_increment_bytes);
    fprintf(out, "fallocate=none\ninvalidate=%d\nfadvise_hint=%d\n", job->cold && !job->between_replays,
            job->advise);
}

static void print_point(FILE *out, const struct fio_job *job, const struct shape *shape)
{
    const struct point *point = job->point;
    fprintf(out, "bs=%" PRIu64, shape->request_bytes);
    if (shape->write_bytes != 0)
        fprintf(out, ",%" PRIu64, shape->write_bytes);
    fprintf(out, "\nioengine=%s\niodepth=%" PRIu32 "\ndirect=%" PRIu32 "\n", engines[point->api],
            shape->depth, point->direct);
    if (shape->depth > 1)
        fprintf(out,
                "; together as many as there is room for, and as many as have come back\n"
                "iodepth_batch_submit=%" PRIu32 "\niodepth_batch_complete_min=1\n"
                "iodepth_batch_complete_max=%" PRIu32 "\n",
                shape->depth, shape->depth);
    fprintf(out, "thread=1\nnumjobs=%" PRIu32 "\n", shape->n_jobs);
    /* The cross-check looks for the time from the first job's start to the last one's end. */
    if (!job->between_replays)
        fputs("group_reporting=1\n", out);
    fputs("; bytes instead of a time: cold reads do not wrap, buffered writes and their flush stay bounded\n",
          out);
    fprintf(out, "io_size=%" PRIu64 "\n", shape->io_bytes);
    if (pattern_writes(job->pattern)) {
        print_content(out, &job->content);
        if (point->sync == SYNC_END)
            fputs("end_fsync=1\n", out);
        if (point->sync == SYNC_EACH)
            fputs("fdatasync=1\n", out);
    }
    if (job->between_replays)
        fputs("gtod_reduce=1\n", out);
}

int fio_job_text(const struct fio_job *job, char **ret_text)
{
    char *text = NULL, point[FACTORS_TEXT_SIZE];
    size_t size = 0;
    struct shape shape = shape_of(job);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return -ENOMEM;
    fprintf(out, "; fstune: %s, %s\n", job->pattern->name, factors_format(job->point, point));
    if (job->from_surface != NULL)
        fputs("; measured on a simulated surface: size of the file and bytes to move are examples\n", out);
    const char *difference;
    for (size_t i = 0; (difference = fio_job_difference(job->pattern, job->point, i)) != NULL; i++)
        fprintf(out, "; not the same: %s\n", difference);
    fputs("[fstune]\n", out);
    print_pattern(out, job->pattern);
    print_skew(out, &job->skew);
    print_rate(out, job, &shape);
    print_point(out, job, &shape);
    print_file(out, job, &shape);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}
