/* bench/run/workers: the threads of one run. Each worker has its own descriptor, queue, offsets and
 * statistics; all start together, share the run's window, and end together. Where several targets are loaded,
 * each has as many workers, and these are their members in turn. A simulated run has one worker that plays
 * all threads. */
#pragma once

#include "bench/run/measure.h"

#include <pthread.h>
#include <stdatomic.h>

struct workers;

struct worker {
    struct workers *all;
    uint32_t member; /* whose file it works on */
    uint32_t index;  /* among the member's workers */
    int *fds;        /* one for each file */
    uint32_t n_open; /* of them open */
    void *io;        /* state of the I/O API */
    struct pump pump;
    struct warmup judge;
    bool stable;
    uint64_t told_bytes[2];  /* of this worker, in done_bytes */
    struct pump_stats stats; /* with histograms of its own */
    int result;
    struct err err;
    struct run_monitor_cpu cpu_before, cpu_after; /* of the worker's thread around its I/O */
};

struct workers {
    const struct measure_env *env;
    const struct measure_plan *plan;
    const struct ioapi_ops *ops;
    struct simulator_run simulator; /* simulated runs */
    uint32_t n;                     /* workers, >= 1 */
    uint32_t n_files;               /* 1 in simulated runs */
    uint32_t n_calls;               /* in flight per worker */
    uint32_t requests_per_call, rounds_per_call;
    uint64_t cap_bytes; /* of all workers, warm-up included; UINT64_MAX: none */
    struct worker *worker;
    pthread_mutex_t gate; /* held while threads are being created */
    bool abandoned;       /* a thread could not be created; guarded by the gate */
    pthread_barrier_t barrier;
    struct pump_window window;
    atomic_uint n_stable;
    atomic_int failed;           /* a worker failed: the others stop */
    atomic_ullong done_bytes[2]; /* of all workers before the window, in it; only where a run may be cut */
    atomic_int hopeless;         /* the run was found too slow to go on with */
    atomic_ullong start_ns; /* just before the first submission of any worker; with a meeting, its time */
    int met;                /* what env->meet returned; 0 without one */
    struct err meet_err;
    struct run_monitor_reading before; /* the first submission; real runs */
};

/* Opens n descriptors and queues. workers_close accepts a zeroed or half-opened structure. */
int workers_open(struct workers *workers, const struct measure_env *env, const struct measure_plan *plan,
                 double truth_bps, struct err *err);

/* Warm-up, then the timed phase. 0 or the first failure of any worker. */
int workers_run(struct workers *workers, struct err *err);

void workers_close(struct workers *workers);

/* For the thread that has submitted to it; closed again is nothing. */
void worker_close_queue(struct worker *worker);
