/* tuner/writes/calibrate: rounds of measurements, each of everything once, and what they say of the machine:
 * the parameters of models/cawl/cawl, with intervals. */
#pragma once

#include "bench/base/err.h"
#include "bench/run/calibrate.h"
#include "bench/target/dirty_limits.h"
#include "models/statistics/line_fit.h"
#include "tuner/session/session.h"
#include "tuner/writes/host_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CALIBRATE_LEAST_ROUNDS 5 /* fewer say too little of the scatter */
#define CALIBRATE_MOST_ROUNDS  10
#define CALIBRATE_CONFIDENCE   0.95
#define CALIBRATE_FAR          4.0
#define CALIBRATE_TEXT_SIZE    200

#define CALIBRATE_N_CALLS  6 /* sizes of buffered calls */
#define CALIBRATE_N_SMALL  5 /* of durable ones, for the fixed cost */
#define CALIBRATE_N_LARGE  4 /* and for the device's rate */
#define CALIBRATE_N_BUFFER 4 /* of writes into a stream's buffer */

#define CALIBRATE_SMALL_CALLS 64           /* of each size that count; one more does not */
#define CALIBRATE_PROOF_BYTES (5ULL << 20) /* of a proof of direct I/O as a rule; a round has two */

/* What is measured once a round: seconds per byte, or seconds. */
enum calibrate_series {
    CALIBRATE_MEMORY,
    CALIBRATE_CACHE,
    CALIBRATE_FIRST_TOUCH,
    CALIBRATE_REDUCED,
    CALIBRATE_REWRITE,
    CALIBRATE_READ,
    CALIBRATE_WRITEBACK,
    CALIBRATE_SEEK, /* a random write less a sequential one */
    CALIBRATE_N_SERIES
};

/* Of one round; NaN: not measured. */
struct calibrate_round {
    double series[CALIBRATE_N_SERIES];
    double calls_s[CALIBRATE_N_CALLS], small_s[CALIBRATE_N_SMALL], large_s[CALIBRATE_N_LARGE],
        buffer_s[CALIBRATE_N_BUFFER];
};

/* Sizes behind those costs. */
struct calibrate_sizes {
    double calls_bytes[CALIBRATE_N_CALLS], small_bytes[CALIBRATE_N_SMALL], large_bytes[CALIBRATE_N_LARGE],
        large_calls[CALIBRATE_N_LARGE], /* behind each mean */
        buffer_bytes[CALIBRATE_N_BUFFER];
};

/* One parameter; `known` false: `how` says why not. */
struct calibrate_value {
    bool known;
    double value;
    struct interval interval; /* NaN: fewer than 3 rounds, or not measured but read */
    size_t n;                 /* rounds behind it; 0: read from the system */
    bool fitted;
    struct line_fit fit; /* of all rounds together */
    char how[CALIBRATE_TEXT_SIZE];
};

/* Names of measured parameters, with commas between, whose interval reaches further than half of the value to
 * either side: rounds that differ so much were made on a busy machine. Those that may be 0, or are optional,
 * do not count. Returns how many; text is "" for none. */
size_t calibrate_find_wide(const struct calibrate_value values[HOST_N_PARAMETERS], char *text, size_t size);

/* Values of the measured parameters by enum host_index; others stay as they are. A round that is far from the
 * median of all (by CALIBRATE_FAR robust deviations) does not count for that parameter. Pure numbers. */
int calibrate_evaluate(const struct calibrate_round *rounds, size_t n, const struct calibrate_sizes *sizes,
                       struct calibrate_value values[HOST_N_PARAMETERS], struct err *err);

/* What a calibration has to stay within, and what it takes. */
struct calibrate_room {
    double limit_bg_bytes, dirty_bytes; /* memory that may be dirty, that is dirty already */
    double memory_bytes;                /* that may be used */
    double free_bytes;                  /* of the file system, the target's bytes taken off */
    double file_size_bytes;             /* ulimit -f; INFINITY */
    double write_bytes;                 /* left of --max-write */
    double durable_bytes;               /* of a round: calibrate_durable_bytes */
};

/* What a round writes durably, or flushes, at these sizes: all that reaches the device whatever goes into the
 * page cache. */
double calibrate_durable_bytes(const struct calibrate_sizes *sizes);

/* The most that the largest durable write may be, so that the planned rounds fit into write_bytes with what
 * goes into the page cache; of the sizes, the small ones are known. 0 or less: not even that. */
double calibrate_largest_bytes(const struct calibrate_room *room, const struct calibrate_sizes *sizes);

/* Of write_bytes, so that calibrate_cache_size finds it enough; ignores the other bounds. */
double calibrate_least_bytes(const struct calibrate_room *room);

/* Refuses what is too little whatever the rate of the device. file_bytes: of the file as planned;
 * wanted_file_bytes: as it would be if more may be written, at least that. 0 or -EINVAL with how much is
 * needed. */
int calibrate_check_writes(uint64_t max_write_bytes, uint64_t file_bytes, uint64_t wanted_file_bytes,
                           struct err *err);

/* How much to write into the page cache at a time: a multiple of 1 MiB. 0; -ENOSPC with what is too small. */
int calibrate_cache_size(const struct calibrate_room *room, uint64_t *ret_bytes, const char **ret_bound,
                         struct err *err);

/* Whether so much, at least limit_hard, can be written in every round. */
bool calibrate_can_flush(const struct calibrate_room *room, double bytes);

struct calibration {
    struct session *session;
    struct calibrate rig;
    struct dirty_limits limits; /* of --set-dirty-limits */
    struct dirty_thresholds thresholds;
    bool takes_back; /* the host takes free memory back */
    bool in_memory;  /* the file system is memory: nothing is written back */
    struct calibrate_sizes sizes;
    struct calibrate_round rounds[CALIBRATE_MOST_ROUNDS];
    size_t n_rounds;
    uint64_t
        flushed_bytes;   /* to write at a time to meet the kernel's own flusher; 0: the limits are too far */
    bool waited;         /* the first round came to where writers wait */
    uint64_t soak_bytes; /* of memory, used up to find what the host has taken */
    struct err err;
    struct calibrate_value values[HOST_N_PARAMETERS];
    bool complete, interrupted;
    struct host_file file; /* where complete */
};

/* Measures until the budget is used up or CALIBRATE_MOST_ROUNDS are made; an interruption is no error. The
 * session is prepared, the struct zeroed but for session and limits. 0 or a negative errno. */
int calibrate_run(struct calibration *calibration, struct err *err);

/* Accepts a zeroed one. */
void calibrate_done(struct calibration *calibration);

/* Jobs of a worker (tuner/base/worker.h) on a struct calibration that is prepared. 0 or a negative errno,
 * with words in its err. */

/* Measures everything once, as round n_rounds, which it then counts. */
int calibrate_round_measure(void *calibration);

/* The rate of first touch for some rounds, before all of them: afterwards the host takes back what was
 * touched, and the machine is busy with that, which is waited for. */
int calibrate_round_touch(void *calibration);

/* As a table, and as JSON (fstune/calibration/1). 0 or the errno of a failed write. */
int calibrate_report_text(FILE *out, const struct calibration *calibration, struct err *err);
int calibrate_report_json(FILE *out, const struct calibration *calibration, struct err *err);
