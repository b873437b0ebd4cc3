/* bench/run/measure: one run of one point (interfaces, section 5): prepare, warm up, measure, settle.
 *
 * Works the same on a real file and on a simulated surface; only the I/O API, the clock and the target
 * differ. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/base/histogram.h"
#include "bench/base/pattern.h"
#include "bench/host/hostinfo.h"
#include "bench/io/arena.h"
#include "bench/io/ioapi_simulator.h"
#include "bench/io/pump.h"
#include "bench/observe/companion.h"
#include "bench/run/beside.h"
#include "bench/run/members.h"
#include "bench/run/run_monitor.h"
#include "bench/target/target.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MEASURE_MIN_REQUESTS    64
#define MEASURE_MIN_DURATION_NS 50000000ULL
#define MEASURE_SETTLE_NS       2000000000ULL

enum measure_cache { MEASURE_CACHE_COLD, MEASURE_CACHE_WARM };

enum measure_warmup { MEASURE_WARMUP_STABLE, MEASURE_WARMUP_LIMIT, MEASURE_WARMUP_NONE, MEASURE_WARMUP_N };

extern const char
    *const measure_warmup_names[MEASURE_WARMUP_N]; /* "stable", "limit", "none": also too short to judge */

/* What stays the same over all runs of a command. */
struct measure_env {
    const struct clock *clock;
    struct target *target;         /* NULL when simulated */
    struct hostinfo_device device; /* whose in-flight count is waited for */
    struct members *members;       /* loaded together; `target` is the first of them, and `device` its device.
                                      NULL: target is loaded alone. Real targets only */
    const struct simulator_world *world; /* NULL when real */
    /* Simulated: the table's throughput of a point, all threads; 0, or -ENODATA with a text naming a point
     * outside the table. */
    int (*truth_bps)(void *context, const struct pattern *pattern, const struct point *point, double *ret_bps,
                     struct err *err);
    void *truth_context;
    const atomic_int *interrupted; /* may be NULL */
    enum measure_cache cache;
    bool advise;              /* posix_fadvise access hints */
    bool cooperative_ring;    /* io_uring with IORING_SETUP_COOP_TASKRUN and what came later */
    uint64_t alignment_bytes; /* requests start at multiples of this, but of no larger size; 0: of their own
                                 size. A multiple of 512 */
    struct skew skew;         /* of random requests */
    struct content content;   /* of writes */
    bool shared_region;       /* threads share the whole file instead of disjoint parts */
    struct verify *verify;    /* opened for the target's blocks; NULL: nothing is checked */
    struct beside *beside;    /* loads that run while the workers do; NULL: none. Real targets only */
    struct companion *companion; /* the reference program, which runs while those do; NULL: none */
    /* For a run that other machines make, too: called when all is ready here, by one thread; returns when it
     * is everywhere, and the time of the clock at which all begin. The warm-up is then a time, and windows
     * close together. A negative errno ends the run before its first request. NULL: nobody else. */
    int (*meet)(void *context, uint64_t *ret_start_ns, struct err *err);
    void *meet_context;
    struct arena *arena; /* user buffers, kept over the runs; unused when simulated */
    bool
        rate_is_limited; /* bytes or requests per second: runs begin and end behind pauses, where there are */
    uint64_t
        dirty_room_bytes; /* what a run may leave unwritten in the page cache; 0: the kernel's limits hold */
    uint64_t settle_limit_ns; /* wait for writeback after a run at most so long */
};

struct measure_plan {
    struct pattern pattern;
    struct point point;
    uint64_t duration_ns;     /* of the timed part, >= MEASURE_MIN_DURATION_NS */
    uint64_t warmup_limit_ns; /* 0: no warm-up phase */
    uint64_t
        warmup_least_ns; /* no warm-up is over earlier, however stable it looks; at most warmup_limit_ns */
    /* A run whose rate of all threads is below this after 64 requests and 50 ms ends there; one below half of
     * it ends its warm-up in the same way. 0: every run lasts its time. */
    double hopeless_bps;
    double warmup_coef;
    uint32_t warmup_window;
    uint32_t batch_requests;
    uint64_t max_bytes; /* hard limit of what the run may move, warm-up included; 0: none */
    double flush_bps; /* a flush that ends the run is expected to be no faster than this, whatever the rate of
                         filling was: it bounds the bytes that are written; 0: not known */
    /* The timed part ends with so many requests instead of after duration_ns, but not before 64 requests and
     * 50 ms; 0: by time. */
    uint64_t n_requests;
    bool whole; /* everything counts, from the first submission to the last completion: what is timed is work
                   that begins and ends */
    double rate_bps;  /* an open loop of this rate of all threads; 0: as fast as it goes. What is counted is
                         what began after a quarter of duration_ns, or warmup_limit_ns where that is less */
    bool random_rate; /* requests are due at random distances, with this rate on average */
    uint64_t longest_ns; /* one that ends by requests ends then all the same; 0: no limit */
    uint64_t seed;
};

struct measure_result {
    double throughput_bps; /* bytes of all threads / seconds, unless a limit is known (burst_bps) */
    double iops;           /* requests of all threads / seconds */
    double burst_bps; /* what throughput_bps was before a known limit of the device lowered it; 0: none did */
    uint64_t n_requests;
    uint64_t n_late; /* of an offered rate: requests that were due at the end and had not begun; latencies
                        hold the time by which they were late */
    uint64_t bytes_read, bytes_written;             /* of the timed part */
    uint64_t total_bytes_read, total_bytes_written; /* of the whole run */
    /* What the rate is about: the time for which a slot of the queues counted on average (struct
     * pump_window), and its share of the final fdatasync. Where writes go into the page cache and a flush
     * ends the run, or bytes ended it before each slot had counted: from the first submission of any thread
     * to the last completion of any, and the fdatasync. */
    double seconds;
    double flush_seconds;                 /* of it, the final fdatasync; 0 where there is none */
    double setup_seconds, settle_seconds; /* outside the span */
    enum measure_warmup warmup;
    double warmup_seconds;    /* from the first submission until a slot counts, on average */
    uint64_t warmup_bytes;    /* that slots completed until then */
    double achieved_depth;    /* per thread of a member, time-weighted over that time without its flush */
    double littles_law_error; /* |mean latency x IOPS / (achieved depth x threads) - 1| of the worst thread */
    bool sampled;
    bool ended_by_bytes; /* the cap on bytes, not the time, ended it */
    bool cut;            /* it was hopeless, and shorter than planned */
    /* Times of the clock: when the last worker began. Where windowed, when the last slot closed, and when the
     * first worker sent its last request; else when the last request, or the flush, had ended. */
    bool windowed;
    uint64_t begun_ns, closed_ns, stopped_ns;
    enum target_cold cold;
    bool settled;                /* writeback was over within 2 s */
    struct pump_windows windows; /* of all threads, while all of them counted */

    struct run_monitor monitor; /* of the whole run; all NaN when simulated */
};

/* Targets that a run loads; 1 when simulated. */
uint32_t measure_n_members(const struct measure_env *env);
struct target *measure_member(const struct measure_env *env, uint32_t member);

/* Bytes that one run of this pattern and point may move, warm-up included, by the rules of section 5; of all
 * members together: buffered writes with sync=end touch every block once; cold reads do not wrap; cold
 * buffered random reads stop at 25 % of the file. Random reads and writes of two sizes have every second
 * block each, and half of all this. Buffered writes stay within env->dirty_room_bytes. UINT64_MAX: no cap. */
uint64_t measure_cap_bytes(const struct measure_env *env, const struct pattern *pattern,
                           const struct point *point);

/* How far behind multiples of its size a request starts; of two sizes, of the larger one. */
uint64_t measure_shift_bytes(const struct measure_env *env, const struct point *point);

/* Part of the file, or of all files together, that one thread works on. Real targets only. */
uint64_t measure_region_bytes(const struct measure_env *env, const struct point *point);

/* Bytes of a request of this pattern and point on average: the shares of the pattern are shares of requests.
 */
double measure_request_bytes(const struct pattern *pattern, const struct point *point);

/* Bytes per second at which the flush that ends a run of buffered writes is expected to write at most: small
 * random requests are flushed more slowly than the file was filled. 0: not known. */
double measure_flush_bps(const struct measure_env *env, const struct measure_plan *plan, uint32_t member);

/* True when a run has no warm-up phase: buffered writes with sync=end. */
bool measure_writes_once(const struct pattern *pattern, const struct point *point);

/* True when the final flush took a noticeable part of the span: the windows then show what the page cache
 * took in, not what became durable. */
bool measure_was_absorbed(const struct measure_result *result);

/* With env->verify: reads back and compares what was written since the last time, past the page cache where
 * that can be dropped. 0; -EBADMSG for a block that is not what was written; or as verify_read_back. */
int measure_read_back(const struct measure_env *env, uint64_t *ret_bytes, struct err *err);

/* Measures. Latencies are added to `latency` (initialised by the caller). 0; the first failed request's
 * error; -EINTR when interrupted (the result is then not to be used); -EFBIG when the caps on bytes leave a
 * thread less than one request; with env->verify, -EBADMSG for a block that is not what was written, found
 * by a read of the run, or by the reading back after it. ret is filled only on 0, but the total_bytes_*
 * always. */
int measure_run(const struct measure_env *env, const struct measure_plan *plan, struct measure_result *ret,
                struct histogram *latency, struct err *err);

/* What measure_run does around a run, for a program that measures the same file between two runs: first the
 * file is clean and its pages are dropped, or read, as the environment wants; afterwards everything is
 * durable and the device quiet, or *ret_settled is false. Real targets only. */
int measure_prepare(const struct measure_env *env, const struct measure_plan *plan, struct err *err);
int measure_settle(const struct measure_env *env, bool *ret_settled, struct err *err);
