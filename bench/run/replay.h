/* bench/run/replay: a list of writes, made one after the other as a program would make them, with pauses for
 * its computing, and what each of them cost.
 *
 *
 * Files are nameless and begin empty (bench/target/target_scratch), and every write behind the end makes its
 * file longer. Computing is played by sleeping: the processor is free then, which a program that computes
 * would not leave it. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum replay_mode {
    REPLAY_DIRECT, /* pwrite, O_DIRECT | O_DSYNC */
    REPLAY_SYNC,   /* pwrite, O_DSYNC, through the page cache */
    REPLAY_NOSYNC, /* pwrite into the page cache */
    REPLAY_STDIO,  /* fwrite, the C library's buffer as it comes */
    REPLAY_N_MODES
};

/* Larger writes are made with several calls. */
#define REPLAY_CALL_MAX_BYTES (128ULL << 20)

/* One after the other; sizes > 0. */
struct replay_write {
    uint32_t file; /* 0..n_files - 1 */
    uint64_t offset_bytes, size_bytes;
    uint64_t delay_ns; /* of computing before it */
};

struct replay_plan {
    const char *directory;
    enum replay_mode mode;
    const struct replay_write *writes;
    size_t n;
    uint32_t n_files;
    bool first_touch; /* memory as it comes; else as much as the writes need is touched before and given to
                         the page cache write by write, so that no page has to come back from a hypervisor
                         that free pages were handed to */
    bool close;       /* stdio: the buffers are written out at the end, timed apart */
    uint64_t max_write_bytes; /* replay_extra_bytes included */
    uint64_t calm_bytes;      /* dirty memory of the whole machine below which the writes begin */
    uint64_t calm_limit_ns;   /* waited for at most; 0, and calm_bytes UINT64_MAX: nothing is waited for, and
                                 what is dirty is not written out before either */
    uint64_t seed;
    const struct clock *clock;
    const atomic_int *interrupted; /* may be NULL; non-zero ends it with -EINTR */
};

/* Dirty memory and memory being written back, of the whole machine (nr_dirty + nr_writeback). */
struct replay_sample {
    uint64_t at_ns; /* since the first write's delay began */
    uint64_t dirty_bytes;
};

struct replay_result {
    size_t n;                      /* writes that were made, also of a replay that failed */
    uint64_t *costs_ns;            /* of each; the reading of the clock taken off */
    uint64_t *ends_ns;             /* since the first write's delay began */
    struct replay_sample *samples; /* after writes and during delays, at most so often that reading takes 5 %
                                      of the time; the first is from before */
    size_t n_samples;
    uint64_t close_ns;
    uint64_t written_bytes; /* of the writes, and of the proof of direct I/O */
    uint32_t n_short;   /* calls that wrote less than asked for, or were interrupted, and were continued */
    bool calm;          /* dirty memory was below calm_bytes at the beginning */
    bool dirty_unknown; /* /proc/vmstat does not tell; no samples */
};

/* What replay_run may write beside the writes: the proof of direct I/O. */
uint64_t replay_extra_bytes(enum replay_mode mode);

/* All that can be refused without writing: sizes, files, the budget, free space. 0; -EINVAL (what is wrong
 * with which write), -EFBIG (the budget), or as target_estimate. */
int replay_check(const struct replay_plan *plan, struct err *err);

/* Makes the writes. 0; as replay_check; -EOPNOTSUPP: no direct I/O here; -EINVAL: a write that direct I/O
 * cannot make; -EINTR; the errno of a failed write, which err names. *ret holds what was made until then;
 * replay_done frees it in any case. */
int replay_run(const struct replay_plan *plan, struct replay_result *ret, struct err *err);

/* Accepts a zeroed one. */
void replay_done(struct replay_result *result);
