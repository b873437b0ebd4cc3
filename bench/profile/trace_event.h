/* bench/profile/trace_event: what the part that runs in the kernel tells. Read by both, so that it has only
 * plain numbers. */
#pragma once

#include <linux/types.h>

/* What a system call does, by its number: of transfers a sum of bits, else one of the values behind them. */
enum {
    TRACE_CALL_MOVES = 1, /* bytes between a file and memory; where the descriptor stands, unless PLACED */
    TRACE_CALL_WRITES = 2,
    TRACE_CALL_PLACED = 4,   /* the fourth argument is the offset */
    TRACE_CALL_FLAGGED = 8,  /* the sixth has flags, and an offset of -1 is no offset */
    TRACE_CALL_COPIES = 16,  /* copy_file_range */
    TRACE_CALL_SENDS = 17,   /* sendfile */
    TRACE_CALL_FLUSHES = 18, /* fsync, fdatasync */
    TRACE_CALL_FLUSHES_ALL = 19,
    TRACE_CALL_FLUSHES_RANGE = 20,
    TRACE_CALL_OPENS = 21,    /* the first argument is the name */
    TRACE_CALL_OPENS_AT = 22, /* the second is */
    TRACE_CALL_CLOSES = 23,
    TRACE_CALL_SUBMITS = 24, /* io_submit */
    TRACE_CALL_REAPS = 25,   /* io_getevents */
    TRACE_CALL_MAPS = 26,
    TRACE_CALL_ENTERS_RING = 27 /* io_uring_enter */
};
#define TRACE_CALLS 512 /* numbers that are looked at */

/* What is done with a process: a byte of the map `watched` for each number that a process can have. */
#define TRACE_PROCESSES (1 << 22)
enum { TRACE_FOLLOW = 1 /* its children are recorded */, TRACE_RECORD = 2 };

/* What else is recorded: entry 0 of the map `scope`. */
struct trace_scope {
    __u64 device;       /* not 0: files of this file system alone, which has this number in the kernel */
    __u32 of_everybody; /* not 0: processes that are not in `watched`, too */
    __u32 but;          /* except this one */
};

enum {
    TRACE_BEGIN, /* struct trace_mark */
    TRACE_END,
    TRACE_REAP,    /* asynchronous ones have come back; else as TRACE_END */
    TRACE_PROCESS, /* one more is recorded */
    TRACE_REQUEST, /* struct trace_event */
    TRACE_FLUSH,
    TRACE_CLOSE,
    TRACE_OPEN /* struct trace_name */
};

/* Flags of a request. */
enum {
    TRACE_WRITES = 1,
    TRACE_DIRECT = 2,
    TRACE_DURABLE = 4,
    TRACE_ASYNC = 8,
    TRACE_RINGED = 16,
    TRACE_LIBRARY = 32, /* the loader's look at a program */
    TRACE_ENDS = 64     /* it is in flight no more: no TRACE_END comes */
};

/* What is in flight changes by n. */
struct trace_mark {
    __u32 kind, n;
    __u64 time_ns;
    __u32 process, reserved;
};

struct trace_event {
    __u32 kind, flags;
    __u64 start_ns, end_ns;
    __u64 file, inode; /* a number for the file, 0: all; and the file system's own */
    __u64 opened;      /* a number for the open file, as long as it is open */
    __u64 offset_bytes, n_bytes;
    __u32 thread, process;
    __s32 fd; /* -1: unknown */
    __u32 unused;
};

#define TRACE_NAME_SIZE 160
struct trace_name {
    struct trace_event event;
    char name[TRACE_NAME_SIZE]; /* as the program gave it */
};

/* What is counted and not told one by one. */
struct trace_counts {
    __u64 other_calls, other_bytes, failed, empty_reads, maps, mapped_bytes, range_flushes;
    __u64 lost;    /* events without room */
    __u64 foreign; /* calls of another kind of program, as those of 32 bits */
};
