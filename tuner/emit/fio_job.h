/* tuner/emit/fio_job: the job file with which fio does what fstune does at a point.
 *
 * fio's words are in HOWTO, "Job file parameters". What fio cannot do the same way is said in comments of the
 * job, so that whoever runs it knows what a difference may come from. Pure: no file is looked at. */
#pragma once

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/io/content.h"
#include "bench/io/skew.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fio_job {
    const struct pattern *pattern;
    const struct point *point;
    const char *directory; /* fio makes and fills a file of its own in it; NULL: `file` is used */
    const char *file;      /* is there, has file_bytes and is neither made nor extended */
    uint64_t file_bytes;
    uint64_t io_bytes; /* to move, over all threads; each moves at least one request */
    bool cold;         /* else fio leaves the page cache as it finds it */
    bool advise;       /* posix_fadvise by pattern */
    struct skew skew;
    struct content content;
    double rate_iops; /* that is offered; 0: as fast as it goes */
    bool random_rate;
    bool shared_region;       /* threads share the whole file */
    bool between_replays;     /* the caller drops the cache, and wants throughput only: no latencies */
    const char *from_surface; /* name of the simulated surface the point was measured on, or NULL */
};

/* False for pvec: fio hands one buffer to a call. */
bool fio_job_has_equal(const struct point *point);

/* Bytes that the job moves: io_bytes rounded down to whole requests in every thread. */
uint64_t fio_job_bytes(const struct fio_job *job);

/* How many more fio may move: requests of two sizes do not end on the byte. 0 with one size. */
uint64_t fio_job_excess_bytes(const struct fio_job *job);

/* The i-th thing that fio does differently at this point, one line without newline; NULL after the last. */
const char *fio_job_difference(const struct pattern *pattern, const struct point *point, size_t i);

/* The text; the caller frees it. 0 or -ENOMEM. */
int fio_job_text(const struct fio_job *job, char **ret_text);
