/* bench/watch: what happens around a run that can make its number a fake.
 *
 * Facts only: counters are read before and after the timed part and their differences reported; what they
 * mean is decided in tuner/. What the machine does not tell is NaN (or -1), never a guess. */
#ifndef FSTUNE_BENCH_WATCH_H
#define FSTUNE_BENCH_WATCH_H

#include "bench/hostinfo.h"

#include <stdint.h>

/* Readings at one moment. */
struct watch_reading {
    uint64_t monotonic_ns, realtime_ns;
    double steal_ticks, all_ticks;                  /* /proc/stat, all processors */
    double psi_io_some_us;                          /* /proc/pressure/io total */
    double own_read_bytes, own_write_bytes;         /* /proc/self/io read_bytes, write_bytes */
    double device_read_bytes, device_written_bytes; /* of the whole disk: /sys/.../stat */
    double throttled; /* cgroup: periods or bytes throttled so far, where counted */
};

/* Differences over the timed part of a run. Shares are of its duration. */
struct watch {
    double busiest_thread_cpu_share;  /* user + system time of the lane that used most, over its span */
    double busiest_thread_user_share; /* of that, user time alone */
    double steal_share;               /* of all processors' ticks */
    double psi_io_some_share;         /* time that some task waited for I/O: fstune's own waits included */
    double own_read_bytes, own_write_bytes; /* that reached the block layer on behalf of this process */
    double device_read_bytes, device_written_bytes;
    double clock_step_s; /* wall clock against monotonic clock */
    double throttled;
};

void watch_read(struct watch_reading *reading, const struct hostinfo_device *device);
void watch_difference(const struct watch_reading *before, const struct watch_reading *after,
                      struct watch *ret_watch);

#endif
