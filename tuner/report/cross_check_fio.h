/* tuner/report/cross_check_fio: one run of fio, and what its JSON says. */
#pragma once

#include "bench/base/err.h"
#include "tuner/emit/fio_job.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fio_figures {
    double throughput_bps; /* of all jobs, over the span */
    double span_ms;        /* from the start of the first job to the end of the last one */
    bool span_known;       /* false: this fio tells of no start; the longest run time stands for the span */
    uint64_t bytes_read, bytes_written;
};

/* "3.33". 0; -ENOENT with the package to install; other negative errno. */
int cross_check_fio_version(const atomic_int *interrupted, char *ret_version, size_t size, struct err *err);

/* Runs the job. 0; -EIO with the first line of what fio said; -EINTR; -ETIMEDOUT. */
int cross_check_fio_run(const struct fio_job *job, uint64_t timeout_ns, const atomic_int *interrupted,
                        struct fio_figures *ret, struct err *err);

/* Figures from the text that fio printed with --output-format=json. fio gives its run times in whole
 * milliseconds, rounded up: half a millisecond is taken off the span. 0; -EIO for a job that failed, or moved
 * fewer than `bytes` bytes or more than excess_bytes above them; -EPROTO for a text that is not fio's. */
int cross_check_fio_parse(const char *text, uint64_t bytes, uint64_t excess_bytes, struct fio_figures *ret,
                          struct err *err);
