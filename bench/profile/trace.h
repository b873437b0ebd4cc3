/* bench/profile/trace: what processes ask of files, as the kernel sees it, by a small program (BPF) that is
 * loaded into it and leaves with us, however we end. Needs no change of what is watched, nor of how it is
 * started. */
#pragma once

#include "bench/base/err.h"
#include "bench/profile/trace_event.h"

#include <stdbool.h>
#include <sys/types.h>

struct trace;

/* One of the records of trace_event.h, whose kind stands first. */
typedef void trace_taker(void *data, const void *record);

/* Loads it. 0; -EPERM without the right to, -ENOSYS where this system cannot, with the reason. */
int trace_open(struct trace **ret_trace, trace_taker *take, void *data, struct err *err);

/* The children of this process are recorded from now on, and theirs. */
void trace_follow_children(struct trace *trace);
/* This process is recorded from now on, with the children that it has or will have. */
void trace_attach(struct trace *trace, pid_t pid);

/* The same for a process that may end meanwhile, any number of times, without its children. */
void trace_attach_one(struct trace *trace, pid_t pid);
/* All processes are recorded from now on but this one, and of their files those of the file system with this
 * device number. */
int trace_attach_files(struct trace *trace, unsigned major_number, unsigned minor_number, struct err *err);

/* Requests of io_uring are seen: older kernels tell them otherwise. */
bool trace_sees_rings(const struct trace *trace);

/* Hands on what has come since. */
void trace_poll(struct trace *trace);
void trace_count(const struct trace *trace, struct trace_counts *ret_counts);
void trace_close(struct trace *trace);
