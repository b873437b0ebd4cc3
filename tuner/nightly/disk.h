/* tuner/nightly/disk: an image as a disk that others read and write, and that tunes itself meanwhile.
 *
 * Reads and writes return 0 or the negative errno that the image gave. A flush succeeds when all writes that
 * returned before it began are durable; a durable write when it is, and so is all that returned before. After
 * a loss none succeeds any more, because what was lost is gone: the kernel tells it once, or no flush at all.
 * The first error of the image, and a read or write that takes too long, end all trials. Any number of
 * threads may call at once. */
#pragma once

#include "bench/base/err.h"
#include "models/online/online.h"
#include "tuner/nightly/disk_gate.h"
#include "tuner/nightly/disk_ways.h"

#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

struct disk_options {
    const char *path;
    bool writable;
    uint64_t device_bytes; /* the size that a writable block device must have; 0: not given */
    double regret_share;
    double thinking_share; /* of one processor that choosing may take, on average; 0: all of it */
    bool dry_run;
    double cache_bytes; /* that the page cache may have for the image; NaN: what is available when it is
                           opened */
    uint64_t stall_ns; /* a read or write that takes longer ends all trials, as an error does; 0: none does */
    const char *history; /* a file; NULL: nothing is kept */
    /* What an operator wants to know, one line; is_wrong: something failed. */
    void (*say)(bool is_wrong, const char *format, va_list arguments);
};

struct disk {
    struct disk_options options;
    struct image image;
    struct image_lanes lanes;
    struct image_flush flush;
    struct disk_ways ways;
    struct disk_gate gate; /* its lock guards all that follows */
    struct online online;
    pthread_t thinker, writer;
    sem_t gathered; /* wakes the writer */
    pthread_cond_t slice_ended;
    uint64_t thinking_ns, rest_until_ns; /* processor time of the thinker; it does nothing before */
    bool is_over;
    atomic_bool is_trying;               /* online's slice is a trial, which may end early */
    atomic_uint_fast64_t gathered_bytes; /* written through the cache, since the beginning */
    uint64_t n_errors, n_stalls;
    char why_not_direct[160]; /* "": direct requests are possible */
};

int disk_open(struct disk *disk, const struct disk_options *options, struct err *err);
/* Keeps what was learnt. Nobody calls any more. */
void disk_close(struct disk *disk);

int disk_read(struct disk *disk, struct disk_gate_client *client, void *buffer, size_t n_bytes,
              uint64_t offset_bytes);
int disk_write(struct disk *disk, struct disk_gate_client *client, const void *buffer, size_t n_bytes,
               uint64_t offset_bytes, bool durable);
/* -EOPNOTSUPP: the file system cannot do it without writing. */
int disk_zero(struct disk *disk, uint64_t offset_bytes, uint64_t n_bytes, bool punch, bool durable);
int disk_flush(struct disk *disk);

/* "tuning", "frozen", "pinned" or "dry run". With the lock held. */
const char *disk_state(const struct disk *disk);

void disk_say(const struct disk *disk, bool is_wrong, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
