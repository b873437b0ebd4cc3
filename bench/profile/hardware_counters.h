/* bench/profile/hardware_counters: events of the processor and of the kernel, counted for a program with all
 * its threads and children (perf_event_open). Each counter is inherited by what the program starts, and what
 * ended is kept in it.
 *
 * PAPI itself cannot do this everywhere: before it attaches, inherits or looks into the kernel it tries an
 * event of the processor, and refuses where the machine has none, even for events of the kernel alone. It
 * also starts to count before the exec. So PAPI says what a name means (papi_names.h), and the kernel counts.
 */
#pragma once

#include "bench/base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HARDWARE_EVENTS_MOST 8
#define HARDWARE_TERMS_MOST  12
#define HARDWARE_NAME_SIZE   128

/* What a name means: a sum of the kernel's events, from which some are taken off. */
struct hardware_term {
    struct perf_event_attr event; /* what is counted, and where: its exclude_kernel and exclude_user */
    bool is_taken_off;
};
struct hardware_formula {
    size_t n;
    struct hardware_term terms[HARDWARE_TERMS_MOST];
};

struct hardware_count {
    char name[HARDWARE_NAME_SIZE];
    bool has_kernel;      /* what happens inside the kernel is counted, too */
    bool is_known;        /* false: it never had a counter */
    double n;             /* where running_share is below 1, the estimate for the whole time */
    double running_share; /* of the time, in which it had a counter; several events share too few */
};

struct hardware_counters;

/* pid 0: for programs that this thread starts from now on, from their exec on. Else for the threads that the
 * process and its children have now, and what these start, from hardware_counters_start on; a thread that a
 * thread starts while it is not yet counted is missed. 0, -ESRCH or -ENOMEM. */
int hardware_counters_open(struct hardware_counters **ret_counters, pid_t pid, struct err *err);

/* One event more, at most HARDWARE_EVENTS_MOST. Inside the kernel too, where this user may. 0; -ENOENT where
 * this machine does not count it, -EACCES where the user may not, or a negative errno. */
int hardware_counters_add(struct hardware_counters *counters, const char *name,
                          const struct hardware_formula *formula, struct err *err);

/* To be called when the program is about to start, or the recording of one that runs. NULL in any of these:
 * nothing is counted. */
void hardware_counters_start(struct hardware_counters *counters);
/* Keeps what has been counted until now; later calls do nothing. */
void hardware_counters_take(struct hardware_counters *counters);
/* The i-th of what was kept; NULL: there are no more. */
const struct hardware_count *hardware_counters_get(const struct hardware_counters *counters, size_t i);
/* From the start until that was kept. */
double hardware_counters_seconds(const struct hardware_counters *counters);
void hardware_counters_close(struct hardware_counters *counters);
