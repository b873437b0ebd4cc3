/* bench/observe/activity: what a program does: how long it takes, and how often it does what the atomic tests
 * time. Times come from runs that nobody disturbs; system calls are counted in a run of their own under
 * ptrace, which needs no privilege, slows the program down and is not timed. */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdint.h>

/* Of one run, with all that it started and waited for. */
struct activity {
    double seconds;
    double user_s, system_s;
    double page_faults; /* that needed no disk; and those that did: */
    double disk_faults;
    double context_switches;          /* both kinds */
    double read_bytes, written_bytes; /* from storage and to it */
    /* Of the run under ptrace: */
    double syscalls;
    double maps; /* mmap and munmap */
    double forks, execs, signals;
    double sleeps;  /* calls that wait for a time to come */
    double flushes; /* fsync, fdatasync, sync, msync */
    /* Pages that were used, each by a process: faults of both kinds, had the kernel brought one page each. */
    double used_pages;
    double transferred_bytes; /* by read and write calls of all kinds */
};

/* Runs the command to its end with its output thrown away, and fills the first part. 0; -ENOENT: there is no
 * such program; -ECANCELED: it failed; -EINTR. */
int activity_time(const char *const *argv, const atomic_int *interrupted, struct activity *ret,
                  struct err *err);

/* Runs it again and fills the second part. The same errors; -EPERM where ptrace is forbidden. */
int activity_count(const char *const *argv, const atomic_int *interrupted, struct activity *ret,
                   struct err *err);
