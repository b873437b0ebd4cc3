/* bench/run/run_monitor: what happens around a run that can make its number a fake.
 *
 * Facts only: counters are read before and after the timed part and their differences reported; what they
 * mean is decided in tuner/. What the machine does not tell is NaN, never a guess. */
#pragma once

#include "bench/host/hostinfo.h"

#include <stdint.h>

#define RUN_MONITOR_THREADS_MAX 256

/* Time of the calling thread so far: getrusage(RUSAGE_THREAD), and /proc/thread-self/schedstat. */
struct run_monitor_cpu {
    double user_s, system_s;
    double wait_s; /* ready to run, but no processor was free */
};

/* Readings at one moment. NaN: the machine does not tell. */
struct run_monitor_reading {
    uint64_t monotonic_ns, realtime_ns, suspended_ns;
    double steal_ticks, all_ticks, idle_ticks;      /* /proc/stat, all processors; idle with iowait */
    double psi_io_some_us;                          /* /proc/pressure/io total */
    double own_read_bytes, own_write_bytes;         /* /proc/self/io read_bytes, write_bytes */
    double device_read_bytes, device_written_bytes; /* of the whole disk: /sys/.../stat, sectors of 512 */
    double throttled; /* periods in which a CPU quota of our cgroups (cpu.stat nr_throttled) held us back */
    double process_cpu_s; /* getrusage(RUSAGE_SELF): all threads, io_uring's kernel workers too */
    /* Run time of our threads, /proc/self/task/TID/schedstat; the first RUN_MONITOR_THREADS_MAX. */
    uint32_t n_threads;
    struct run_monitor_thread {
        int32_t tid;
        uint64_t run_ns;
    } threads[RUN_MONITOR_THREADS_MAX];
};

/* Differences over the timed part of a run, its final flush included. Shares are of its duration.
 *
 * The ticks of /proc/stat are 10 ms: over a run of 50 ms steal_share and machine_busy_share are only good to
 * 10 % (2 processors), and a long run should be preferred for rules. */
struct run_monitor {
    double busiest_thread_cpu_share;  /* user + system time of the worker that used most, until it ended */
    double busiest_thread_user_share; /* of that, user time alone */
    double steal_share;               /* of all processors' ticks */
    double psi_io_some_share;         /* time that some task waited for I/O: fstune's own waits included */
    /* That reached the block layer for this process, all its threads and io-wq, in the file system's units.
     * Reads: cached ones are not in it; read-ahead and metadata are. Buffered writes count when they dirty a
     * page. 0 on tmpfs, and on network and FUSE mounts that do not count. */
    double own_read_bytes, own_write_bytes;
    double device_read_bytes, device_written_bytes;
    double clock_step_s; /* wall clock against monotonic clock */
    double throttled;    /* periods, see above */
    /* The busiest thread beside the workers: one of the pool's or of io_uring's (io-wq), over the same span.
     * With the pool a worker hands out requests and the pool's threads do them, so both are looked at. */
    double busiest_helper_cpu_share;
    /* Of the worker that waited most: ready to run, but others had the processors. */
    double thread_wait_share;
    double process_cpu_share;  /* processors kept busy by the whole process: 0 .. number of processors */
    double machine_busy_share; /* of all processors' ticks, neither idle nor waiting for I/O; 0..1 */
    double suspended_s;        /* the machine slept */
    double span_s;             /* between the two readings */
};

/* Reads everything but the CPU time of single workers. Some 0.1 ms, and 10 us per thread: never between two
 * time stamps of a timed part. */
void run_monitor_read(struct run_monitor_reading *reading, const struct hostinfo_device *device);

/* The calling thread is no helper: it is a worker itself, or waits for the workers. busiest_thread_* stay NaN
 * until run_monitor_add_worker. */
void run_monitor_difference(const struct run_monitor_reading *before, const struct run_monitor_reading *after,
                            struct run_monitor *ret_monitor);

/* All NaN: a simulated run, or one that never started. */
void run_monitor_clear(struct run_monitor *monitor);

struct run_monitor_cpu run_monitor_cpu_now(void);

/* Enters a worker that used this much in span_s; the busiest stays. */
void run_monitor_add_worker(struct run_monitor *monitor, struct run_monitor_cpu before,
                            struct run_monitor_cpu after, double span_s);

/* What the machine did without us for a moment. Rates and shares over duration_s; NaN where unknown. */
struct run_monitor_idle {
    double duration_s;
    double device_read_bps, device_written_bps; /* whole disk, everybody's */
    double device_busy_share; /* time with a request in flight (stat, io_ticks): in ticks, short requests are
                                 missed */
    double in_flight_mean;    /* of samples 5 ms apart */
    double own_bytes;         /* of this process meanwhile; 0 when it is really idle (/proc/self/io) */
    double psi_io_some_share; /* over this moment: nothing of fstune's own past in it */
    double psi_io_some_avg10_share; /* the kernel's mean of 10 s, which may hold our own filling */
    double steal_share;
    double machine_busy_share; /* of all processors, 0..1 */
    double load1_per_cpu;      /* of the last minute: may hold our own load */
    uint32_t n_cpus;           /* that this process may use (sched_getaffinity) */
};

/* Watches for duration_ns of real time without doing anything; the caller sees to it that nothing of its own
 * is under way. */
void run_monitor_idle(const struct hostinfo_device *device, uint64_t duration_ns,
                      struct run_monitor_idle *ret_idle);
