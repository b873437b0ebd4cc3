/* bench/run/members: several targets that are loaded together, each by threads of its own with the same
 * setting, in one common window. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/histogram.h"
#include "bench/host/hostinfo.h"
#include "bench/target/target.h"

#include <stdint.h>

#define MEMBERS_MOST 8

/* What one member did in a run. */
struct member_figures {
    double throughput_bps, iops;
    double seconds; /* that the rate is about */
    uint64_t n_requests, bytes_read, bytes_written;
    struct histogram latency;
};

struct members {
    uint32_t n; /* 2 .. MEMBERS_MOST */
    /* Borrowed; of equal size_bytes, n_files and kind. */
    struct target *target[MEMBERS_MOST];
    struct hostinfo_device device[MEMBERS_MOST];
    struct member_figures figures[MEMBERS_MOST]; /* of the last run that succeeded */
};

/* fdatasync of all members at once, each by a thread of its own, since one after the other would let them
 * wait for each other. ret_end_ns: when each of them returned. 0 or the first failure, which names its
 * member. */
int members_flush(const struct members *members, const struct clock *clock, uint64_t ret_end_ns[MEMBERS_MOST],
                  struct err *err);
